"""Claims about what a client can do for its objects: C16 IV-B, IV-C2 and figure 4.

The client's disk and memory are the lab's models, its processor is a share of this machine's. Rates
by disk and by memory are over whole trials, as the paper's: what is still in memory at the end is
what memory is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from wavetank.analysis.findings.cells import KIB, MIB, check, number, pick, rate, size_of, told
from wavetank.analysis.findings.objects import MOVES, PARALLEL, SIZE
from wavetank.analysis.findings.shapes import rate_words
from wavetank.analysis.findings.verdict import Check, Claim
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import (
    byte_rate_text,
    duration_text,
    factor_text,
    percent_text,
    significant,
    size_text,
)

MAGNETIC, SSD = "c16-magnetic", "c16-ssd"
SMALL_MOST, LARGE_LEAST = 16 * KIB, MIB
CPU_SMALL_MOST, CPU_LARGE_LEAST = 16 * KIB, 256 * KIB
# Here: what a claim that gives no number of its own asks for.
DISK_GAIN, DISK_LEVEL, SMALL_LEVEL = 2.0, 1.25, 1.1
LATENCY_SHARE = 0.5
TWICE, HARDLY_MORE = 1.5, 1.25
MEMORY_TAKES, MEMORY_LEVEL = 0.95, 0.97
LESS_FOR_A_BYTE = 1.5
FULL = 0.9
FAR_BEHIND, LEVEL_FAR = 1.5, 1.25

NO_PATH = (
    "On the loopback nothing but processors bounds large objects; in C16 Amazon's path and the "
    "client's disk did, at 60 MB/s and less."
)
ONE_IS_ENOUGH = (
    "One connection carries what the path does here, so that the disk is the bottleneck of one as "
    "of many; in C16 one got a third to half of the path."
)


def disk_limits_downloads(rows: Sequence[CellRow]) -> list[Check]:
    checks = []
    for slow, fast in _pairs(rows, lambda row: row.client_disk, MAGNETIC, SSD):
        size = number(slow, SIZE)
        if SMALL_MOST < size < LARGE_LEAST:
            continue
        ratio = _overall(fast) / _overall(slow)
        text = f"{told(fast, size_of(fast, SIZE))}: SSD reaches {factor_text(ratio)} magnetic "
        text += f"({_overall_words(fast)} against {_overall_words(slow)})"
        if size <= SMALL_MOST:
            holds = 1 / SMALL_LEVEL <= ratio <= SMALL_LEVEL
        elif fast.operation == "get":
            holds = ratio >= DISK_GAIN
        else:
            holds = 1 / DISK_LEVEL <= ratio <= DISK_LEVEL
        checks.append(check(text, holds, [slow, fast]))
    return checks


def disk_shortens_downloads(rows: Sequence[CellRow]) -> list[Check]:
    """Large downloads by parallelism: the share of the latency that the faster disk saves."""
    found = [
        (slow, fast, 1 - _latency(fast) / _latency(slow))
        for slow, fast in _pairs(rows, lambda row: row.client_disk, MAGNETIC, SSD)
        if slow.operation == "get" and number(slow, SIZE) >= LARGE_LEAST
    ]
    found.sort(key=lambda one: number(one[0], PARALLEL))
    if len({number(slow, PARALLEL) for slow, _, _ in found}) < 2:
        return []
    checks = []
    (alone, _, less), (slow, fast, more) = found[0], found[-1]
    text = f"{told(fast, size_of(fast, SIZE))}: over {number(slow, PARALLEL):g} connections SSD "
    text += f"takes {percent_text(more)} less ({duration_text(_latency(fast))} against "
    text += f"{duration_text(_latency(slow))})"
    checks.append(check(text, more >= LATENCY_SHARE, [slow, fast]))
    text = f"{told(alone, size_of(alone, SIZE))}: {percent_text(less)} less for one connection, "
    text += f"{percent_text(more)} for {number(slow, PARALLEL):g}"
    checks.append(check(text, more > less, [row for one in found for row in one[:2]]))
    return checks


def processors_serve_small_requests(rows: Sequence[CellRow]) -> list[Check]:
    """Peaks over parallelism by size, of the least and of twice the processor time."""
    checks = []
    found = [row for row in pick(rows, workload="object") if row.client_processors]
    for operation in MOVES:
        for size in sorted({number(row, SIZE) for row in found}):
            here = [row for row in found if (row.operation, number(row, SIZE)) == (operation, size)]
            least = min((row.client_processors or 0.0 for row in here), default=0.0)
            few = [row for row in here if row.client_processors == least]
            many = [row for row in here if row.client_processors == 2 * least]
            if few and many and not CPU_SMALL_MOST < size < CPU_LARGE_LEAST:
                checks.append(_by_processors(few, many, size >= CPU_LARGE_LEAST))
    return checks


def _by_processors(few: Sequence[CellRow], many: Sequence[CellRow], is_large: bool) -> Check:
    one, two = max(few, key=rate), max(many, key=rate)
    gain = rate(two) / rate(one)
    text = f"{told(two, size_of(two, SIZE))}: twice the processor reaches {factor_text(gain)} "
    text += f"({rate_words(two)} against {rate_words(one)})"
    holds = gain < HARDLY_MORE if is_large else gain >= TWICE
    return check(text, holds, [*few, *many])


def memory_serves_downloads(rows: Sequence[CellRow]) -> list[Check]:
    found = [row for row in rows if row.client_memory_bytes]
    sizes = sorted({row.client_memory_bytes or 0 for row in found})
    if len(sizes) < 2:
        return []
    checks = []
    for little, much in _pairs(found, lambda row: row.client_memory_bytes, sizes[0], sizes[-1]):
        if number(much, SIZE) < LARGE_LEAST:
            continue
        share = _overall(little) / _overall(much)
        text = f"{told(much, size_of(much, SIZE))}: {size_text(sizes[0])} of memory reach "
        text += f"{percent_text(share)} of what {size_text(sizes[-1])} do "
        text += f"({_overall_words(little)} against {_overall_words(much)})"
        takes = much.operation == "get"
        holds = share <= MEMORY_TAKES if takes else MEMORY_LEVEL <= share <= 1 / MEMORY_LEVEL
        checks.append(check(text, holds, [little, much]))
    return checks


def large_requests_cost_less_processor(rows: Sequence[CellRow]) -> list[Check]:
    """Processor time for a byte, of cells whose size times parallelism is 16 KiB."""
    checks = []
    for operation in MOVES:
        found = [
            row
            for row in pick(rows, workload="object", operation=operation)
            if number(row, SIZE) * number(row, PARALLEL) == 16 * KIB
            and row.processors_used
            and not row.client_processors
        ]
        found.sort(key=lambda row: number(row, SIZE))
        for small, large in pairwise(found):
            ratio = _for_a_byte(small) / _for_a_byte(large)
            text = f"{told(large)}: a byte takes {_time_words(small)} in {size_of(small, SIZE)} by "
            text += f"{number(small, PARALLEL):g}, {_time_words(large)} in {size_of(large, SIZE)} "
            text += f"by {number(large, PARALLEL):g}, {factor_text(ratio)}"
            checks.append(check(text, ratio >= LESS_FOR_A_BYTE, [small, large]))
    return checks


def processor_fills_up(rows: Sequence[CellRow]) -> list[Check]:
    """Large puts by parallelism under a limit: where the processor is full, more gains no more."""
    found = [
        row
        for row in pick(rows, workload="object", operation="put")
        if row.client_processors and row.processors_used and number(row, SIZE) >= 4 * MIB
    ]
    found.sort(key=lambda row: number(row, PARALLEL))
    shares = [(row.processors_used or 0.0) / (row.client_processors or 1.0) for row in found]
    if len({number(row, PARALLEL) for row in found}) < 3:
        return []
    full = next((index for index, share in enumerate(shares) if share >= FULL), None)
    if full is None:
        most = max(shares)
        text = f"{told(found[-1], size_of(found[-1], SIZE))}: at most {percent_text(most)} of the "
        return [check(text + "declared processor time is used", False, found)]
    at, last = found[full], found[-1]
    text = f"{told(at, size_of(at, SIZE))}: full ({percent_text(shares[full])} of what is "
    count = number(at, PARALLEL)
    text += f"declared) with {count:g} connection{'' if count == 1 else 's'}; "
    gain = max(rate(row) for row in found[full:]) / rate(at)
    text += f"up to {number(last, PARALLEL):g} reach {factor_text(gain)} of that"
    return [check(text, gain < HARDLY_MORE, found)]


def distance_is_felt_by_few(rows: Sequence[CellRow]) -> list[Check]:
    """Latency of large puts from far over that from near, by parallelism."""
    found = pick(rows, workload="object", operation="put")
    found = [row for row in found if number(row, SIZE) >= 16 * MIB and row.client_disk is None]
    distances = sorted({row.network_declared.rtt_ns for row in found})
    if len(distances) < 2:
        return []
    by_place = {(row.network_declared.rtt_ns, number(row, PARALLEL)): row for row in found}
    parallels = sorted({parallel for _, parallel in by_place})
    checks = []
    for parallel, is_few in ((parallels[0], True), (parallels[-1], False)):
        ends = [by_place.get((rtt_ns, parallel)) for rtt_ns in (distances[0], distances[-1])]
        near, far = ends
        if near is None or far is None or len(parallels) < 2:
            continue
        ratio = _latency(far) / _latency(near)
        text = f"{told(far, size_of(far, SIZE))}: over {parallel:g} connection"
        text += f"{'' if parallel == 1 else 's'} {factor_text(ratio)} the latency from near "
        text += f"({duration_text(_latency(far))} against {duration_text(_latency(near))})"
        holds = ratio >= FAR_BEHIND if is_few else ratio <= LEVEL_FAR
        checks.append(check(text, holds, [near, far]))
    return checks


def _pairs(
    rows: Sequence[CellRow], of: Callable[[CellRow], object], first: object, second: object
) -> list[tuple[CellRow, CellRow]]:
    """Cells alike in operation, size, parallelism and network, of the two clients."""
    groups: dict[tuple[object, ...], dict[object, CellRow]] = {}
    for row in pick(rows, workload="object", operation=MOVES):
        key = row.network, row.operation, number(row, SIZE), number(row, PARALLEL)
        groups.setdefault(key, {})[of(row)] = row
    return [
        (found[first], found[second])
        for found in groups.values()
        if first in found and second in found
    ]


def _overall(row: CellRow) -> float:
    """Of downloads over the whole trial, for memory takes its beginning; else the steady rate."""
    whole = row.overall_bytes_per_s if row.operation == "get" else None
    return whole or rate(row)


def _overall_words(row: CellRow) -> str:
    return byte_rate_text(_overall(row))


def _latency(row: CellRow) -> float:
    """The mean, as C16 gives it; the median of few requests is that of the fast connections."""
    return row.latency_ns_mean or 1.0


def _for_a_byte(row: CellRow) -> float:
    """Nanoseconds of processor time."""
    return (row.processors_used or 0.0) * 1e9 / rate(row)


def _time_words(row: CellRow) -> str:
    return f"{significant(_for_a_byte(row))} ns"


CLAIMS = (
    Claim(
        id="obj-7",
        text="A slow client's disk limits large downloads; large uploads and small requests hardly "
        "feel it.",
        source="C16 IV-B2",
        published="4 MB, SSD against magnetic: 76.6 and 28.9 MB/s in GET, 60.3 and 59.2 in PUT "
        "(here: twice or more; within 1.25 times; to 16 KiB within 1.1 times)",
        needs="object cells of the client's disks c16-magnetic and c16-ssd",
        check=disk_limits_downloads,
    ),
    Claim(
        id="obj-8",
        text="A faster client's disk shortens large downloads, the more the more run at once.",
        source="C16 IV-B2",
        published="16 MB: 24 % less with one connection, 65 % with 32 (here: half or more with the "
        "most, and more than with the fewest)",
        needs="object cells that get 1 MiB and more by two numbers of connections, of the client's "
        "disks c16-magnetic and c16-ssd",
        check=disk_shortens_downloads,
        since=ONE_IS_ENOUGH,
    ),
    Claim(
        id="obj-9",
        text="Twice the processor brings a client nearly twice the small requests, and hardly more "
        "of large ones.",
        source="C16 IV-B1",
        published="1 to 16 KB twice in GET; 4 MB 60 against 59.2 MB/s in PUT, level in GET (here: "
        "1.5 times or more to 16 KiB, below 1.25 times from 256 KiB on)",
        needs="object cells of a client of which one has twice the processors of the other",
        check=processors_serve_small_requests,
        since=NO_PATH,
    ),
    Claim(
        id="obj-10",
        text="Half the memory takes from a client's large downloads, and nothing from its uploads.",
        source="C16 tables IV and V",
        published="3.5 against 7.5 GB, 1 to 16 MB: 11 to 28 % less in GET, below 1 % in PUT (here: "
        "5 % or more; within 3 %)",
        needs="object cells of 1 MiB and more of clients of two sizes of memory",
        check=memory_serves_downloads,
    ),
    Claim(
        id="obj-11",
        text="At equal products of size and connections, larger requests cost less processor time.",
        source="C16 IV-A3",
        published="16 KiB in flight by 1, 4 and 16 KiB: 65, 15 and 5 % at the same rate (here: "
        "each at least 1.5 times less for a byte)",
        needs="object cells under the real clock whose size times connections is 16 KiB",
        check=large_requests_cost_less_processor,
    ),
    Claim(
        id="obj-12",
        text="A few connections of large uploads fill the client's processor, and more of them "
        "gain nothing.",
        source="C16 IV-A1, figure 4",
        published="16 MB: close to 100 % with 8 (here: 90 % of what is declared, and below 1.25 "
        "times its rate from there on)",
        needs="object cells that put 4 MiB and more by three numbers of connections, of a client "
        "with declared processors",
        check=processor_fills_up,
    ),
    Claim(
        id="geo-2",
        text="From far one large upload takes much longer, and many at once no longer than from "
        "near.",
        source="C16 IV-C",
        published="16 MB: 2.1 against 0.8 s with one connection, 4.3 against 4.2 s with 16 (here: "
        "1.5 times or more; within 1.25 times)",
        needs="object cells that put 16 MiB by two numbers of connections over two round-trip "
        "times",
        check=distance_is_felt_by_few,
    ),
)
