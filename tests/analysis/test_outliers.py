"""Claims about repeats that stand far off the others, and about pairs of shared seeds."""

from __future__ import annotations

import msgspec
import numpy as np
from sample_runs import cell, run

from wavetank.analysis import analyse
from wavetank.analysis.intervals import median_ratio
from wavetank.analysis.outliers import far_off
from wavetank.runs.records import TrialRecord


def test_one_value_far_off_is_named() -> None:
    assert far_off([10.0, 10.2, 9.9, 10.1, 30.0]) == [False, False, False, False, True]


def test_among_equal_values_the_odd_one_is_named() -> None:
    assert far_off([10.0, 10.0, 10.0, 10.0, 10.0, 3.0]) == [False] * 5 + [True]


def test_four_values_cannot_tell_and_equal_ones_have_none() -> None:
    assert far_off([1.0, 1.0, 1.0, 9.0]) == [False] * 4
    assert far_off([5.0] * 9) == [False] * 9


def test_a_normal_sample_is_rarely_accused() -> None:
    rng = np.random.default_rng(5)
    accused = sum(any(far_off(rng.normal(100, 3, 6).tolist())) for _ in range(300))
    assert accused < 60


def test_an_outlier_is_marked_and_counts_all_the_same() -> None:
    def stalled(index: int, record: TrialRecord) -> TrialRecord:
        if index != 3:
            return record
        phase = record.phases[0]
        slow = msgspec.structs.replace(
            phase,
            elapsed_ns=phase.elapsed_ns * 4,
            busy_until_ns=phase.busy_until_ns * 4,
            series=msgspec.structs.replace(phase.series, bin_ns=phase.series.bin_ns * 4),
        )
        return msgspec.structs.replace(record, phases=[slow])

    made = run([cell("iscsi")], repeats=6, spoil=stalled)
    (row,) = analyse(made.plan, made.trials, made.walls).rows
    assert [one.outlier for one in row.trials] == [False, False, False, True, False, False]
    assert row.repeats_ok == 6
    assert row.operations == 6 * 300


def test_a_repeat_that_one_side_lacks_does_not_undo_the_pairs() -> None:
    noise = np.random.default_rng(2).lognormal(0, 0.3, 8)
    above = {(seed, 0): float(20 * one) for seed, one in enumerate(noise)}
    below = {(seed, 0): float(10 * one) for seed, one in enumerate(noise) if seed != 5}
    whole = median_ratio(above, below, np.random.default_rng(1))
    apart = median_ratio(above, below, np.random.default_rng(1), may_pair=False)
    assert whole.paired
    assert not apart.paired
    assert whole.interval is not None
    assert apart.interval is not None
    assert whole.interval.high - whole.interval.low < apart.interval.high - apart.interval.low
