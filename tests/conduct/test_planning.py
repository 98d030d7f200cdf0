"""Claims about plans: what is run, in which guest, in which order, and what is refused."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wavetank.conduct.planning import (
    BATCH_TRIALS,
    Request,
    make_plan,
    parse_system,
    plan_study,
    sized_disk,
)
from wavetank.errors import UsageError
from wavetank.runs.records import Plan
from wavetank.study import disks
from wavetank.study.model import canonical_json
from wavetank.study.study import Part, Study

GIB = 2**30
REQUEST = Request(
    systems=["local", "nfs4.2", "iscsi"],
    networks=["ideal-100", "realistic"],
    workload="batch",
    parameters={"file-size": ["4KiB", "1MiB"], "threads": ["1", "8"]},
)


def plan_of(**changes: object) -> Plan:
    return make_plan(msgspec.structs.replace(REQUEST, **changes))


def test_the_matrix_is_whole_and_write_and_read_are_both_run() -> None:
    plan = plan_of()
    assert len(plan.trials) == 3 * 2 * 2 * 2 * 2
    counts = Counter(trial.cell.workload.parameters["operation"] for trial in plan.trials)
    assert counts == {"write": 24, "read": 24}
    assert {t.cell.network.name for t in plan.trials if t.cell.system.name == "local"} == {
        "ideal-100",
        "realistic",
    }


def test_stated_operations_alone_are_run() -> None:
    plan = plan_of(parameters={"operation": ["read"]})
    assert {trial.cell.workload.parameters["operation"] for trial in plan.trials} == {"read"}


def test_each_repeat_has_a_seed_and_a_guest_of_its_own() -> None:
    plan = plan_of(repeats=3)
    assert Counter(trial.repeat for trial in plan.trials) == {0: 48, 1: 48, 2: 48}
    for batch in plan.batches:
        assert len({plan.trials[index].repeat for index in batch}) == 1


def test_cells_do_not_depend_on_the_repeat() -> None:
    digests = {trial.cell.digest for trial in plan_of().trials}
    assert digests == {trial.cell.digest for trial in plan_of(repeats=2).trials}


def test_a_cell_named_twice_runs_once() -> None:
    assert plan_of(systems=["iscsi", "iscsi"]).trials == plan_of(systems=["iscsi"]).trials


@settings(max_examples=25)
@given(
    systems=st.lists(st.sampled_from(["local", "nfs4.2", "iscsi"]), min_size=1, unique=True),
    sizes=st.lists(st.sampled_from(["4KiB", "1MiB", "16MiB"]), min_size=1, unique=True),
    threads=st.lists(st.sampled_from(["1", "2", "4", "8", "16"]), min_size=1, unique=True),
    repeats=st.integers(1, 3),
    clock=st.sampled_from(["virtual", "real"]),
)
def test_batches_hold_every_trial_once_and_only_what_may_share_a_guest(
    systems: list[str], sizes: list[str], threads: list[str], repeats: int, clock: str
) -> None:
    plan = plan_of(
        systems=systems,
        parameters={"file-size": sizes, "threads": threads},
        repeats=repeats,
        clock=clock,
    )
    assert sorted(i for batch in plan.batches for i in batch) == list(range(len(plan.trials)))
    for batch in plan.batches:
        assert 1 <= len(batch) <= BATCH_TRIALS
        trials = [plan.trials[index] for index in batch]
        assert len({canonical_json((t.cell.system, t.cell.disk)) for t in trials}) == 1


def test_the_virtual_clock_keeps_the_natural_order() -> None:
    plan = plan_of()
    assert all(batch == sorted(batch) for batch in plan.batches)


def test_the_real_clock_draws_the_order_from_the_seed() -> None:
    plan = plan_of(clock="real")
    assert plan == plan_of(clock="real")
    assert plan.batches != plan_of(clock="virtual").batches
    assert plan.batches != plan_of(clock="real", seed=2).batches


def test_the_disk_has_room_for_the_set_and_more() -> None:
    for trial in plan_of(parameters={"file-size": ["1MiB"]}, systems=["local"]).trials:
        assert trial.cell.disk.size_bytes == 4 * GIB


def test_systems_and_networks_are_compared_on_equal_disks() -> None:
    assert len({canonical_json(trial.cell.disk) for trial in plan_of().trials}) == 1


def test_a_disk_is_never_smaller_than_half_a_gibibyte() -> None:
    assert sized_disk(disks.parse("ssd"), 4096).size_bytes == GIB // 2


def test_a_stated_disk_size_is_kept() -> None:
    plan = plan_of(disk="ssd:size=3GiB")
    assert {trial.cell.disk.size_bytes for trial in plan.trials} == {3 * GIB}


def test_a_stated_disk_that_cannot_hold_the_set_is_refused() -> None:
    with pytest.raises(UsageError, match=r"ssd:size=1GiB.*set-size"):
        plan_of(disk="ssd:size=1GiB", systems=["local"])


def test_options_of_a_system_follow_its_name() -> None:
    choice = parse_system("nfs4.2:nconnect=8")
    assert (choice.name, choice.options["nconnect"]) == ("nfs4.2", 8)


def test_a_group_of_networks_stands_for_all_of_them() -> None:
    plan = plan_of(networks=["nistnet"], systems=["iscsi"], parameters={"operation": ["read"]})
    assert len(plan.trials) == 9


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"systems": ["nfs9"]}, "'nfs9'"),
        ({"systems": ["nfs4.2:nconnect"]}, "KEY=VALUE"),
        ({"systems": ["nfs4.2:nconnect=1:nconnect=2"]}, "twice"),
        ({"systems": []}, "at least one"),
        ({"networks": ["nowhere"]}, "nowhere"),
        ({"workload": "btch"}, "did you mean batch"),
        ({"parameters": {"file-sise": ["4KiB"]}}, "file-size"),
        ({"disk": "tape"}, "tape"),
        ({"repeats": 0}, "at least 1"),
    ],
)
def test_a_request_that_cannot_be_meant_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(**changes)
    assert said in str(caught.value)


STUDY = Study(
    id="mine",
    title="Small files",
    question="Which?",
    repeats=3,
    repeats_without_chance=2,
    parts=[
        Part(
            name="near",
            systems=["local", "iscsi"],
            networks=["ideal-100", "loss-0.1"],
            workload="batch",
            parameters={"operation": ["write"], "threads": ["1", "8"]},
        ),
        Part(
            name="one",
            systems=["iscsi"],
            networks=["ideal-100"],
            workload="batch",
            parameters={"operation": ["write", "read"]},
        ),
    ],
)


def test_a_study_repeats_more_often_where_chance_acts() -> None:
    plan = plan_study(STUDY, [])
    assert plan.study == STUDY
    counts = Counter(
        (trial.cell.system.name, trial.cell.network.name, trial.cell.digest)
        for trial in plan.trials
    )
    assert {(system, network): n for (system, network, _), n in counts.items()} == {
        ("local", "ideal-100"): 2,
        ("local", "loss-0.1"): 2,
        ("iscsi", "ideal-100"): 2,
        ("iscsi", "loss-0.1"): 3,
    }


def test_under_the_real_clock_chance_acts_everywhere() -> None:
    plan = plan_study(msgspec.structs.replace(STUDY, clock="real"), [])
    assert set(Counter(trial.cell.digest for trial in plan.trials).values()) == {3}


def test_a_cell_of_two_parts_is_planned_once_and_names_both() -> None:
    parts = {trial.cell.digest: trial.parts for trial in plan_study(STUDY, []).trials}
    assert sorted(parts.values()) == [["near"]] * 7 + [["near", "one"], ["one"]]


def test_a_study_of_one_part_is_the_comparison_that_asks_for_the_same() -> None:
    part = Part(
        name="all",
        systems=REQUEST.systems,
        networks=REQUEST.networks,
        workload=REQUEST.workload,
        parameters=REQUEST.parameters,
    )
    plan = plan_study(Study(id="same", title="t", question="q", parts=[part]), [])
    assert [trial.cell for trial in plan.trials] == [trial.cell for trial in plan_of().trials]
    assert plan.batches == plan_of().batches
