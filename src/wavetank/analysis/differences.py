"""Differences between two runs, cell by cell: what the later one's rate is of the earlier one's.

Cells are the same when they ask for the same in everything but the seed. Runs of unlike
environments refuse, because a difference would not be the systems'; forced, the result says what
was unlike. `Past the threshold` needs both: a ratio beyond it, and an interval that leaves out 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from wavetank.analysis.errors import NothingToCompareError, UnlikeEnvironmentsError
from wavetank.analysis.facets import Conditions, conditions, varying
from wavetank.analysis.intervals import Ratio, median_ratio
from wavetank.analysis.joining import build_rows, row_keys
from wavetank.analysis.labels import label_cells
from wavetank.analysis.rows import THROUGHPUT, CellRow, Metric
from wavetank.analysis.wording import listed
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment
from wavetank.study.model import Clock

DEFAULT_THRESHOLD = 0.05
BOOTSTRAP_SEED = 20140601

DifferenceVerdict = Literal["slower", "faster", "unsure", "level", "lost", "gained", "no numbers"]
"""`unsure`: beyond the threshold, but the interval holds 1. `lost`: only the earlier run has a
number; `gained`: only the later one."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One cell in both runs. `ratio` is later over earlier, None where either has no number."""

    system: str
    network: str
    workload: str
    operation: str
    clock: Clock
    conditions: Conditions
    metric: Metric
    before: float | None
    after: float | None
    ratio: Ratio | None
    verdict: DifferenceVerdict
    repeats: tuple[int, int]
    digests: tuple[str, str]
    reason: str


class RunDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs compared. `unlike` is empty unless the comparison was forced; `only_before` and
    `only_after` count cells that the other run did not plan; `told` is what differs harmlessly.
    """

    before: str
    after: str
    threshold: float
    unlike: list[str]
    told: list[str]
    varying: list[str]
    differences: list[Difference]
    only_before: int
    only_after: int

    @property
    def changed(self) -> list[Difference]:
        """Those past the threshold, and cells that lost their number."""
        return [one for one in self.differences if one.verdict in {"slower", "faster", "lost"}]

    @property
    def unsure(self) -> list[Difference]:
        return [one for one in self.differences if one.verdict == "unsure"]


def difference(
    before: Run,
    after: Run,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    force: bool = False,
    rng: np.random.Generator | None = None,
) -> RunDifference:
    """Compares two runs; `threshold` 0.05 is 5 % either way.

    Raises `UnlikeEnvironmentsError` unless `force`d, `NothingToCompareError` where the runs have
    no cell in common, `AnalysisError` for damaged records.
    """
    generator = np.random.default_rng(BOOTSTRAP_SEED) if rng is None else rng
    unlike = unlike_environments(before, after)
    if unlike and not force:
        raise UnlikeEnvironmentsError(
            f"{before.path} and {after.path} were not made in the same environment: "
            f"{'; '.join(unlike)}. Try: measure both again in one, or --force, which says so in "
            "the result."
        )
    # Clocks are mixed only where nothing else could be compared, and only when forced.
    ignore_clock = force and not (_clocks(before) & _clocks(after))
    earlier, later = _rows_by_key(before, after, ignore_clock, generator)
    common = [key for key in earlier if key in later]
    if not common:
        raise NothingToCompareError(
            f"{before.path} and {after.path} have no cell in common: they ask for different "
            "systems, networks, workloads or settings. Try: wavetank report on each."
        )
    return RunDifference(
        before=str(before.path),
        after=str(after.path),
        threshold=threshold,
        unlike=unlike,
        told=_told(before.environment, after.environment),
        varying=varying([earlier[key] for key in common]),
        differences=[_difference(earlier[key], later[key], threshold, generator) for key in common],
        only_before=len(earlier) - len(common),
        only_after=len(later) - len(common),
    )


def unlike_environments(before: Run, after: Run) -> list[str]:
    """What makes two runs unlike, in words; empty where a difference is the systems' own.

    The host counts under the real clock alone: under the virtual one the CPU is free.
    """
    one, other = before.environment, after.environment
    found = [
        f"{name} {old} and {new}"
        for name, old, new in (
            ("kernel digest", one.kernel_digest, other.kernel_digest),
            ("load engine", one.engine_version, other.engine_version),
        )
        if old != new
    ]
    found += _unlike_entries(one.versions, other.versions)
    clocks = _clocks(before), _clocks(after)
    if clocks[0] != clocks[1]:
        found.append(f"clock {listed(sorted(clocks[0]))} and {listed(sorted(clocks[1]))}")
    if "real" in clocks[0] | clocks[1]:
        found += [f"host {words}" for words in _unlike_entries(one.host, other.host)]
    return found


def _unlike_entries(one: dict[str, str], other: dict[str, str]) -> list[str]:
    names = sorted(one.keys() | other.keys())
    pairs = [(name, one.get(name, "none"), other.get(name, "none")) for name in names]
    return [f"{name} {old} and {new}" for name, old, new in pairs if old != new]


def _told(one: Environment, other: Environment) -> list[str]:
    """What differs and cannot change a number by itself: the settings are in the cells."""
    pairs = (
        ("Wavetank", one.wavetank_version, other.wavetank_version),
        ("isolation", one.isolation, other.isolation),
    )
    return [f"{name} {old} and {new}" for name, old, new in pairs if old != new]


def _clocks(run: Run) -> set[Clock]:
    return {planned.cell.clock for planned in run.plan.trials}


def _rows_by_key(
    before: Run, after: Run, ignore_clock: bool, rng: np.random.Generator
) -> tuple[dict[bytes, CellRow], dict[bytes, CellRow]]:
    """Rows by what their cell asks for, under names that fit both runs."""
    labels = label_cells(planned.cell for run in (before, after) for planned in run.plan.trials)
    earlier, later = (
        dict(
            zip(
                row_keys(run.plan, ignore_clock=ignore_clock),
                build_rows(run.plan, run.trials, run.walls, rng, labels),
                strict=True,
            )
        )
        for run in (before, after)
    )
    return earlier, later


def _difference(
    before: CellRow, after: CellRow, threshold: float, rng: np.random.Generator
) -> Difference:
    metric = _metric([row for row in (before, after) if row.status == "ok"])
    ratio = None
    if before.status == "ok" and after.status == "ok":
        # Under the real clock a seed fixes the work, not what happened meanwhile: no pairs.
        ratio = median_ratio(
            after.rate_by_repeat(metric),
            before.rate_by_repeat(metric),
            rng,
            may_pair=before.clock == after.clock == "virtual",
        )
    return Difference(
        system=before.system,
        network=before.network,
        workload=before.workload,
        operation=before.operation or after.operation,
        clock=after.clock,
        conditions=conditions(before),
        metric=metric,
        before=before.rate(metric),
        after=after.rate(metric),
        ratio=ratio,
        verdict=_verdict(before, after, ratio, threshold),
        repeats=(before.repeats_ok, after.repeats_ok),
        digests=(before.digest, after.digest),
        reason="; ".join(_reasons(before, after)),
    )


def _metric(rows: Sequence[CellRow]) -> Metric:
    if any(row.metric != THROUGHPUT for row in rows):
        return "operations_per_s"
    return THROUGHPUT


def _verdict(
    before: CellRow, after: CellRow, ratio: Ratio | None, threshold: float
) -> DifferenceVerdict:
    if ratio is None:
        if before.status == "ok":
            return "lost"
        return "gained" if after.status == "ok" else "no numbers"
    if 1 - threshold <= ratio.ratio <= 1 + threshold:
        return "level"
    if ratio.interval is not None and ratio.interval.spans(1.0):
        return "unsure"
    return "faster" if ratio.ratio > 1 else "slower"


def _reasons(before: CellRow, after: CellRow) -> list[str]:
    """Why there is no number, or why it rests on less than was planned."""
    return [
        f"{when}: {row.status if row.status != 'ok' else 'partly'}, {row.reason}"
        for when, row in (("before", before), ("after", after))
        if row.reason is not None
    ]
