"""What can be wrong with records that are to be analysed."""

from __future__ import annotations

from wavetank.errors import ExitCode, WavetankError


class AnalysisError(WavetankError):
    """Records that can't be turned into numbers, or must not be compared."""


class UnreadableHistogramError(AnalysisError):
    """A latency histogram is not HdrHistogram's V2 compressed form."""


class UnlikeHistogramsError(AnalysisError):
    """Histograms of different precision or unit can't be merged without losing counts."""

    exit_code = ExitCode.INCONCLUSIVE


class UnlikeEnvironmentsError(AnalysisError):
    """Two runs whose kernels, programs, engines or clocks differ are not compared unless forced."""

    exit_code = ExitCode.INCONCLUSIVE


class NothingToCompareError(AnalysisError):
    """Two runs have no cell in common."""

    exit_code = ExitCode.INCONCLUSIVE


class UnknownClaimError(AnalysisError):
    """A study names a claim that nobody wrote down."""

    exit_code = ExitCode.USAGE
