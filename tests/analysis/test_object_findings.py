"""Claims about object storage: each can be reproduced, turn out changed, and be left open."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sample_rows import KIB, MIB, row

from wavetank.analysis.findings import CLAIMS, judge_claims, objects
from wavetank.analysis.rows import CellRow
from wavetank.study.model import Network

NEAR = Network(name="near", rate_bit_per_s=1_000_000_000, rtt_ns=280_000)
FAR = Network(name="far", rate_bit_per_s=1_000_000_000, rtt_ns=176_000_000)
Rate = Callable[[int, int], float]


def requests(
    sizes: tuple[int, ...],
    parallels: tuple[int, ...],
    rate: Rate,
    *,
    operations: tuple[str, ...] = ("put", "get"),
    network: Network = NEAR,
) -> list[CellRow]:
    """Rows at these rates, with the latency that a closed loop must then have."""
    rows = []
    for operation in operations:
        for size in sizes:
            for parallel in parallels:
                found = row(
                    "swift",
                    network,
                    "object",
                    operation,
                    rate(size, parallel),
                    object_size_bytes=size,
                    parallel=parallel,
                )
                latency_ns = round(parallel * size / rate(size, parallel) * 1e9)
                rows.append(
                    msgspec.structs.replace(found, latency_ns_p50=latency_ns, operations=1000)
                )
    return rows


def waits(seconds: float, most: float) -> Rate:
    """Each request waits so long, and the link carries `most` bytes per second."""
    return lambda size, parallel: min(parallel * size / (seconds + size / most), most)


def chunked(rate: Callable[[int], float]) -> list[CellRow]:
    return [
        row("swift", NEAR, "chunking", "put", rate(k), object_size_bytes=4 * MIB, parts=k)
        for k in (1, 4, 16, 64)
    ]


SMALL, LARGE = (KIB, 4 * KIB), (MIB, 16 * MIB)
BY = (1, 4, 16, 64)
SPOILT = {1: 20e6, 4: 50e6, 16: 59e6, 64: 50e6}
ALONE = (KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB)
PRODUCTS = [
    one
    for size, parallel in ((KIB, 16), (4 * KIB, 4), (16 * KIB, 1))
    for one in requests((size,), (parallel,), lambda *_: 0.4e6)
]
FLAT = [*requests((4 * KIB,), BY, waits(0.036, 1e8)), *requests(LARGE, BY, waits(0.035, 5e7))]
GEO = [
    *requests((4 * KIB,), BY, waits(0.035, 5e7)),
    *requests((4 * KIB,), BY, waits(0.211, 5e7), network=FAR),
    *requests((4 * MIB,), BY, lambda *_: 59e6),
    *requests((4 * MIB,), BY, lambda *_: 54e6, network=FAR),
]
# Rows under which each claim holds, and rows under which it does not.
CASES: dict[str, tuple[list[CellRow], list[CellRow]]] = {
    "obj-1": (requests(SMALL, BY, waits(0.035, 1e8)), requests(SMALL, BY, lambda s, p: 1e6 + p)),
    "obj-2": (
        requests(LARGE, BY, lambda size, parallel: SPOILT[parallel]),
        requests(LARGE, BY, waits(0.035, 5e7)),
    ),
    "obj-3": (FLAT, requests((4 * KIB,), BY, lambda *_: 1e6)),
    "obj-4": (
        requests(ALONE, (1,), waits(0.035, 2.4e7)),
        requests(ALONE, (1,), waits(5.0, 2.4e8)),
    ),
    "obj-5": (
        chunked({1: 14.5e6, 4: 30e6, 16: 44.2e6, 64: 30e6}.__getitem__),
        chunked(lambda parts: 20e6 + parts),
    ),
    "obj-6": (
        PRODUCTS,
        [msgspec.structs.replace(PRODUCTS[0], throughput_bytes_per_s=1e6), *PRODUCTS[1:]],
    ),
    "geo-1": (
        GEO,
        [one for one in GEO if one.network == "near"]
        + requests((4 * KIB, 4 * MIB), BY, lambda *_: 1e6, network=FAR),
    ),
}


def test_every_claim_on_objects_has_its_cases() -> None:
    assert [one.id for one in objects.CLAIMS] == list(CASES)
    assert set(CASES) <= set(CLAIMS)


def test_distance_is_not_judged_from_one_place() -> None:
    (found,) = judge_claims([one for one in GEO if one.network == "near"], ["geo-1"])
    assert found.verdict == "not judged"


def test_a_trial_of_few_requests_does_not_tell_whether_connections_cost() -> None:
    few = [msgspec.structs.replace(one, operations=100) for one in CASES["obj-2"][0]]
    (found,) = judge_claims([one for one in few if one.parameters["parallel"] != 4], ["obj-2"])
    assert found.verdict == "not judged"
