"""The figures that a study asks for: its plots laid out as axes, series, panels and points, with
the models' curves and the published values on them. Drawn by assets/plots.js.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from wavetank.analysis.amplification import AmplificationFit
from wavetank.analysis.facets import declared_client
from wavetank.analysis.intervals import Interval
from wavetank.analysis.labels import Scalar
from wavetank.analysis.published import BesidePublished, value_of
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import (
    condition_text,
    kib_text,
    name_text,
    operation_text,
    significant,
    system_text,
    value_text,
)
from wavetank.study.study import Plot, Quantity, Study

CURVE_POINTS = 33
AXIS_NAMES = {
    "rtt_ns": "round-trip time",
    "file_size_bytes": "file size",
    "object_size_bytes": "object size",
}
QUANTITY_WORDS: dict[Quantity, str] = {
    "throughput_bytes_per_s": "Throughput",
    "overall_bytes_per_s": "Throughput, warm-up included",
    "processors_used": "Processors used by the client",
    "operations_per_s": "Operations per second",
    "elapsed_s": "Time",
    "latency_ns_mean": "Mean latency",
    "latency_ns_p50": "Median latency",
    "latency_ns_p99": "Latency, 99th percentile",
    "link_bytes": "Bytes on the link",
    "link_packets": "Packets on the link",
    "requests": "Requests of the client",
    "amplification": "Bytes on the link per byte",
    "fixed_overhead_bytes": "Fixed overhead",
    "journal_bytes": "Journal and metadata per file",
    "metadata_bytes_per_file": "Overhead per file",
}


class SeriesMark(msgspec.Struct, frozen=True):
    """A line's words, the slots of its colour and shape, its system, and its number (from 0, at
    most 3) among the lines of its colour, for the dash.
    """

    text: str
    colour: int
    shape: int
    system: int
    variant: int = 0


class PlotPoint(msgspec.Struct, frozen=True, array_like=True):
    """One cell on a plot: series, place on the axis, row, value and the interval's ends."""

    series: int
    x: int
    row: int
    y: float
    low: float | None
    high: float | None


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A model's curve as pairs of axis value and ratio; `series` -1 is the published model."""

    series: int
    text: str
    points: list[tuple[float, float]]


class PublishedMark(msgspec.Struct, frozen=True, kw_only=True):
    """A published value: at place `x` of the axis, or all along it where that is None."""

    series: int
    x: int | None
    y: float
    relation: str
    text: str


class PlotPanel(msgspec.Struct, frozen=True, kw_only=True):
    """One small multiple. `network` is its index where the panel is of one network, else -1."""

    title: str
    network: int
    points: list[PlotPoint]
    curves: list[Curve]
    published: list[PublishedMark]
    absent: list[int]


class StudyFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A plot ready to draw. `positions` are empty where the axis is one of categories."""

    title: str
    quantity: Quantity
    quantity_words: str
    kind: str
    axis: str
    ticks: list[str]
    positions: list[float]
    x_scale: str
    y_scale: str
    series: list[SeriesMark]
    panels: list[PlotPanel]
    note: str


class Slots(msgspec.Struct, frozen=True):
    """What a figure takes from the page: each system's index and colour, each network's index."""

    systems: dict[str, int]
    colours: dict[str, int]
    networks: dict[str, int]


def study_figures(
    study: Study,
    rows: Sequence[CellRow],
    fits: Sequence[AmplificationFit],
    beside: Sequence[BesidePublished],
    slots: Slots,
) -> list[StudyFigure]:
    """One figure for each plot that has any cell, in the study's order."""
    made = [_figure(plot, rows, fits, beside, slots) for plot in study.plots]
    return [one for one in made if one is not None]


def facet_of(row: CellRow, name: str) -> Scalar:
    """A facet or parameter of a cell, as a plot's `x`, `series`, `panels` and `where` name it."""
    match name:
        case "system":
            return row.system
        case "network":
            return row.network
        case "operation":
            return row.operation
        case "part":
            return ", ".join(row.parts)
        case "rtt_ns":
            return row.network_declared.rtt_ns
        case _:
            return (row.options | row.parameters | declared_client(row)).get(name)


def facet_text(name: str, value: Scalar) -> str:
    """`NFS 4.2`, `reading`, `8 threads`."""
    match name:
        case "system":
            return system_text(str(value))
        case "operation":
            return operation_text(str(value))
        case "network" | "part" | "access":
            return str(value)
        case "rtt_ns":
            return f"RTT {value_text(name, value)}"
        case _:
            return condition_text(name, value)


def is_shown(plot: Plot, row: CellRow) -> bool:
    """Whether the plot is about this cell."""
    if plot.parts and not set(plot.parts) & set(row.parts):
        return False
    return all(_is_one_of(row, name, values) for name, values in plot.where.items())


def _is_one_of(row: CellRow, name: str, values: Sequence[Scalar]) -> bool:
    """A system may be named with or without the options that set it apart."""
    found = facet_of(row, name)
    if found in values:
        return True
    if name == "system":
        return str(found).partition(":")[0] in values
    return name == "network" and row.network_declared.name in values


def _figure(
    plot: Plot,
    rows: Sequence[CellRow],
    fits: Sequence[AmplificationFit],
    beside: Sequence[BesidePublished],
    slots: Slots,
) -> StudyFigure | None:
    chosen = [index for index, row in enumerate(rows) if is_shown(plot, row)]
    if not chosen:
        return None
    values = sorted({_key(facet_of(rows[index], plot.x)) for index in chosen})
    places = {key: place for place, key in enumerate(values)}
    numeric = all(key[0] == 0 for key in values) and plot.kind == "lines"
    named = _telling(plot.series, [rows[index] for index in chosen])
    keys = list(dict.fromkeys(_values_of(rows[index], plot.series) for index in chosen))
    marks = [_mark(place, key, plot.series, named, slots) for place, key in enumerate(keys)]
    panels: dict[tuple[Scalar, ...], list[int]] = {}
    for index in chosen:
        panels.setdefault(_values_of(rows[index], plot.panels), []).append(index)
    layout = _Layout(plot=plot, rows=rows, places=places, keys=keys, slots=slots)
    return StudyFigure(
        title=plot.title,
        quantity=plot.y,
        quantity_words=QUANTITY_WORDS[plot.y],
        kind=plot.kind,
        axis=AXIS_NAMES.get(plot.x, name_text(plot.x)),
        ticks=[_tick(plot.x, key[2]) for key in values],
        positions=[key[1] for key in values] if numeric else [],
        x_scale=plot.x_scale,
        y_scale=plot.y_scale,
        series=_variants(marks),
        panels=[_panel(layout, key, part, fits, beside) for key, part in panels.items()],
        note=_note(plot, rows, beside),
    )


class _Layout(msgspec.Struct, frozen=True, kw_only=True):
    """What the parts of one figure share."""

    plot: Plot
    rows: Sequence[CellRow]
    places: dict[tuple[int, float, str], int]
    keys: list[tuple[Scalar, ...]]
    slots: Slots

    def series_of(self, row: CellRow) -> int:
        return self.keys.index(_values_of(row, self.plot.series))

    def place_of(self, row: CellRow) -> int:
        return self.places[_key(facet_of(row, self.plot.x))]


def _key(value: Scalar) -> tuple[int, float, str]:
    """Sorts numbers by size before words; the words are the value's own."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, float(value), str(value)
    return 1, 0.0, str(value)


def _tick(name: str, text: str) -> str:
    if name in {"system", "operation", "network", "part"}:
        return facet_text(name, text)
    try:
        return value_text(name, float(text))
    except ValueError:
        return text


def _values_of(row: CellRow, names: Sequence[str]) -> tuple[Scalar, ...]:
    return tuple(facet_of(row, name) for name in names)


def _telling(names: Sequence[str], rows: Sequence[CellRow]) -> list[str]:
    """Names that differ among the rows; the first alone where none does."""
    found = [name for name in names if len({facet_of(row, name) for row in rows}) > 1]
    return found or list(names[:1])


def _mark(
    place: int, key: tuple[Scalar, ...], names: Sequence[str], named: Sequence[str], slots: Slots
) -> SeriesMark:
    values = dict(zip(names, key, strict=True))
    system = str(values.get("system", ""))
    return SeriesMark(
        text=", ".join(facet_text(name, values[name]) for name in named),
        colour=slots.colours.get(system, place % 7),
        shape=place % 7,
        system=slots.systems.get(system, -1),
    )


def _variants(marks: Sequence[SeriesMark]) -> list[SeriesMark]:
    seen: Counter[int] = Counter()
    found = []
    for mark in marks:
        found.append(msgspec.structs.replace(mark, variant=min(seen[mark.colour], 3)))
        seen[mark.colour] += 1
    return found


def _panel(
    layout: _Layout,
    key: tuple[Scalar, ...],
    part: Sequence[int],
    fits: Sequence[AmplificationFit],
    beside: Sequence[BesidePublished],
) -> PlotPanel:
    plot, rows = layout.plot, layout.rows
    points, absent = [], []
    for index in part:
        row = rows[index]
        value = value_of(row, plot.y) if row.status == "ok" else None
        if value is None:
            absent.append(index)
            continue
        interval = _interval(row, plot.y)
        points.append(
            PlotPoint(
                layout.series_of(row),
                layout.place_of(row),
                index,
                _short(value),
                _short(interval.low) if interval else None,
                _short(interval.high) if interval else None,
            )
        )
    words = [facet_text(name, value) for name, value in zip(plot.panels, key, strict=True)]
    networks = {rows[index].network for index in part}
    return PlotPanel(
        title=", ".join(words),
        network=layout.slots.networks[networks.pop()] if len(networks) == 1 else -1,
        points=sorted(points, key=lambda one: (one.series, one.x)),
        curves=_curves(layout, part, fits),
        published=_published(layout, part, beside),
        absent=absent,
    )


def _interval(row: CellRow, quantity: Quantity) -> Interval | None:
    if quantity == "throughput_bytes_per_s":
        return row.throughput_interval
    return row.operations_interval if quantity == "operations_per_s" else None


def _short(value: float) -> float:
    return float(f"{value:.9g}")


def _curves(layout: _Layout, part: Sequence[int], fits: Sequence[AmplificationFit]) -> list[Curve]:
    """The fitted model of each series of the panel, and the published one where there is one."""
    plot = layout.plot
    if plot.model is None or plot.x not in {"file_size_bytes", "threads", "unit_bytes"}:
        return []
    by_digest = {layout.rows[index].digest: layout.rows[index] for index in part}
    curves = []
    told: set[float] = set()
    for fit in fits:
        members = [by_digest[digest] for digest in fit.digests if digest in by_digest]
        if fit.model != plot.model or len(members) < len(fit.digests):
            continue
        sizes = {row.parameters.get("file_size_bytes") for row in members}
        size = sizes.pop() if plot.x == "threads" and len(sizes) == 1 else 1
        per_unit = float(size) if isinstance(size, int | float) else 1.0
        xs = _spread([float(facet_of(row, plot.x) or 0) for row in members])
        curves.append(
            Curve(
                series=layout.series_of(members[0]),
                text=f"fitted: {kib_text(fit.constant_bytes)}",
                points=[(x, _short(fit.ratio_at(x * per_unit))) for x in xs],
            )
        )
        for one in fit.published:
            if one.low_bytes in told:
                continue
            told.add(one.low_bytes)
            curves.append(
                Curve(
                    series=-1,
                    text=f"published: {kib_text(one.low_bytes)} ({one.source})",
                    points=[(x, _short(1 + one.low_bytes / (x * per_unit))) for x in xs],
                )
            )
    return curves


def _spread(values: Sequence[float]) -> list[float]:
    return [_short(x) for x in np.geomspace(min(values), max(values), CURVE_POINTS).tolist()]


def _published(
    layout: _Layout, part: Sequence[int], beside: Sequence[BesidePublished]
) -> list[PublishedMark]:
    rows = [layout.rows[index] for index in part]
    marks = []
    for one in beside:
        if one.published.quantity != layout.plot.y:
            continue
        about = [row for row in rows if row.digest in set(one.digests)]
        if not about:
            continue
        series = {layout.series_of(row) for row in about}
        places = {layout.place_of(row) for row in about}
        marks.append(
            PublishedMark(
                series=series.pop() if len(series) == 1 else -1,
                x=places.pop() if len(places) == 1 else None,
                y=one.published.value,
                relation=one.published.relation,
                text=published_text(one),
            )
        )
    return marks


def published_text(one: BesidePublished) -> str:
    """`published: below 4 MiB/s (H14 4.6.2)`."""
    found = one.published
    relation = "" if found.relation == "equal" else f"{found.relation} "
    source = f"{found.source.paper} {found.source.place}"
    return f"published: {relation}{significant(found.printed)} {found.unit} ({source})"


def _note(plot: Plot, rows: Sequence[CellRow], beside: Sequence[BesidePublished]) -> str:
    """What the reader must know of the marks."""
    shown = [row for row in rows if is_shown(plot, row)]
    repeats = max(row.repeats for row in shown)
    notes = [f"median of up to {repeats} repeats" if repeats > 1 else "one run per cell"]
    if any(row.steady is False for row in shown):
        notes.append("hollow: too short for a steady state")
    digests = {row.digest for row in shown}
    if any(one.published.quantity == plot.y and digests & {*one.digests} for one in beside):
        notes.append("crosses: published")
    if plot.model is not None:
        notes.append("thin lines: the model fitted; dotted: as published")
    return "; ".join(notes)
