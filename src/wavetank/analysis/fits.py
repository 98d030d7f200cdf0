"""Straight lines by weighted least squares, with Student's 95 % intervals of both coefficients.

The residuals' own scatter gives the interval, so two points have a line and no interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from wavetank.analysis.intervals import Interval

# 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom; beyond, the normal's.
_STUDENT_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.960


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """y = intercept + slope x. Intervals are None where the points leave no scatter to see."""

    slope: float
    intercept: float
    slope_interval: Interval | None
    intercept_interval: Interval | None
    points: int

    def at(self, x: float) -> float:
        return self.intercept + self.slope * x


def fit_line(
    xs: Sequence[float], ys: Sequence[float], weights: Sequence[float] | None = None
) -> Line | None:
    """The line of least sum of squares of weight times residual; None for fewer than two
    different x.
    """
    if len(set(xs)) < 2:
        return None
    x, y = np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64)
    weight = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    # Columns of like size keep the matrix well-conditioned: 1/s spans four decades.
    scale = float(np.abs(x).max())
    design = np.column_stack([np.ones_like(x), x / scale]) * weight[:, None]
    (intercept, slope), *_ = np.linalg.lstsq(design, y * weight, rcond=None)
    freedom = len(x) - 2
    intervals: list[Interval | None] = [None, None]
    if freedom > 0:
        residuals = y * weight - design @ np.array([intercept, slope])
        covariance = np.linalg.inv(design.T @ design) * float(residuals @ residuals) / freedom
        reach = _student_t(freedom) * np.sqrt(np.diag(covariance))
        intervals = [
            Interval(float(intercept - reach[0]), float(intercept + reach[0])),
            Interval(float((slope - reach[1]) / scale), float((slope + reach[1]) / scale)),
        ]
    return Line(
        slope=float(slope / scale),
        intercept=float(intercept),
        slope_interval=intervals[1],
        intercept_interval=intervals[0],
        points=len(x),
    )


def _student_t(freedom: int) -> float:
    return _STUDENT_T[freedom - 1] if freedom <= len(_STUDENT_T) else _NORMAL
