"""Object storage in the report: surfaces of size by parallelism as heat maps with their knees in
words, and the times of each request: connected, first byte, last byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wavetank.analysis.facets import conditions, varying
from wavetank.analysis.rows import CellRow, OtherOperation
from wavetank.analysis.surfaces import Point, Surface, surfaces_of
from wavetank.analysis.verdicts import rate_text
from wavetank.analysis.wording import (
    conditions_text,
    duration_text,
    operation_text,
    percent_text,
    size_text,
    system_text,
)

FIRST, LAST, CONNECT = "first_byte", "last_byte", "connect"


class HeatCell(msgspec.Struct, frozen=True, kw_only=True):
    """One point: its rate in words, its share of the peak (0 to 1), and what marks it."""

    text: str
    share: float
    peak: bool
    knee: bool
    enough: bool
    told: str


class HeatRow(msgspec.Struct, frozen=True, kw_only=True):
    """One parallelism over all sizes; None where nothing was planned."""

    parallel: str
    cells: list[HeatCell | None]


class HeatMap(msgspec.Struct, frozen=True, kw_only=True):
    """One surface: its columns are sizes, its rows parallelism."""

    title: str
    sizes: list[str]
    rows: list[HeatRow]
    knee: str


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of one cell; a dash where there was none of the kind."""

    cell: str
    connect: str
    first_byte: str
    first_byte_p99: str
    last_byte: str
    last_byte_p99: str
    retries: str
    failed: str


def heat_maps(rows: Sequence[CellRow]) -> list[HeatMap]:
    """A heat map for each surface of the run."""
    return [_heat_map(surface) for surface in surfaces_of(rows)]


def knee_text(surface: Surface) -> str:
    """`Knee: 1 MiB objects over 8 connections reach 11.6 MB/s, 98 % of the peak (11.9 MB/s with
    4 MiB objects over 64 connections).`
    """
    knee, peak = surface.knee, surface.peak
    rate = rate_text(knee.rate or 0.0, surface.metric)
    if knee == peak:
        return f"Least for the peak: {_point_text(knee)}, {rate}."
    share = percent_text((knee.rate or 0.0) / (peak.rate or 1.0))
    best = rate_text(peak.rate or 0.0, surface.metric)
    return (
        f"Knee: {_point_text(knee)} reach {rate}, {share} of the peak "
        f"({best} with {_point_text(peak)})."
    )


def title_text(surface: Surface) -> str:
    """`S3 on realistic, PUT`, and what else tells it from the run's other surfaces."""
    words = f"{system_text(surface.system)} on {surface.network}, "
    words += operation_text(surface.operation)
    others = conditions_text(surface.others, list(surface.others))
    return f"{words}, {others}" if others else words


def _point_text(point: Point) -> str:
    many = "" if point.parallel == 1 else "s"
    return f"{size_text(point.size_bytes)} objects over {point.parallel} connection{many}"


def _heat_map(surface: Surface) -> HeatMap:
    return HeatMap(
        title=title_text(surface),
        sizes=[size_text(size) for size in surface.sizes_bytes],
        rows=[
            HeatRow(
                parallel=str(parallel),
                cells=[_cell(surface, size, parallel) for size in surface.sizes_bytes],
            )
            for parallel in surface.parallels
        ],
        knee=knee_text(surface),
    )


def _cell(surface: Surface, size_bytes: int, parallel: int) -> HeatCell | None:
    point = surface.at(size_bytes, parallel)
    if point is None:
        return None
    if point.rate is None:
        return HeatCell(
            text="-", share=0.0, peak=False, knee=False, enough=False, told="not usable"
        )
    share = point.rate / (surface.peak.rate or 1.0)
    return HeatCell(
        text=rate_text(point.rate, surface.metric),
        share=share,
        peak=point == surface.peak,
        knee=point == surface.knee,
        enough=surface.knee_by_size.get(size_bytes) == parallel,
        told=f"{_point_text(point)}: {percent_text(share)} of the peak",
    )


def times_of(rows: Sequence[CellRow]) -> list[Times]:
    """The requests' times of every usable cell over REST, in row order."""
    varied = varying(rows)
    return [
        _times(row, varied)
        for row in rows
        if row.status == "ok" and any(one.operation == FIRST for one in row.other_operations)
    ]


def _times(row: CellRow, varied: Sequence[str]) -> Times:
    kinds = {one.operation: one for one in row.other_operations}
    found = conditions(row)
    words = conditions_text(found, [name for name in varied if name in found])
    title = f"{system_text(row.system)} on {row.network}, {operation_text(row.operation)}"
    return Times(
        cell=f"{title}, {words}" if words else title,
        connect=_p50(kinds.get(CONNECT)),
        first_byte=_p50(kinds.get(FIRST)),
        first_byte_p99=_p99(kinds.get(FIRST)),
        last_byte=_p50(kinds.get(LAST)),
        last_byte_p99=_p99(kinds.get(LAST)),
        retries=str(row.retries or 0),
        failed=str(row.failed_operations or 0),
    )


def _p50(one: OtherOperation | None) -> str:
    return duration_text(one.latency_ns_p50) if one is not None and one.operations else "-"


def _p99(one: OtherOperation | None) -> str:
    return duration_text(one.latency_ns_p99) if one is not None and one.operations else "-"
