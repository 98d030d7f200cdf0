"""Size by parallelism: the rate that a system of objects reaches, and where more gains no more.

One surface for each network, system and operation, all else equal. Its knee is, of the points
within 5 % of the peak, the one with the fewest bytes in flight (parallelism times size: what the
client must hold), and of those the one with the fewest connections; C16 IV-A asks for it as the
proper combination of both. Pure functions of rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wavetank.analysis.facets import Conditions, conditions
from wavetank.analysis.rows import THROUGHPUT, CellRow, Metric
from wavetank.study.model import Clock

SIZE, PARALLEL = "object_size_bytes", "parallel"
NEAR_PEAK = 0.95
LEAST_VALUES = 2


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of a surface; `rate` in bytes or operations per second, None where unusable."""

    size_bytes: int
    parallel: int
    rate: float | None


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """All points of one system: `peak` has the highest rate, `knee` is the cheapest near it.

    `knee_by_size`: for each size the least parallelism within 5 % of the size's best.
    `others`: the conditions beside size and parallelism that the run varies.
    """

    network: str
    system: str
    workload: str
    operation: str
    clock: Clock
    metric: Metric
    others: Conditions
    sizes_bytes: list[int]
    parallels: list[int]
    points: list[Point]
    peak: Point
    knee: Point
    knee_by_size: dict[int, int]

    def at(self, size_bytes: int, parallel: int) -> Point | None:
        """The point there, or None where nothing was planned."""
        for point in self.points:
            if (point.size_bytes, point.parallel) == (size_bytes, parallel):
                return point
        return None


def surfaces_of(rows: Sequence[CellRow]) -> list[Surface]:
    """The surfaces of a run, in row order: where both size and parallelism have two values."""
    groups: dict[tuple[object, ...], list[CellRow]] = {}
    for row in rows:
        if SIZE in row.parameters and PARALLEL in row.parameters:
            groups.setdefault(_key(row), []).append(row)
    varied = _varied([group[0] for group in groups.values()])
    found = [_surface(group, varied) for group in groups.values()]
    return [surface for surface in found if surface is not None]


def _key(row: CellRow) -> tuple[object, ...]:
    shared = tuple(sorted(_others(row).items(), key=lambda item: item[0]))
    return row.network, row.system, row.workload, row.operation, row.clock, shared


def _others(row: CellRow) -> Conditions:
    return {name: value for name, value in conditions(row).items() if name not in (SIZE, PARALLEL)}


def _varied(firsts: Sequence[CellRow]) -> list[str]:
    """Conditions beside size and parallelism that differ between surfaces."""
    found = [_others(row) for row in firsts]
    names = dict.fromkeys(name for one in found for name in one)
    return [name for name in names if len({one.get(name) for one in found}) > 1]


def _surface(group: Sequence[CellRow], varied: Sequence[str]) -> Surface | None:
    first = group[0]
    usable = [row for row in group if row.status == "ok"]
    metric: Metric = THROUGHPUT
    if any(row.metric != THROUGHPUT for row in usable):
        metric = "operations_per_s"
    points = [
        Point(
            size_bytes=int(row.parameters[SIZE]),
            parallel=int(row.parameters[PARALLEL]),
            rate=row.rate(metric) if row.status == "ok" else None,
        )
        for row in group
    ]
    sizes = sorted({point.size_bytes for point in points})
    parallels = sorted({point.parallel for point in points})
    rated = [(point.rate, point) for point in points if point.rate]
    if len(sizes) < LEAST_VALUES or len(parallels) < LEAST_VALUES or not rated:
        return None
    peak = max(rated, key=lambda pair: pair[0])[1]
    return Surface(
        network=first.network,
        system=first.system,
        workload=first.workload,
        operation=first.operation,
        clock=first.clock,
        metric=metric,
        others={name: value for name, value in _others(first).items() if name in varied},
        sizes_bytes=sizes,
        parallels=parallels,
        points=points,
        peak=peak,
        knee=_knee(points),
        knee_by_size={
            size: _knee([point for point in points if point.size_bytes == size]).parallel
            for size in sizes
            if any(rate and point.size_bytes == size for rate, point in rated)
        },
    )


def _knee(points: Sequence[Point]) -> Point:
    """Of those near the best, the one with the least in flight."""
    best = max(point.rate or 0.0 for point in points)
    near = [point for point in points if (point.rate or 0.0) >= NEAR_PEAK * best and point.rate]
    return min(near, key=lambda point: (point.parallel * point.size_bytes, point.parallel))
