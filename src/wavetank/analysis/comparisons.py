"""Comparisons: on one network, under the same conditions and clock, which system wins, by what
factor and how surely.

Rows of one call come from one environment. Rows of different clocks never meet: the clock is part
of what a comparison shares. The local disk is a baseline that no network touches: it is told, not
ranked, unless nothing else was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from wavetank.analysis.evidence import caution_about, evidence_of
from wavetank.analysis.facets import Conditions, comparison_key, conditions, varying
from wavetank.analysis.intervals import Interval, Ratio, median_ratio
from wavetank.analysis.rows import THROUGHPUT, CellRow, Metric
from wavetank.study.model import Clock

Outcome = Literal["wins", "level", "alone", "none"]

LEVEL_WITHIN = 1.05
"""A factor below this is called level, whatever the interval says."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's place. `behind`: the best contender's rate over this one's; None for the
    best itself.
    """

    system: str
    digest: str
    value: float
    interval: Interval | None
    behind: Ratio | None
    level_with_best: bool


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Contenders in order, best first; `baselines` beside them; `unusable` by system and why.

    `winner` is None unless the outcome is `wins` or `alone`. `factor` is over the best one
    that is not level with the winner.
    """

    network: str
    clock: Clock
    workload: str
    operation: str
    conditions: Conditions
    varying: list[str]
    metric: Metric
    outcome: Outcome
    winner: str | None
    factor: float | None
    factor_interval: Interval | None
    standings: list[Standing]
    baselines: list[Standing]
    unusable: dict[str, str]
    evidence: list[str]
    caution: str


def compare(rows: Sequence[CellRow], rng: np.random.Generator) -> list[Comparison]:
    """One comparison for each network, workload, operation and set of conditions, in row order."""
    groups: dict[tuple[object, ...], list[CellRow]] = {}
    for row in rows:
        groups.setdefault(comparison_key(row), []).append(row)
    varied = {
        workload: varying([row for row in rows if row.workload == workload])
        for workload in {row.workload for row in rows}
    }
    return [_compare_group(group, varied[group[0].workload], rng) for group in groups.values()]


def _compare_group(
    group: Sequence[CellRow], varied: Sequence[str], rng: np.random.Generator
) -> Comparison:
    usable = [row for row in group if row.status == "ok"]
    metric: Metric = THROUGHPUT
    if any(row.metric != THROUGHPUT for row in usable):
        metric = "operations_per_s"
    contenders = [row for row in usable if not row.baseline]
    only_baseline = all(row.baseline for row in group)
    ranked = _rank(usable if only_baseline else contenders, metric, rng)
    outcome = _outcome(ranked)
    beaten = next((one for one in ranked if not one.level_with_best), None)
    first = group[0]
    return Comparison(
        network=first.network,
        clock=first.clock,
        workload=first.workload,
        operation=first.operation,
        conditions=conditions(first),
        varying=list(varied),
        metric=metric,
        outcome=outcome,
        winner=ranked[0].system if outcome in {"wins", "alone"} else None,
        factor=beaten.behind.ratio if beaten and beaten.behind else None,
        factor_interval=beaten.behind.interval if beaten and beaten.behind else None,
        standings=ranked,
        baselines=[] if only_baseline else _rank([r for r in usable if r.baseline], metric, rng),
        unusable={
            row.system: f"{row.status}: {row.reason or 'no reason given'}"
            for row in group
            if row.status != "ok"
        },
        evidence=evidence_of(contenders, metric),
        caution=caution_about(contenders),
    )


def _rank(rows: Sequence[CellRow], metric: Metric, rng: np.random.Generator) -> list[Standing]:
    rated = [(rate, row) for row in rows if (rate := row.rate(metric)) is not None]
    rated.sort(key=lambda pair: -pair[0])
    standings = []
    for place, (rate, row) in enumerate(rated):
        best = rated[0][1]
        behind = None
        if place:
            behind = median_ratio(best.rate_by_repeat(metric), row.rate_by_repeat(metric), rng)
        standings.append(
            Standing(
                system=row.system,
                digest=row.digest,
                value=rate,
                interval=row.interval(metric),
                behind=behind,
                level_with_best=behind is None or _is_level(behind),
            )
        )
    return standings


def _is_level(behind: Ratio) -> bool:
    if behind.ratio < LEVEL_WITHIN:
        return True
    return behind.interval is not None and behind.interval.spans(1.0)


def _outcome(ranked: Sequence[Standing]) -> Outcome:
    if not ranked:
        return "none"
    if len(ranked) == 1:
        return "alone"
    return "level" if ranked[1].level_with_best else "wins"
