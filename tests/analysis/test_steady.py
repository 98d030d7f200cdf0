"""Steady throughput: warm-up and tail are left out, and what never settles says so."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import MS, phase

from wavetank.analysis.steady import mser_truncation, steady_rate
from wavetank.runs.records import PhaseRecord, Series


def phase_of(bins: list[int], bin_ns: int = 10 * MS, busy_bins: int | None = None) -> PhaseRecord:
    made = phase([1_000_000.0], [2_000_000.0], "read", 4096)
    count = sum(bins)
    primary = msgspec.structs.replace(made.operations[0], count=count, bytes=count * 4096)
    return msgspec.structs.replace(
        made,
        elapsed_ns=len(bins) * bin_ns,
        busy_until_ns=(len(bins) if busy_bins is None else busy_bins) * bin_ns,
        operations=[primary],
        series=Series(bin_ns=bin_ns, operations=bins, bytes=[one * 4096 for one in bins]),
    )


def test_a_slow_start_is_left_out() -> None:
    rate = steady_rate(phase_of([1] * 20 + [10, 11] * 90))
    assert rate.steady
    assert rate.start_ns == 20 * 10 * MS
    assert rate.operations_per_s == pytest.approx(1050, rel=0.001)


def test_the_tail_after_the_first_idle_worker_is_left_out() -> None:
    rate = steady_rate(phase_of([10] * 100 + [2] * 60, busy_bins=100))
    assert rate.steady
    assert rate.end_ns == 100 * 10 * MS
    assert rate.operations_per_s == pytest.approx(1000)


def test_the_bin_in_which_work_ran_out_is_not_counted() -> None:
    made = phase_of([10] * 100)
    made = msgspec.structs.replace(made, busy_until_ns=made.busy_until_ns - 1)
    assert steady_rate(made).end_ns == 99 * 10 * MS


@pytest.mark.parametrize("cut", range(0, 26, 5))
def test_a_regular_rate_does_not_depend_on_where_the_clock_cut_it(cut: int) -> None:
    every = [0] * 25 + [1]
    rate = steady_rate(phase_of(every * 48 + [0] * cut))
    assert rate.steady
    assert rate.operations_per_s == pytest.approx(1e9 / (26 * 10 * MS))


@pytest.mark.parametrize("cut", range(0, 26, 5))
def test_bunches_do_not_count_for_more_than_they_took(cut: int) -> None:
    rate = steady_rate(phase_of(([0] * 24 + [3, 5]) * 15 + [0] * cut))
    assert rate.steady
    assert rate.operations_per_s == pytest.approx(8e9 / (26 * 10 * MS), rel=0.02)


def test_a_stall_at_the_end_counts() -> None:
    bins = [1, 0] * 400
    stalled = steady_rate(phase_of([*bins, *[0] * 60]))
    assert stalled.steady
    assert stalled.operations_per_s == pytest.approx(400 / 860 * 100, rel=0.01)


def test_bytes_are_rated_over_the_same_window() -> None:
    rate = steady_rate(phase_of([1] * 20 + [10] * 180))
    assert rate.bytes_per_s == pytest.approx(rate.operations_per_s * 4096)


def test_a_short_phase_is_rated_whole_and_says_so() -> None:
    rate = steady_rate(phase_of([10] * 49))
    assert not rate.steady
    assert rate.reason == "49 full time bins, fewer than 50"
    assert rate.operations_per_s == pytest.approx(1000)


def test_few_operations_are_no_steady_state() -> None:
    rate = steady_rate(phase_of(([0] * 9 + [1]) * 20))
    assert not rate.steady
    assert rate.reason is not None
    assert "20 operations" in rate.reason


def test_a_rate_that_keeps_rising_has_not_settled() -> None:
    rate = steady_rate(phase_of(list(range(1, 201))))
    assert not rate.steady
    assert rate.reason == "the rate had not settled"


def test_a_cache_that_fills_late_is_no_steady_state() -> None:
    assert not steady_rate(phase_of([50] * 140 + [5] * 60)).steady


def test_a_perfectly_even_rate_keeps_everything() -> None:
    assert mser_truncation(np.full(40, 3.7)) == 0


@given(st.integers(0, 2**32 - 1), st.integers(12, 200))
def test_no_more_than_half_is_ever_left_out(seed: int, batches: int) -> None:
    values = np.random.default_rng(seed).lognormal(0, 1, batches)
    found = mser_truncation(values)
    assert found is None or 0 <= found < batches // 2


@given(st.integers(0, 2**32 - 1))
def test_the_rule_agrees_with_its_definition(seed: int) -> None:
    values = np.random.default_rng(seed).normal(100, 5, 60)
    values[:8] -= 60
    errors = [values[d:].var() / (len(values) - d) for d in range(31)]
    least = int(np.argmin(errors))
    assert mser_truncation(values) == (None if least == 30 else least)


def cut_short(bins: list[int]) -> PhaseRecord:
    return msgspec.structs.replace(phase_of(bins), ended_by="duration")


def test_a_short_phase_is_rated_to_its_last_completion_and_not_to_where_the_clock_cut_it() -> None:
    rate = steady_rate(cut_short(([0] * 19 + [1]) * 4 + [0] * 15))
    assert not rate.steady
    assert rate.operations_per_s == pytest.approx(5.0)


def test_a_short_phase_that_stalls_at_its_end_is_rated_over_the_stall() -> None:
    rate = steady_rate(cut_short([1, 1, 1, 1] + [0] * 96))
    assert not rate.steady
    assert rate.operations_per_s == pytest.approx(4.0)
