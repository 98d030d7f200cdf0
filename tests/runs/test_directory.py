"""Claims about the run directory: nothing is lost, nothing torn is read, nothing is overwritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wavetank.runs import directory
from wavetank.runs.errors import RunDirectoryError, RunDirectoryRefused
from wavetank.runs.records import (
    Environment,
    Plan,
    PlannedTrial,
    TrialRecord,
    TrialStatus,
    WallRecord,
)
from wavetank.study.model import Cell

ENVIRONMENT = Environment(
    wavetank_version="0.1.0",
    kernel_release="6.12.0",
    kernel_digest="ab" * 32,
    engine_version="0.1.0",
    engine_ceiling_operations_per_s=1e6,
    isolation="namespaces",
    versions={},
    host={},
)


@pytest.fixture
def plan(make_cell: Callable[..., Cell]) -> Plan:
    cells = [make_cell(file_size=size) for size in ("4KiB", "1MiB", "16MiB")]
    return Plan(
        question="",
        command=["wavetank"],
        trials=[PlannedTrial(cell=cell, repeat=0) for cell in cells],
        batches=[[0, 1, 2]],
        trial_deadline_s=10,
    )


@pytest.fixture
def path(tmp_path: Path, plan: Plan) -> Path:
    directory.create(tmp_path / "run", plan, ENVIRONMENT)
    return tmp_path / "run"


def records(trial: PlannedTrial, status: TrialStatus = "ok") -> tuple[TrialRecord, WallRecord]:
    digest, repeat = directory.key_of(trial)
    wall = WallRecord(
        cell=digest,
        repeat=repeat,
        guest="g0000",
        wall_s=1.5,
        boot_wall_s=1.0,
        ended_at="2026-01-31T12:00:00Z",
        worker=0,
    )
    return TrialRecord(cell=digest, repeat=repeat, status=status), wall


def append(path: Path, *pairs: tuple[TrialRecord, WallRecord]) -> None:
    with directory.Appender(path) as appender:
        for trial, wall in pairs:
            appender.append(trial, wall)


def test_what_is_written_is_read_back(path: Path, plan: Plan) -> None:
    trial, wall = records(plan.trials[1])
    append(path, (trial, wall))
    run = directory.read(path)
    assert (run.plan, run.environment) == (plan, ENVIRONMENT)
    assert (run.trials, run.walls) == ([trial], [wall])


def test_trials_are_read_in_the_order_of_the_plan(path: Path, plan: Plan) -> None:
    append(path, *(records(plan.trials[index]) for index in (2, 0, 1)))
    read = [record.cell for record in directory.read(path).trials]
    assert read == [trial.cell.digest for trial in plan.trials]


def test_ok_and_void_are_done_and_the_rest_is_missing(path: Path, plan: Plan) -> None:
    append(path, records(plan.trials[0], "void"), records(plan.trials[1], "timeout"))
    assert directory.read(path).missing == [1, 2]


def test_a_trial_tried_again_counts_once_by_its_last_record(path: Path, plan: Plan) -> None:
    append(path, records(plan.trials[0], "failed"))
    append(path, records(plan.trials[0], "ok"))
    run = directory.read(path)
    assert [record.status for record in run.trials] == ["ok"]
    assert run.missing == [1, 2]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(cut=st.integers(1, 60))
def test_a_torn_last_line_is_left_out_and_the_next_append_mends_the_file(
    path: Path, plan: Plan, cut: int
) -> None:
    for name in (directory.TRIALS, directory.WALL):
        (path / name).unlink(missing_ok=True)
    append(path, records(plan.trials[0]), records(plan.trials[1]))
    content = (path / directory.TRIALS).read_bytes()
    (path / directory.TRIALS).write_bytes(content[:-cut])
    assert directory.read(path).missing == [1, 2]
    append(path, records(plan.trials[1]), records(plan.trials[2]))
    assert directory.read(path).missing == []


def test_damage_before_the_last_line_is_said_with_its_place(path: Path, plan: Plan) -> None:
    append(path, records(plan.trials[0]), records(plan.trials[1]))
    content = (path / directory.TRIALS).read_bytes()
    (path / directory.TRIALS).write_bytes(b"{" + content)
    with pytest.raises(RunDirectoryError, match=r"line 1 of .*trials\.jsonl is damaged"):
        directory.read(path)


def test_a_complete_run_is_the_same_file_in_whatever_order_it_ended(
    tmp_path: Path, plan: Plan
) -> None:
    contents = []
    for order in ((0, 1, 2), (2, 0, 1)):
        path = tmp_path / str(order[0])
        directory.create(path, plan, ENVIRONMENT)
        append(path, records(plan.trials[1], "failed"))
        append(path, *(records(plan.trials[index]) for index in order))
        directory.put_in_order(path)
        contents.append((path / directory.TRIALS).read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == 3


def test_a_directory_with_something_in_it_is_refused_and_left_alone(
    tmp_path: Path, plan: Plan
) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunDirectoryRefused, match="is not empty"):
        directory.create(tmp_path, plan, ENVIRONMENT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("step", range(1, 5))
def test_a_run_cut_off_before_it_had_a_plan_begins_again(
    tmp_path: Path, plan: Plan, step: int
) -> None:
    made = [directory.GUESTS, "environment.json.new", "environment.json", "plan.json.new"]
    path = tmp_path / "cut"
    (path / made[0]).mkdir(parents=True)
    for name in made[1:step]:
        (path / name).write_text("{")
    directory.create(path, plan, ENVIRONMENT)
    assert directory.read(path).missing == list(range(len(plan.trials)))


def test_a_directory_with_more_than_the_beginning_of_a_run_is_anothers(
    tmp_path: Path, plan: Plan
) -> None:
    (tmp_path / "environment.json").write_text("{")
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(RunDirectoryRefused, match="not empty"):
        directory.create(tmp_path, plan, ENVIRONMENT)


def test_a_run_is_not_overwritten_and_the_way_to_resume_is_told(path: Path, plan: Plan) -> None:
    with pytest.raises(RunDirectoryRefused, match="--resume --out"):
        directory.create(path, plan, ENVIRONMENT)


def test_an_empty_directory_may_become_a_run(tmp_path: Path, plan: Plan) -> None:
    directory.create(tmp_path, plan, ENVIRONMENT)
    assert directory.read(tmp_path).missing == [0, 1, 2]


@pytest.mark.parametrize("name", [directory.PLAN, directory.ENVIRONMENT])
def test_a_newer_format_is_refused_with_one_clear_sentence(path: Path, name: str) -> None:
    document = json.loads((path / name).read_text())
    document["schema"] = 99
    document["from the future"] = True
    (path / name).write_text(json.dumps(document))
    with pytest.raises(RunDirectoryRefused, match=r"format 99 .* upgrade wavetank"):
        directory.read(path)


def test_a_newer_trial_record_is_refused(path: Path, plan: Plan) -> None:
    trial, wall = records(plan.trials[0])
    append(path, (msgspec.structs.replace(trial, schema=99), wall))
    with pytest.raises(RunDirectoryRefused, match="line 1"):
        directory.read(path)


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryRefused, match=r"has no plan\.json"):
        directory.read(tmp_path)


def test_two_writers_at_once_are_refused(path: Path) -> None:
    with (
        directory.Appender(path),
        pytest.raises(RunDirectoryRefused, match="another wavetank"),
        directory.Appender(path),
    ):
        pass


def test_a_place_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="name another directory"):
        directory.create(tmp_path / "file" / "run", plan, ENVIRONMENT)


def test_logs_of_earlier_guests_are_kept(path: Path) -> None:
    first = directory.guest_log(path, 3)
    first.write_text("first")
    second = directory.guest_log(path, 3)
    assert (first.name, second.name) == ("g0003.log", "g0003-2.log")


def test_the_default_path_is_the_moment_and_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
    first = Path("wavetank-runs/20260131T120000Z-batch-over-realistic-cc-bbr")
    for name in (first.name, f"{first.name}-2", f"{first.name}-3"):
        path = directory.default_path("batch over realistic/cc=bbr", now)
        assert path == first.with_name(name)
        path.mkdir(parents=True)
