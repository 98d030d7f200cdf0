"""Which figures a run deserves: what goes on the axis, what becomes a figure, what a panel.

One section for each workload, operation and clock. Within it the numeric condition with the most
values becomes the axis, networks become panels, and each combination of the other conditions a
figure. Where no condition has three values, their combinations are categories of one figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wavetank.analysis.facets import Conditions, conditions, order_of, varying
from wavetank.analysis.labels import Scalar
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import conditions_text, name_text, operation_text, value_text

LEAST_AXIS_VALUES = 3
MOST_CATEGORIES = 12


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One small multiple: `x[i]` is the place on the axis of row `rows[i]`."""

    network: str
    rows: list[int]
    x: list[int]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """Panels that share an axis. `ticks` are the axis's values in words, in order; `positions`
    their numbers, empty where the axis is one of categories.
    """

    title: str
    axis: str
    ticks: list[str]
    positions: list[float]
    panels: list[Panel]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of conditions, for figures that show a single one at a time."""

    title: str
    panels: list[Panel]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of one workload, operation and clock."""

    anchor: str
    title: str
    workload: str
    operation: str
    clock: str
    varying: list[str]
    figures: list[Figure]
    latencies: list[Choice]


def sections_of(rows: Sequence[CellRow]) -> list[Section]:
    """The sections of a report, in row order; indices refer to `rows`."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault((row.workload, row.operation, row.clock), []).append(index)
    several_clocks = len({row.clock for row in rows}) > 1
    return [
        _section(number, rows, indices, several_clocks)
        for number, indices in enumerate(groups.values(), start=1)
    ]


def _section(
    number: int, rows: Sequence[CellRow], indices: Sequence[int], several_clocks: bool
) -> Section:
    first = rows[indices[0]]
    found = {index: conditions(rows[index]) for index in indices}
    varied = varying([rows[index] for index in indices])
    verb = operation_text(first.operation) or "all operations"
    clock = f", {first.clock} clock" if several_clocks else ""
    axis = _axis(varied, list(found.values()))
    others = [name for name in varied if name != axis]
    if axis is None and _distinct(found, varied) > MOST_CATEGORIES:
        others, categories = varied[:1], varied[1:]
    else:
        categories = [] if axis else varied
        others = others if axis else []
    return Section(
        anchor=f"section-{number}",
        title=f"{verb[:1].upper()}{verb[1:]}, workload {first.workload}{clock}",
        workload=first.workload,
        operation=first.operation,
        clock=first.clock,
        varying=varied,
        figures=[
            _figure(title, rows, part, found, axis, categories)
            for title, part in _split(found, others).items()
        ],
        latencies=[
            Choice(title=title, panels=_panels(rows, part, dict.fromkeys(part, 0)))
            for title, part in _split(found, varied).items()
        ],
    )


def _axis(varied: Sequence[str], found: Sequence[Conditions]) -> str | None:
    best, most = None, LEAST_AXIS_VALUES - 1
    for name in varied:
        values = {one.get(name) for one in found}
        if all(_is_number(value) for value in values) and len(values) > most:
            best, most = name, len(values)
    return best


def _is_number(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _distinct(found: dict[int, Conditions], names: Sequence[str]) -> int:
    return len({tuple(one.get(name) for name in names) for one in found.values()})


def _split(found: dict[int, Conditions], names: Sequence[str]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = {}
    for index in sorted(found, key=lambda index: order_of(found[index], names)):
        parts.setdefault(conditions_text(found[index], names), []).append(index)
    return parts


def _figure(
    title: str,
    rows: Sequence[CellRow],
    part: Sequence[int],
    found: dict[int, Conditions],
    axis: str | None,
    categories: Sequence[str],
) -> Figure:
    names = [axis] if axis else list(categories)
    ordered = sorted(part, key=lambda index: order_of(found[index], names))
    keys: dict[tuple[Scalar, ...], int] = {}
    place: dict[int, int] = {}
    for index in ordered:
        key = tuple(found[index].get(name) for name in names)
        place[index] = keys.setdefault(key, len(keys))
    if axis:
        ticks = [value_text(axis, key[0]) for key in keys]
        positions = [float(key[0]) for key in keys if isinstance(key[0], int | float)]
    else:
        ticks = [conditions_text(dict(zip(names, key, strict=True)), names) for key in keys]
        positions = []
    return Figure(
        title=title,
        axis=name_text(axis) if axis else "",
        ticks=ticks,
        positions=positions,
        panels=_panels(rows, part, place),
    )


def _panels(rows: Sequence[CellRow], part: Sequence[int], place: dict[int, int]) -> list[Panel]:
    networks: dict[str, list[int]] = {}
    for index in sorted(part, key=lambda index: (place[index], index)):
        networks.setdefault(rows[index].network, []).append(index)
    return [
        Panel(network=network, rows=members, x=[place[index] for index in members])
        for network, members in networks.items()
    ]
