"""Repeats that stand far off the others: named, shown, and kept in every number.

Iglewicz and Hoaglin's modified z-score: 0.6745 |x - median| / MAD above 3.5. Where more than half
of the values are equal MAD is 0, and the mean absolute deviation serves (times 1.2533). Fewer
than five values cannot tell which of them is odd.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from wavetank.analysis.rows import TrialOutcome

LEAST_VALUES = 5
FAR_OFF = 3.5
_MAD_TO_SIGMA, _MEAN_TO_SIGMA = 1 / 0.6745, 1.253314
# Rounding apart, equal values are equal: this share of the median.
_NEGLIGIBLE = 1e-3


def far_off(values: Sequence[float]) -> list[bool]:
    """For each value whether it is an outlier among them."""
    if len(values) < LEAST_VALUES:
        return [False] * len(values)
    sample = np.asarray(values, dtype=np.float64)
    middle = float(np.median(sample))
    away = np.abs(sample - middle)
    sigma = float(np.median(away)) * _MAD_TO_SIGMA or float(away.mean()) * _MEAN_TO_SIGMA
    if not sigma:
        return [False] * len(values)
    return [
        bool(one / sigma > FAR_OFF and one > _NEGLIGIBLE * abs(middle)) for one in away.tolist()
    ]


def with_outliers(outcomes: Sequence[TrialOutcome]) -> list[TrialOutcome]:
    """The same outcomes, those with a rate far off the others' marked."""
    rated = [index for index, one in enumerate(outcomes) if one.operations_per_s is not None]
    marks = dict(
        zip(
            rated,
            far_off([outcomes[index].operations_per_s or 0.0 for index in rated]),
            strict=True,
        )
    )
    return [
        msgspec.structs.replace(one, outlier=True) if marks.get(index) else one
        for index, one in enumerate(outcomes)
    ]
