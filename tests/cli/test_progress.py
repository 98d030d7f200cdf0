"""Claims about progress: what is counted, how long is left, how a trial is called."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from wavetank.cli.progress import (
    LineProgress,
    Tally,
    TerminalProgress,
    cell_title,
    how_it_ended,
    progress_of,
    span_text,
)
from wavetank.conduct.events import RunStarted, TrialEnded
from wavetank.conduct.planning import Request, make_plan
from wavetank.runs.records import Plan, PlannedTrial, TrialRecord, TrialStatus, WallRecord
from wavetank.study.model import Cell


@pytest.fixture
def plan(make_cell: Callable[..., Cell]) -> Plan:
    cells = [make_cell(threads=str(threads)) for threads in (1, 2, 4, 8)]
    return Plan(
        question="",
        command=[],
        trials=[PlannedTrial(cell=cell, repeat=0) for cell in cells],
        batches=[[0, 1, 2, 3]],
        trial_deadline_s=1,
    )


def ended(index: int, status: TrialStatus = "ok") -> TrialEnded:
    return TrialEnded(
        index=index,
        trial=TrialRecord(cell="c", repeat=0, status=status, simulated_ns=100 * 10**9),
        wall=WallRecord(
            cell="c", repeat=0, guest="g", wall_s=1, boot_wall_s=1, ended_at="", worker=0
        ),
    )


def test_time_left_follows_from_this_session_alone(plan: Plan) -> None:
    now = iter([0.0, 100.0, 110.0])
    tally = Tally(plan, lambda: next(now))
    tally.take(RunStarted(planned=4, done=2, workers=1))
    tally.take(ended(2))
    assert tally.done == 3
    assert tally.summary() == "1:40 simulated in 0:10 (10.0x), 0:10 left"


def test_lost_trials_are_counted(plan: Plan) -> None:
    now = iter([0.0, 10.0])
    tally = Tally(plan, lambda: next(now))
    tally.take(ended(0, "timeout"))
    tally.take(ended(1, "void"))
    assert tally.summary().endswith(", 2 lost")


def test_nothing_is_foretold_before_the_first_trial_ends(plan: Plan) -> None:
    assert "left" not in Tally(plan, lambda: 5.0).summary()


def test_a_trial_is_called_by_what_sets_it_apart(plan: Plan) -> None:
    assert cell_title(plan.trials[3].cell) == "nfs4.2, ideal-100, batch read 1MiB x8"
    assert cell_title(plan.trials[0].cell) == "nfs4.2, ideal-100, batch read 1MiB"


@pytest.mark.parametrize(
    ("seconds", "text"), [(7, "0:07"), (59.6, "1:00"), (750, "12:30"), (3723, "1:02:03")]
)
def test_spans_are_written_as_on_a_clock(seconds: float, text: str) -> None:
    assert span_text(seconds) == text


def test_a_terminal_gets_a_bar_and_a_pipe_gets_lines(plan: Plan) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True)
    pipe = Console(file=io.StringIO(), force_terminal=False)
    assert isinstance(progress_of(plan, terminal), TerminalProgress)
    assert isinstance(progress_of(plan, pipe), LineProgress)


def test_a_lost_trial_stays_on_the_terminal_after_the_bar_is_gone(plan: Plan) -> None:
    file = io.StringIO()
    with TerminalProgress(plan, Console(file=file, force_terminal=True, width=120)) as progress:
        progress(RunStarted(planned=4, done=0, workers=1))
        progress(ended(3, "timeout"))
        progress(ended(0))
    assert "nfs4.2, ideal-100, batch read 1MiB x8: timeout" in file.getvalue()
    assert "2/4" in file.getvalue()


def test_a_long_reason_does_not_fill_the_screen() -> None:
    trial = TrialRecord(cell="c", repeat=0, status="failed", reason="because " * 100)
    assert len(how_it_ended(trial)) <= 160
    assert how_it_ended(trial).startswith("failed: because")


def test_a_cell_on_objects_is_told_by_size_and_connections() -> None:
    request = Request(
        systems=["s3"],
        networks=["ideal-100"],
        workload="object",
        parameters={"size": ["4KiB"], "parallel": ["8"], "operation": ["put"]},
    )
    (planned,) = make_plan(request).trials
    assert cell_title(planned.cell) == "s3, ideal-100, object put 4KiB x8"
