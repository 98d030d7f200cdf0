"""Pure functions from the records of a run to rows, comparisons and verdicts: no I/O, no clock,
no randomness of its own. docs/method/statistics.md says how and why.

The face: `analyse`, and the records it returns.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from wavetank.analysis.comparisons import Comparison, Standing, compare
from wavetank.analysis.errors import AnalysisError
from wavetank.analysis.intervals import Interval, Ratio
from wavetank.analysis.joining import build_rows
from wavetank.analysis.rows import CellRow, TrialOutcome
from wavetank.analysis.studies import StudyAnalysis, analyse_study
from wavetank.analysis.verdicts import NetworkVerdict, network_verdicts, sentence
from wavetank.runs.records import Plan, TrialRecord, WallRecord

BOOTSTRAP_SEED = 20140601
"""Any constant will do: a report rebuilt from the same run must say the same."""


class Analysis(msgspec.Struct, frozen=True):
    """What a run comes to: rows in the plan's order, comparisons, verdicts by network; findings,
    fits, policies and published values where the plan is a study's.
    """

    rows: list[CellRow]
    comparisons: list[Comparison]
    networks: list[NetworkVerdict]
    study: StudyAnalysis | None = None


def analyse(
    plan: Plan,
    trials: Sequence[TrialRecord],
    walls: Sequence[WallRecord],
    rng: np.random.Generator | None = None,
) -> Analysis:
    """Rows, comparisons and verdicts of one run. Raises `AnalysisError` for damaged records."""
    generator = np.random.default_rng(BOOTSTRAP_SEED) if rng is None else rng
    rows = build_rows(plan, trials, walls, generator)
    comparisons = compare(rows, generator)
    study = None if plan.study is None else analyse_study(plan.study, rows)
    return Analysis(rows, comparisons, network_verdicts(comparisons), study)


__all__ = [
    "Analysis",
    "AnalysisError",
    "CellRow",
    "Comparison",
    "Interval",
    "NetworkVerdict",
    "Ratio",
    "Standing",
    "StudyAnalysis",
    "TrialOutcome",
    "analyse",
    "build_rows",
    "compare",
    "network_verdicts",
    "sentence",
]
