"""Claims about what a client can do: each can be reproduced, turn out changed, and be left open."""

from __future__ import annotations

import msgspec
from sample_rows import KIB, MIB, row

from wavetank.analysis.findings import CLAIMS, clients, judge_claims
from wavetank.analysis.rows import CellRow
from wavetank.study.model import LOOPBACK, Network

LINK = Network(name="link", rate_bit_per_s=640_000_000, rtt_ns=280_000)
NEAR = Network(name="near", rate_bit_per_s=200_000_000, rtt_ns=280_000)
FAR = Network(name="far", rate_bit_per_s=200_000_000, rtt_ns=176_000_000)
HOST = Network(name=LOOPBACK)


def client(
    operation: str,
    size: int,
    rate: float,
    *,
    parallel: int = 4,
    network: Network = LINK,
    disk: str | None = None,
    memory: int | None = None,
    processors: float | None = None,
    used: float | None = None,
) -> CellRow:
    """A row of a declared client at this rate, with the latency of a closed loop."""
    found = row("s3", network, "object", operation, rate, object_size_bytes=size, parallel=parallel)
    return msgspec.structs.replace(
        found,
        digest=f"{found.digest}/{disk}/{memory}/{processors}",
        overall_bytes_per_s=rate,
        latency_ns_mean=round(parallel * size / rate * 1e9),
        client_disk=disk,
        client_memory_bytes=memory,
        client_processors=processors,
        processors_used=used,
    )


def by_disk(magnetic_get: float, ssd_get: float, ssd_small: float) -> list[CellRow]:
    return [
        client("get", 4 * MIB, magnetic_get, disk="c16-magnetic"),
        client("get", 4 * MIB, ssd_get, disk="c16-ssd"),
        client("put", 4 * MIB, 59.2e6, disk="c16-magnetic"),
        client("put", 4 * MIB, 60.3e6, disk="c16-ssd"),
        client("get", KIB, 4e5, disk="c16-magnetic"),
        client("get", KIB, ssd_small, disk="c16-ssd"),
    ]


def by_parallelism(rates: dict[str, dict[int, float]]) -> list[CellRow]:
    return [
        client("get", 16 * MIB, rate, parallel=parallel, disk=disk)
        for disk, found in rates.items()
        for parallel, rate in found.items()
    ]


def by_processor(small_gain: float, large_gain: float) -> list[CellRow]:
    found = []
    for operation in ("put", "get"):
        for size, gain in ((KIB, small_gain), (4 * MIB, large_gain)):
            for processors, factor in ((0.1, 1.0), (0.2, gain)):
                rate = size * 1000 * factor
                found.append(client(operation, size, rate, network=HOST, processors=processors))
    return found


def by_memory(little_get: float, little_put: float) -> list[CellRow]:
    return [
        client("get", 4 * MIB, little_get, memory=112 * MIB),
        client("get", 4 * MIB, 28.9e6, memory=240 * MIB),
        client("put", 4 * MIB, little_put, memory=112 * MIB),
        client("put", 4 * MIB, 59.1e6, memory=240 * MIB),
    ]


def products(*used: float) -> list[CellRow]:
    shapes = ((KIB, 16), (4 * KIB, 4), (16 * KIB, 1))
    return [
        client("put", size, 4e5, parallel=parallel, network=HOST, used=share)
        for (size, parallel), share in zip(shapes, used, strict=True)
    ]


def filling(used: dict[int, float], rates: dict[int, float]) -> list[CellRow]:
    return [
        client(
            "put",
            16 * MIB,
            rates[parallel],
            parallel=parallel,
            network=HOST,
            processors=0.5,
            used=share,
        )
        for parallel, share in used.items()
    ]


def by_distance(far: dict[int, float]) -> list[CellRow]:
    near = [client("put", 16 * MIB, 2e7, parallel=one, network=NEAR) for one in far]
    return near + [
        client("put", 16 * MIB, rate, parallel=one, network=FAR) for one, rate in far.items()
    ]


USED = {1: 0.3, 4: 0.48, 16: 0.5}
# Rows under which each claim holds, and rows under which it does not.
CASES: dict[str, tuple[list[CellRow], list[CellRow]]] = {
    "obj-7": (by_disk(28.9e6, 76.6e6, 4e5), by_disk(28.9e6, 40e6, 4e5)),
    "obj-8": (
        by_parallelism({"c16-magnetic": {1: 26e6, 8: 23e6}, "c16-ssd": {1: 34e6, 8: 66e6}}),
        by_parallelism({"c16-magnetic": {1: 23e6, 8: 23e6}, "c16-ssd": {1: 70e6, 8: 70e6}}),
    ),
    "obj-9": (by_processor(2.0, 1.02), by_processor(2.0, 2.0)),
    "obj-10": (by_memory(23.8e6, 58.7e6), by_memory(28.8e6, 58.7e6)),
    "obj-11": (products(0.65, 0.15, 0.05), products(0.65, 0.6, 0.05)),
    "obj-12": (
        filling(USED, {1: 3e8, 4: 5e8, 16: 4.9e8}),
        filling(USED, {1: 3e8, 4: 5e8, 16: 7e8}),
    ),
    "geo-2": (by_distance({1: 8e6, 16: 1.95e7}), by_distance({1: 1.9e7, 16: 1.9e7})),
}


def test_every_claim_on_clients_has_its_cases() -> None:
    assert [one.id for one in clients.CLAIMS] == list(CASES)
    assert set(CASES) <= set(CLAIMS)


def test_a_small_request_that_feels_the_disk_changes_the_verdict() -> None:
    (found,) = judge_claims(by_disk(28.9e6, 76.6e6, 8e5), ["obj-7"])
    assert [one.holds for one in found.checks] == [True, True, False]


def test_a_processor_that_is_never_full_is_told() -> None:
    idle = filling({1: 0.1, 4: 0.2, 16: 0.2}, {1: 1e8, 4: 1e8, 16: 1e8})
    (found,) = judge_claims(idle, ["obj-12"])
    assert found.verdict == "changed"
    assert "at most 40 %" in found.checks[0].text
