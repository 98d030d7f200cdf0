"""Bootstrap intervals: repeatable, honest about one repeat, and paired where seeds are shared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavetank.analysis.intervals import median_interval, median_ratio

RATES = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=12)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@given(RATES)
def test_the_interval_lies_within_the_sample_and_holds_the_median(rates: list[float]) -> None:
    interval = median_interval(rates, rng())
    assert interval is not None
    assert min(rates) <= interval.low <= np.median(rates) <= interval.high <= max(rates)


def test_one_repeat_has_no_interval() -> None:
    assert median_interval([3.0], rng()) is None
    assert median_ratio({(1, 0): 3.0}, {(1, 0): 2.0}, rng()).interval is None


def test_the_same_generator_gives_the_same_interval() -> None:
    rates = [1.0, 2.0, 4.0, 8.0, 9.0]
    assert median_interval(rates, rng()) == median_interval(rates, rng())


def test_the_interval_covers_the_true_median_about_as_often_as_it_claims() -> None:
    source = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        interval = median_interval(source.normal(10, 2, 15).tolist(), source)
        assert interval is not None
        covered += interval.spans(10)
    assert covered >= 176


def test_what_both_systems_suffered_alike_cancels_when_seeds_are_shared() -> None:
    luck = {(seed, seed): value for seed, value in enumerate([1.0, 1.9, 0.6, 1.4, 0.8, 1.1])}
    ahead = {key: 2.0 * value for key, value in luck.items()}
    paired = median_ratio(ahead, luck, rng())
    strangers = {(seed + 100, index): value for (seed, index), value in luck.items()}
    unpaired = median_ratio(ahead, strangers, rng())
    assert paired.paired
    assert not unpaired.paired
    assert paired.interval is not None
    assert unpaired.interval is not None
    assert (paired.interval.low, paired.interval.high) == pytest.approx((2.0, 2.0))
    assert unpaired.interval.high - unpaired.interval.low > 0.5


@given(RATES, st.floats(0.1, 10))
def test_the_ratio_is_that_of_the_medians(rates: list[float], factor: float) -> None:
    below = {(seed, seed): rate for seed, rate in enumerate(rates)}
    above = {key: rate * factor for key, rate in below.items()}
    assert median_ratio(above, below, rng()).ratio == pytest.approx(factor)
