"""Claims about how a measured network is judged: what chance may do, and what it may not."""

from __future__ import annotations

import math

import pytest

from wavetank.lab.guest.verify import CHANCE, LOSSES_WANTED, chance_of_count


@pytest.mark.parametrize("count", range(12))
def test_chance_is_that_of_poissons_law(count: int) -> None:
    mean = 5.0
    exact = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(100)]
    side = exact[: count + 1] if count < mean else exact[count:]
    assert chance_of_count(count, mean) == pytest.approx(sum(side))


def test_where_nothing_may_be_lost_one_loss_is_no_chance() -> None:
    assert chance_of_count(0, 0.0) == 1.0
    assert chance_of_count(1, 0.0) == 0.0


def test_a_path_that_loses_nothing_is_told_from_a_lossy_one() -> None:
    assert chance_of_count(0, LOSSES_WANTED) < CHANCE


@pytest.mark.parametrize("mean", [1.0, 16.0, 4000.0])
def test_what_chance_often_does_is_let_pass(mean: float) -> None:
    for deviations in (-3, -1, 0, 1, 3):
        count = max(0.0, mean + deviations * math.sqrt(mean))
        assert chance_of_count(count, mean) > CHANCE


@pytest.mark.parametrize("mean", [16.0, 4000.0])
def test_twice_the_loss_or_none_is_let_pass_by_no_chance_where_enough_is_seen(mean: float) -> None:
    assert chance_of_count(0.0, mean) < CHANCE
    assert chance_of_count(mean + 6.5 * math.sqrt(mean), mean) < CHANCE


def test_parts_of_a_count_are_rounded_towards_the_mean() -> None:
    assert chance_of_count(3.2, 10.0) == chance_of_count(4, 10.0)
    assert chance_of_count(17.9, 10.0) == chance_of_count(17, 10.0)
