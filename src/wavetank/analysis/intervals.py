"""Medians and their bootstrap intervals, of one sample and of the ratio of two.

Percentile bootstrap (Efron and Tibshirani 1993, ch. 13). With n repeats no method can cover the
median more often than 1 - 2^(1-n): three repeats give at most 75 %, six 97 %. The generator is
the caller's, so that a report rebuilt from the same run says the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

RESAMPLES = 2000
CONFIDENCE = 0.95

Values = np.ndarray[Any, np.dtype[np.float64]]
Picks = np.ndarray[Any, np.dtype[np.int64]]

Repeat = tuple[int, int]
"""Seed and index of a repeat."""


class Interval(msgspec.Struct, frozen=True):
    """A 95 % interval; both ends belong to it."""

    low: float
    high: float

    def spans(self, value: float) -> bool:
        return self.low <= value <= self.high


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """Median over median. `interval` is None where either side has one repeat only."""

    ratio: float
    interval: Interval | None
    paired: bool


def median_interval(values: Sequence[float], rng: np.random.Generator) -> Interval | None:
    """Interval of the median of `values`, or None for fewer than two."""
    if len(values) < 2:
        return None
    sample = np.asarray(values, dtype=np.float64)
    picks = rng.integers(0, len(sample), size=(RESAMPLES, len(sample)))
    return _percentile_interval(np.median(sample[picks], axis=1).tolist())


def median_ratio(
    numerator: Mapping[Repeat, float],
    denominator: Mapping[Repeat, float],
    rng: np.random.Generator,
    *,
    may_pair: bool = True,
) -> Ratio:
    """Ratio of medians of two samples keyed by repeat, all values positive, none empty.

    Paired where seeds are shared: a resample then draws seeds, not values, and what the network
    did to both alike (the same losses at the same time) cancels. A seed that only one side has (a
    void repeat on the other) is drawn for that side alone.
    """
    ratio = float(np.median([*numerator.values()]) / np.median([*denominator.values()]))
    shared = numerator.keys() & denominator.keys()
    paired = may_pair and len(shared) > 0
    if len(numerator) < 2 or len(denominator) < 2:
        return Ratio(ratio=ratio, interval=None, paired=paired)
    if paired:
        drawn = sorted(numerator.keys() | denominator.keys())
        picks = rng.integers(0, len(drawn), size=(RESAMPLES, len(drawn)))
        above, below = (_values_at(one, drawn, picks) for one in (numerator, denominator))
    else:
        above, below = (_resampled(list(one.values()), rng) for one in (numerator, denominator))
    with np.errstate(invalid="ignore"):
        ratios = _medians(above) / _medians(below)
    ratios = ratios[np.isfinite(ratios)]
    return Ratio(ratio=ratio, interval=_percentile_interval(ratios.tolist()), paired=paired)


def _values_at(one: Mapping[Repeat, float], drawn: Sequence[Repeat], picks: Picks) -> Values:
    """The values of the drawn repeats, NaN where this side has none."""
    values = np.asarray([one.get(repeat, np.nan) for repeat in drawn])
    return np.asarray(values[picks])


def _resampled(values: Sequence[float], rng: np.random.Generator) -> Values:
    sample = np.asarray(values)
    return np.asarray(sample[rng.integers(0, len(sample), size=(RESAMPLES, len(sample)))])


def _medians(samples: Values) -> Values:
    """Of each row; NaN for a row without any value."""
    found = np.full(len(samples), np.nan)
    some = ~np.isnan(samples).all(axis=1)
    found[some] = np.nanmedian(samples[some], axis=1)
    return found


def _percentile_interval(estimates: Sequence[float]) -> Interval:
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(np.asarray(estimates), [tail, 100 - tail])
    return Interval(float(low), float(high))
