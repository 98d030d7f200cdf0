"""What the page's own script draws from: rows as columns, systems with their marks, networks with
their limits, and the layout of the figures. Compact, because thousands of cells are embedded.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from wavetank.analysis.facets import conditions, varying
from wavetank.analysis.link import payload_limit_bytes_per_s
from wavetank.analysis.rows import CellRow, TrialOutcome
from wavetank.analysis.studies import StudyAnalysis
from wavetank.analysis.wording import name_text, network_text, system_text, value_text
from wavetank.report.figures import Section, sections_of
from wavetank.report.study_figures import Slots, StudyFigure, study_figures
from wavetank.study.study import Study

Number = float | int | None


class TrialLine(msgspec.Struct, frozen=True, array_like=True):
    """One trial as the page tells it. `rtt_ns`, `lost` and `rate` are of the network as measured
    before it; `told` is why it has no number, or no steady state.
    """

    seed: int
    repeat: int
    status: str
    throughput: Number
    operations: Number
    guest: str | None
    outlier: bool
    told: str | None
    rtt_ns: Number
    lost: Number
    rate_bit_per_s: Number


SERIES_SLOTS = 14
"""Seven colours, each with two shapes."""

BASELINE_SLOT = -1


class SystemMark(msgspec.Struct, frozen=True):
    """A system's name in words and its colour and shape, the same in every figure."""

    label: str
    text: str
    slot: int


class NetworkFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What figures say of a network: its words, payload limit and median measured RTT."""

    label: str
    text: str
    limit_bytes_per_s: float | None
    rtt_ns: float | None


class PageData(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the script needs. `columns` hold one value per row, in the rows' order."""

    systems: list[SystemMark]
    networks: list[NetworkFacts]
    condition_names: list[str]
    conditions: list[list[str]]
    columns: dict[str, list[object]]
    trials: list[list[TrialLine]]
    sections: list[Section]
    plots: list[StudyFigure]


_PLAIN_COLUMNS = (
    "workload",
    "operation",
    "clock",
    "status",
    "reason",
    "operations",
    "operations_per_s",
    "throughput_bytes_per_s",
    "latency_ns_p50",
    "latency_ns_p90",
    "latency_ns_p99",
    "latency_ns_p999",
    "latency_ns_max",
    "elapsed_s",
    "link_bytes",
    "link_packets",
    "requests",
    "dropped_packets",
    "retransmitted_packets",
    "amplification",
    "round_trips_p50",
    "link_utilisation",
    "failed_operations",
    "steady",
    "steady_reason",
    "simulated_s",
    "wall_s",
    "digest",
    "seed",
    "repeats",
    "repeats_ok",
)


def page_data(
    rows: Sequence[CellRow], study: Study | None = None, found: StudyAnalysis | None = None
) -> PageData:
    """The data of one report; with a study, the figures that it asks for."""
    marks = system_marks(rows)
    systems = {mark.label: index for index, mark in enumerate(marks)}
    networks = network_facts(rows)
    network_index = {one.label: index for index, one in enumerate(networks)}
    names = varying(rows)
    columns: dict[str, list[object]] = {
        name: [_short(getattr(row, name)) for row in rows] for name in _PLAIN_COLUMNS
    }
    columns["system"] = [systems[row.system] for row in rows]
    columns["network"] = [network_index[row.network] for row in rows]
    for name, field in (
        ("throughput", "throughput_interval"),
        ("operations", "operations_interval"),
    ):
        intervals = [getattr(row, field) for row in rows]
        columns[f"{name}_low"] = [_short(one.low) if one else None for one in intervals]
        columns[f"{name}_high"] = [_short(one.high) if one else None for one in intervals]
    return PageData(
        systems=marks,
        networks=networks,
        condition_names=[name_text(name) for name in names],
        conditions=[
            [value_text(name, found.get(name)) for name in names]
            for found in (conditions(row) for row in rows)
        ],
        columns=columns,
        trials=[[_trial_line(trial) for trial in row.trials] for row in rows],
        sections=sections_of(rows),
        plots=[]
        if study is None or found is None
        else study_figures(
            study,
            rows,
            found.fits,
            found.published,
            Slots(systems, {mark.label: mark.slot for mark in marks}, network_index),
        ),
    )


def system_marks(rows: Sequence[CellRow]) -> list[SystemMark]:
    """Every system in row order; contenders take slots in turn, the baseline its own."""
    marks: dict[str, SystemMark] = {}
    contenders = 0
    for row in rows:
        if row.system in marks:
            continue
        slot = BASELINE_SLOT if row.baseline else contenders % SERIES_SLOTS
        contenders += not row.baseline
        marks[row.system] = SystemMark(row.system, system_text(row.system), slot)
    return list(marks.values())


def network_facts(rows: Sequence[CellRow]) -> list[NetworkFacts]:
    """Every network in row order."""
    by_label: dict[str, list[CellRow]] = {}
    for row in rows:
        by_label.setdefault(row.network, []).append(row)
    return [_facts(label, members) for label, members in by_label.items()]


def _facts(label: str, members: Sequence[CellRow]) -> NetworkFacts:
    declared = members[0].network_declared
    measured = [row.network_measured.rtt_ns_median for row in members if row.network_measured]
    return NetworkFacts(
        label=label,
        text=network_text(declared),
        limit_bytes_per_s=payload_limit_bytes_per_s(declared),
        rtt_ns=median(measured) if measured and declared.rtt_ns else None,
    )


def _short(value: object) -> object:
    """Nine significant digits are more than any measurement here holds."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _trial_line(trial: TrialOutcome) -> TrialLine:
    measured = trial.network_measured
    ways = [measured.to_server, measured.to_client] if measured else []
    sent = sum(way.packets_sent for way in ways)
    lost = sum(way.loss_probability * way.packets_sent for way in ways)
    rates = [way.rate_bit_per_s for way in ways if way.rate_bit_per_s is not None]
    return TrialLine(
        trial.seed,
        trial.repeat,
        trial.status,
        _rounded(trial.throughput_bytes_per_s),
        _rounded(trial.operations_per_s),
        trial.guest,
        trial.outlier,
        trial.reason or trial.steady_reason,
        round(measured.rtt_ns_median) if measured else None,
        _rounded(lost / sent) if sent else None,
        round(min(rates)) if rates else None,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.9g}")
