"""Claims about a whole run: made, resumed, refused; all with guests that are played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.memory import TooLittleMemory
from wavetank.conduct.planning import Request, make_plan
from wavetank.runs import directory
from wavetank.runs.errors import RunDirectoryRefused
from wavetank.runs.records import Plan

GIB = 2**30
Lab = Any  # tests/conftest.py, PlayedLab


@pytest.fixture
def plan() -> Plan:
    request = Request(
        systems=["local", "nfs4.2"],
        networks=["ideal-100", "realistic"],
        workload="batch",
        parameters={"threads": ["1", "8"]},
    )
    return make_plan(request)


def test_a_run_is_complete_and_in_the_plans_order(tmp_path: Path, plan: Plan, lab: Lab) -> None:
    run = session.start(tmp_path / "run", plan, lab.tools(), 2, nobody)
    assert run.missing == []
    digests = [
        line["cell"]
        for line in map(
            msgspec.json.decode, (tmp_path / "run" / directory.TRIALS).read_bytes().splitlines()
        )
    ]
    assert digests == [trial.cell.digest for trial in plan.trials]


def test_equal_runs_are_equal_files_whatever_the_workers(
    tmp_path: Path, plan: Plan, lab: Lab
) -> None:
    contents = []
    for workers in (1, 4):
        path = tmp_path / str(workers)
        session.start(path, plan, lab.tools(), workers, nobody)
        contents.append((path / directory.TRIALS).read_bytes())
    assert contents[0] == contents[1]


def test_resuming_does_only_what_is_missing(tmp_path: Path, plan: Plan, lab: Lab) -> None:
    path = tmp_path / "run"
    lab.mortal = 3
    first = session.start(path, plan, lab.tools(), 1, nobody)
    assert len(first.missing) == 3
    run_before = lab.trials_run
    assert session.resume(path, lab.tools(), 1, nobody).missing == []
    assert lab.trials_run == run_before + 3


def test_resuming_a_complete_run_starts_nothing(tmp_path: Path, plan: Plan, lab: Lab) -> None:
    path = tmp_path / "run"
    before = session.start(path, plan, lab.tools(), 1, nobody)
    run_before = lab.trials_run
    assert session.resume(path, lab.tools(), 1, nobody) == before
    assert lab.trials_run == run_before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kernel_digest": "xyz"}, "guest kernel abc"),
        ({"engine_version": "9"}, "load engine 0.1.0"),
        ({"versions": {"nfs-utils": "3"}}, "nfs-utils 2.6.2"),
        ({"versions": {}}, "nfs-utils 2.6.2"),
    ],
)
def test_a_run_does_not_go_on_with_other_programs(
    tmp_path: Path, plan: Plan, lab: Lab, change: dict[str, object], said: str
) -> None:
    path = tmp_path / "run"
    lab.mortal = 1
    session.start(path, plan, lab.tools(), 1, nobody)
    lab.environment = msgspec.structs.replace(lab.environment, **change)
    with pytest.raises(session.EnvironmentChanged, match=said):
        session.resume(path, lab.tools(), 1, nobody)
    assert directory.read(path).missing == [0]


def test_a_taken_directory_is_refused_before_anything_starts(
    tmp_path: Path, plan: Plan, lab: Lab
) -> None:
    (tmp_path / "notes").write_text("")
    with pytest.raises(RunDirectoryRefused):
        session.start(tmp_path, plan, lab.tools(), 1, nobody)
    assert lab.trials_run == 0


def test_too_little_memory_is_told_before_a_directory_is_made(
    tmp_path: Path, plan: Plan, lab: Lab
) -> None:
    lab.memory_bytes = GIB
    with pytest.raises(TooLittleMemory, match="--set-size"):
        session.start(tmp_path / "run", plan, lab.tools(), None, nobody)
    assert not (tmp_path / "run").exists()


def test_what_another_run_has_measured_is_taken_over(tmp_path: Path, plan: Plan, lab: Lab) -> None:
    half = msgspec.structs.replace(plan, trials=plan.trials[:8], batches=[list(range(8))])
    source = session.start(tmp_path / "half", half, lab.tools(), 1, nobody)
    run_before = lab.trials_run
    whole = session.start(tmp_path / "whole", plan, lab.tools(), 1, nobody, [source.path])
    assert lab.trials_run == run_before + len(plan.trials) - 8
    assert whole.missing == []
    assert whole.trials[:8] == source.trials
    assert [wall.reused_from for wall in whole.walls] == [str(source.path)] * 8 + [
        msgspec.UNSET
    ] * (len(plan.trials) - 8)
    for wall in whole.walls:
        assert (whole.path / directory.GUESTS / f"{wall.guest}.log").is_file()


@pytest.mark.parametrize("field", ["kernel_digest", "engine_version", "wavetank_version"])
def test_nothing_is_taken_over_from_other_programs(
    tmp_path: Path, plan: Plan, lab: Lab, field: str
) -> None:
    source = session.start(tmp_path / "first", plan, lab.tools(), 1, nobody)
    lab.environment = msgspec.structs.replace(lab.environment, **{field: "another"})
    run_before = lab.trials_run
    session.start(tmp_path / "second", plan, lab.tools(), 1, nobody, [source.path])
    assert lab.trials_run == run_before + len(plan.trials)


def test_a_measurement_under_the_real_clock_is_made_again(
    tmp_path: Path, plan: Plan, lab: Lab
) -> None:
    real = [
        msgspec.structs.replace(one, cell=msgspec.structs.replace(one.cell, clock="real"))
        for one in plan.trials
    ]
    timed = msgspec.structs.replace(plan, trials=real)
    source = session.start(tmp_path / "first", timed, lab.tools(), 1, nobody)
    run_before = lab.trials_run
    session.start(tmp_path / "second", timed, lab.tools(), 1, nobody, [source.path])
    assert lab.trials_run == run_before + len(plan.trials)
