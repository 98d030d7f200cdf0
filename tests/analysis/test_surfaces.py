"""Claims about surfaces: what is joined, where the peak is, and the cheapest point near it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from sample_rows import IDEAL, KIB, MIB, REALISTIC, row, void

from wavetank.analysis.rows import CellRow
from wavetank.analysis.surfaces import surfaces_of
from wavetank.study.model import Network

SIZES, PARALLELS = (4 * KIB, 256 * KIB, MIB), (1, 8, 64)


def requests(
    rate: Callable[[int, int], float],
    system: str = "s3",
    network: Network = IDEAL,
    operation: str = "put",
    **others: str | int | float | bool,
) -> list[CellRow]:
    """One row for each size and parallelism at this rate."""
    return [
        row(
            system,
            network,
            "object",
            operation,
            rate(size, parallel),
            object_size_bytes=size,
            parallel=parallel,
            **others,
        )
        for size in SIZES
        for parallel in PARALLELS
    ]


def full_at(in_flight_bytes: int) -> Callable[[int, int], float]:
    """A link that is full with so many bytes in flight."""
    return lambda size, parallel: 10e6 * min(1.0, size * parallel / in_flight_bytes)


def test_the_knee_is_the_least_in_flight_near_the_peak() -> None:
    (surface,) = surfaces_of(requests(full_at(2 * MIB)))
    assert (surface.knee.parallel, surface.knee.size_bytes) == (8, 256 * KIB)
    assert surface.knee_by_size == {4 * KIB: 64, 256 * KIB: 8, MIB: 8}


def test_a_peak_that_too_much_parallelism_spoils_is_seen() -> None:
    (surface,) = surfaces_of(requests(lambda size, n: {1: 5e6, 8: 10e6, 64: 7e6}[n] + size))
    assert (surface.peak.parallel, surface.peak.size_bytes) == (8, MIB)


def test_systems_networks_operations_and_other_conditions_stand_apart() -> None:
    rows = [
        *requests(full_at(MIB)),
        *requests(full_at(MIB), system="swift"),
        *requests(full_at(MIB), network=REALISTIC),
        *requests(full_at(MIB), operation="get"),
        *requests(full_at(MIB), rate_per_s=5.0),
    ]
    found = surfaces_of(rows)
    assert len(found) == 5
    assert [surface.others.get("rate_per_s") for surface in found] == [None] * 4 + [5.0]


def test_one_size_or_one_parallelism_is_no_surface() -> None:
    rows = requests(full_at(MIB))
    assert surfaces_of([one for one in rows if one.parameters["parallel"] == 8]) == []
    assert surfaces_of([one for one in rows if one.parameters["object_size_bytes"] == MIB]) == []


def test_files_have_no_surface() -> None:
    assert surfaces_of([row("nfs4.2", IDEAL, "batch", "read", 1e6, file_size_bytes=4096)]) == []


def test_an_unusable_cell_is_a_hole_and_never_the_knee() -> None:
    rows = requests(full_at(2 * MIB))
    holed = [
        void(one)
        if (one.parameters["parallel"], one.parameters["object_size_bytes"]) == (8, 256 * KIB)
        else one
        for one in rows
    ]
    (surface,) = surfaces_of(holed)
    point = surface.at(256 * KIB, 8)
    assert point is not None
    assert point.rate is None
    assert (surface.knee.parallel, surface.knee.size_bytes) == (8, MIB)
    assert surfaces_of([void(one) for one in rows]) == []


def test_requests_without_content_are_rated_by_their_number() -> None:
    heads = [
        msgspec.structs.replace(one, throughput_bytes_per_s=None)
        for one in requests(full_at(MIB), operation="head")
    ]
    (surface,) = surfaces_of(heads)
    assert surface.metric == "operations_per_s"


@given(st.lists(st.floats(1.0, 1e9), min_size=9, max_size=9))
def test_nothing_near_the_peak_is_cheaper_than_the_knee(rates: list[float]) -> None:
    by_point = dict(zip([(s, p) for s in SIZES for p in PARALLELS], rates, strict=True))
    (surface,) = surfaces_of(requests(lambda size, parallel: by_point[size, parallel]))
    best = max(rates)
    assert surface.peak.rate == best
    held = surface.knee.parallel * surface.knee.size_bytes
    for (size, parallel), rate in by_point.items():
        if rate >= 0.95 * best:
            assert held <= size * parallel
