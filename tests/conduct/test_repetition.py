"""Claims about the same plan run twice."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from wavetank.conduct import repetition
from wavetank.conduct.planning import make_plan

Lab = Any  # tests/conftest.py, PlayedLab


def test_a_deterministic_lab_gives_the_same_bytes(lab: Lab) -> None:
    result = repetition.run_twice(lab.tools())
    assert result.identical
    assert result.trials == 6
    assert result.sentence == "6 trials with 60000 packets ran twice and gave the same bytes."


def test_both_runs_are_whole(lab: Lab) -> None:
    result = repetition.run_twice(lab.tools())
    assert lab.trials_run == 2 * result.trials


def test_a_difference_is_told_with_its_place(lab: Lab) -> None:
    times = itertools.count()
    lab.alter = lambda record: msgspec.structs.replace(record, simulated_ns=next(times))
    result = repetition.run_twice(lab.tools())
    assert not result.identical
    assert result.difference == "local write in simulated_ns"


def test_trials_without_numbers_prove_nothing(lab: Lab) -> None:
    lab.void = True
    result = repetition.run_twice(lab.tools())
    assert not result.identical
    assert "void" in result.sentence


def test_what_is_drawn_at_random_is_on_and_every_packet_is_digested() -> None:
    plan = make_plan(repetition.REQUEST)
    assert plan.packet_digest
    assert all(trial.cell.network.loss and trial.cell.network.jitter_ns for trial in plan.trials)
