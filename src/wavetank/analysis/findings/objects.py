"""Claims about object storage over REST: C16 IV-A and IV-C.

What C16 found of its clients' processors, disks and memory (IV-B) is in `clients`.
"""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.findings.cells import (
    KIB,
    MIB,
    check,
    number,
    pick,
    rate,
    series,
    size_of,
    told,
)
from wavetank.analysis.findings.shapes import knee, rate_words
from wavetank.analysis.findings.verdict import Check, Claim
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import duration_text, factor_text, percent_text, size_text

SIZE, PARALLEL, PARTS = "object_size_bytes", "parallel", "parts"
MOVES = ("put", "get")
LEAST_POINTS = 3
SMALL_BYTES = 16 * KIB
LARGE_BYTES = MIB
# Here: what a claim that gives no number of its own asks for.
LEAST_GAIN = 10.0
SPOILT = 0.95
# Fewer requests than this for each connection, and how the last ones fall makes the rate.
LEAST_ROUNDS = 4
FLAT_WITHIN = 1.25
LINEAR_WITHIN = 1.5
LITTLE_MORE = 1.2
EQUAL_WITHIN = 1.25
KEPT_SHARE = 0.9
FEW_PARTS, MANY_PARTS = 4, 32
WORST_BEHIND = 2.0

FREE_CPU = (
    "Not storage but the clock: C16 put it down to a client whose processor was at 100 %, and "
    "under the virtual clock the client's processor is free."
)
ONE_CONNECTION = (
    "One connection carries what the path does here, as TCP's buffers grow to 16 MiB; in C16 one "
    "got 20 to 24 MB/s of 59, and only several filled the path."
)


def small_requests_gain(rows: Sequence[CellRow]) -> list[Check]:
    checks = []
    for points in _by_parallelism(rows, SIZE, (KIB,)):
        best = max(points, key=rate)
        gain = rate(best) / rate(points[0])
        text = f"{told(points[0], size_of(points[0], SIZE))}: {factor_text(gain)}, "
        text += f"{rate_words(points[0])} alone to {rate_words(best)} "
        text += f"over {number(best, PARALLEL):g} connections"
        checks.append(check(text, gain >= LEAST_GAIN, points))
    return checks


def large_puts_suffer(rows: Sequence[CellRow]) -> list[Check]:
    """The largest size that was put by several connections, for long enough to tell."""
    puts = [
        row
        for row in pick(rows, workload="object", operation="put")
        if (row.operations or 0) >= LEAST_ROUNDS * number(row, PARALLEL)
    ]
    checks = []
    for points in _largest(_several(series(puts, PARALLEL))):
        best, last = max(points, key=rate), points[-1]
        share = rate(last) / rate(best)
        text = f"{told(last, size_of(last, SIZE))}: {number(last, PARALLEL):g} connections reach "
        text += f"{percent_text(share)} of the best ({rate_words(last)} of {rate_words(best)})"
        checks.append(check(text, share < SPOILT, points))
    return checks


def latency_is_flat_then_linear(rows: Sequence[CellRow]) -> list[Check]:
    checks = []
    for points in _by_parallelism(rows, SIZE, (4 * KIB,)):
        flat = [point for point in points if number(point, PARALLEL) <= 16]
        if len(flat) < LEAST_POINTS:
            continue
        ratio = _latency(flat[-1]) / _latency(flat[0])
        text = f"{_latencies(flat)}, {factor_text(ratio)}"
        checks.append(check(text, ratio < FLAT_WITHIN, flat))
    for points in _largest(_several(series(pick(rows, workload="object"), PARALLEL))):
        if number(points[0], SIZE) < LARGE_BYTES:
            continue
        one, other = points[-2:]
        times = number(other, PARALLEL) / number(one, PARALLEL)
        ratio = _latency(other) / _latency(one)
        holds = times / LINEAR_WITHIN <= ratio <= times * LINEAR_WITHIN
        text = f"{_latencies([one, other])}, {factor_text(ratio)} for {factor_text(times)}"
        checks.append(check(text, holds, [one, other]))
    return checks


def size_has_its_knee(rows: Sequence[CellRow]) -> list[Check]:
    checks = []
    alone = pick(rows, workload="object", parallel=1, operation=MOVES)
    for points in series(alone, SIZE):
        if len(points) < LEAST_POINTS or number(points[-1], SIZE) < 64 * MIB:
            continue
        at = knee(points, SIZE)
        text = f"{told(points[0])}: nine tenths of the best are reached at {size_text(at)}"
        checks.append(check(text, MIB <= at <= 16 * MIB, points))
        last = [one for one in points if number(one, SIZE) in (16 * MIB, 64 * MIB)]
        if len(last) == 2:
            more = rate(last[1]) / rate(last[0])
            text = f"{told(points[0])}: 64 MiB reach {factor_text(more)} 16 MiB "
            text += f"({rate_words(last[1])} against {rate_words(last[0])})"
            checks.append(check(text, more < LITTLE_MORE, last))
    return checks


def parts_have_a_best(rows: Sequence[CellRow]) -> list[Check]:
    checks = []
    for points in series(pick(rows, workload="chunking", operation="put"), PARTS):
        if len(points) < LEAST_POINTS:
            continue
        best, worst = max(points, key=rate), min(points, key=rate)
        ratio, parts = rate(best) / rate(worst), number(best, PARTS)
        text = f"{told(best, size_of(best, SIZE))}: best in {parts:g} parts ({rate_words(best)}), "
        text += f"{factor_text(ratio)} the worst, {number(worst, PARTS):g} ({rate_words(worst)})"
        holds = FEW_PARTS <= parts <= MANY_PARTS and ratio >= WORST_BEHIND
        checks.append(check(text, holds, points))
    return checks


def equal_products_are_equal(rows: Sequence[CellRow]) -> list[Check]:
    """Cells of one operation whose size times parallelism is 16 KiB."""
    checks = []
    for operation in MOVES:
        found = [
            row
            for row in pick(rows, workload="object", operation=operation)
            if number(row, SIZE) * number(row, PARALLEL) == SMALL_BYTES
        ]
        for network in dict.fromkeys(row.network for row in found):
            points = [row for row in found if row.network == network]
            if len({number(row, SIZE) for row in points}) < LEAST_POINTS:
                continue
            ratio = max(map(rate, points)) / min(map(rate, points))
            parts = ", ".join(
                f"{size_of(row, SIZE)} by {number(row, PARALLEL):g} {rate_words(row)}"
                for row in points
            )
            text = f"{told(points[0])}: {parts}; largest over smallest {factor_text(ratio)}"
            checks.append(check(text, ratio < EQUAL_WITHIN, points))
    return checks


def distance_takes_from_small_requests(rows: Sequence[CellRow]) -> list[Check]:
    """Peaks over parallelism from the farthest network against those from the nearest."""
    found = pick(rows, workload="object", operation=MOVES)
    distances = sorted({row.network_declared.rtt_ns for row in found})
    if len(distances) < 2:
        return []
    checks = []
    for operation in MOVES:
        for size_bytes in sorted({number(row, SIZE) for row in found}):
            near, far = (
                [
                    row
                    for row in found
                    if row.network_declared.rtt_ns == rtt_ns
                    and row.operation == operation
                    and number(row, SIZE) == size_bytes
                ]
                for rtt_ns in (distances[0], distances[-1])
            )
            if near and far and not SMALL_BYTES < size_bytes < LARGE_BYTES:
                checks.append(_kept(near, far, size_bytes >= LARGE_BYTES))
    return checks


def _kept(near: Sequence[CellRow], far: Sequence[CellRow], is_large: bool) -> Check:
    here, there = max(near, key=rate), max(far, key=rate)
    share = rate(there) / rate(here)
    text = f"{told(there, size_of(there, SIZE))}: {percent_text(share)} of the peak from near "
    text += f"({rate_words(there)} against {rate_words(here)})"
    holds = share >= KEPT_SHARE if is_large else share < KEPT_SHARE
    return check(text, holds, [*near, *far])


def _by_parallelism(
    rows: Sequence[CellRow], key: str, sizes: tuple[int, ...]
) -> list[list[CellRow]]:
    found = pick(rows, workload="object", operation=MOVES, **{key: sizes})
    return _several(series(found, PARALLEL))


def _several(found: Sequence[list[CellRow]]) -> list[list[CellRow]]:
    return [points for points in found if len(points) >= LEAST_POINTS]


def _largest(found: Sequence[list[CellRow]]) -> list[list[CellRow]]:
    """Of each network and operation, the series of the largest size."""
    largest: dict[tuple[str, str, str], list[CellRow]] = {}
    for points in found:
        first = points[0]
        key = first.system, first.network, first.operation
        if key not in largest or number(first, SIZE) > number(largest[key][0], SIZE):
            largest[key] = points
    return list(largest.values())


def _latency(row: CellRow) -> float:
    return float(row.latency_ns_p50 or 1)


def _latencies(points: Sequence[CellRow]) -> str:
    first, last = points[0], points[-1]
    ends = [f"{duration_text(_latency(row))} at {number(row, PARALLEL):g}" for row in (first, last)]
    return f"{told(first, size_of(first, SIZE))}: median latency {' to '.join(ends)}"


CLAIMS = (
    Claim(
        id="obj-1",
        text="Small requests gain an order of magnitude from parallel ones.",
        source="C16 IV-A1",
        published="1 KiB: 27 times in PUT, 21 times in GET (here: 10 times or more)",
        needs="object cells of 1 KiB by three numbers of connections or more",
        check=small_requests_gain,
    ),
    Claim(
        id="obj-2",
        text="Too many connections cost large PUTs bandwidth.",
        source="C16 IV-A1",
        published="16 MiB: slightly slower (here: below 95 % of the best)",
        needs="object cells that put by three numbers of connections or more, four requests or "
        "more for each connection",
        check=large_puts_suffer,
        since=FREE_CPU,
    ),
    Claim(
        id="obj-3",
        text="Latency stays flat to a threshold of parallelism, and then grows with it.",
        source="C16 IV-A1",
        published="4 KiB: 36 ms to 16 connections, 51 ms at 64; 16 MiB: 1.1 s at 4 to 18.3 s at "
        "64 (here: within 1.25 times, and within 1.5 times of linear)",
        needs="object cells of 4 KiB by 1 to 16 connections, or of 1 MiB and more by several",
        check=latency_is_flat_then_linear,
    ),
    Claim(
        id="obj-4",
        text="Larger objects gain up to some 4 MiB, and hardly anything beyond 16 MiB.",
        source="C16 IV-A2",
        published="one connection, 16 to 64 MiB: 20 to 21.9 MB/s in PUT, level in GET (here: nine "
        "tenths of the best between 1 and 16 MiB)",
        needs="object cells of one connection by three sizes or more, 64 MiB the largest",
        check=size_has_its_knee,
    ),
    Claim(
        id="obj-5",
        text="An object of 4 MiB goes up fastest in several parts at once, and not in too many.",
        source="C16 IV-A3",
        published="16 parts best, three times the worst (here: 4 to 32 parts, twice or more)",
        needs="chunking cells that put by three numbers of parts or more",
        check=parts_have_a_best,
        since=ONE_CONNECTION,
    ),
    Claim(
        id="obj-6",
        text="Small requests in parallel and larger ones alone reach the same rate at equal "
        "products.",
        source="C16 IV-A3",
        published="1 KiB by 16, 4 KiB by 4, 16 KiB by 1: 0.4 MB/s each (here: within 1.25 times)",
        needs="object cells of three sizes whose size times connections is 16 KiB",
        check=equal_products_are_equal,
    ),
    Claim(
        id="geo-1",
        text="Distance hardly touches the peak of large requests, and takes from small ones.",
        source="C16 IV-C",
        published="176 ms against 0.28 ms at 4 MiB: 53.3 of 59.2 MB/s in PUT, level in GET (here: "
        "90 % or more from 1 MiB on, less to 16 KiB)",
        needs="object cells of the same sizes over two round-trip times",
        check=distance_takes_from_small_requests,
    ),
)
