"""Claims about comparing two runs cell by cell."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from sample_runs import Sample, cell, grid, run

from wavetank.analysis.differences import RunDifference, difference
from wavetank.analysis.errors import NothingToCompareError, UnlikeEnvironmentsError
from wavetank.errors import ExitCode
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, TrialRecord

CELLS = grid(sizes=(4096,), threads=(1,))


def read_back(made: Sample, name: str = "a") -> Run:
    return Run(
        path=Path(name),
        plan=made.plan,
        environment=made.environment,
        trials=made.trials,
        walls=made.walls,
    )


def slowed(made: Sample, factor: float) -> Sample:
    """Every phase of `made` taking `factor` times as long."""

    def slow(record: TrialRecord) -> TrialRecord:
        phase = record.phases[0]
        series = msgspec.structs.replace(phase.series, bin_ns=round(phase.series.bin_ns * factor))
        changed = msgspec.structs.replace(
            phase,
            elapsed_ns=round(phase.elapsed_ns * factor),
            busy_until_ns=round(phase.busy_until_ns * factor),
            series=series,
        )
        return msgspec.structs.replace(record, phases=[changed])

    return msgspec.structs.replace(made, trials=[slow(one) for one in made.trials])


def with_environment(made: Sample, **changes: object) -> Sample:
    found: Environment = msgspec.structs.replace(made.environment, **changes)
    return msgspec.structs.replace(made, environment=found)


def compared(before: Sample, after: Sample, **options: object) -> RunDifference:
    return difference(read_back(before), read_back(after, "b"), **options)  # type: ignore[arg-type]


def test_a_run_is_level_with_itself() -> None:
    made = run(CELLS, repeats=3)
    found = compared(made, made)
    assert len(found.differences) == len(CELLS)
    assert {one.verdict for one in found.differences} == {"level"}
    assert {one.ratio.ratio for one in found.differences if one.ratio} == {1.0}
    assert not found.changed
    assert not found.unsure


def test_a_slower_run_is_past_the_threshold_in_every_cell() -> None:
    made = run(CELLS, repeats=3)
    found = compared(made, slowed(made, 1.25))
    assert {one.verdict for one in found.differences} == {"slower"}
    for one in found.differences:
        assert one.ratio is not None
        assert one.ratio.ratio == pytest.approx(0.8, rel=0.01)
        assert one.ratio.paired


def test_the_threshold_decides_what_is_level() -> None:
    made = run(CELLS, repeats=3)
    after = slowed(made, 1.25)
    assert {one.verdict for one in compared(made, after, threshold=0.3).differences} == {"level"}


def test_a_difference_within_the_spread_of_the_repeats_is_unsure() -> None:
    cells = [cell("iscsi")]
    before = run(cells, repeats=4, count=60)
    spread = [0.7, 1.0, 1.4, 1.9]
    trials = [
        slowed(msgspec.structs.replace(before, trials=[one]), factor).trials[0]
        for one, factor in zip(before.trials, spread, strict=True)
    ]
    (one,) = compared(before, msgspec.structs.replace(before, trials=trials)).differences
    assert one.verdict == "unsure"


def test_unlike_kernels_are_refused_and_named() -> None:
    made = run(CELLS)
    other = with_environment(made, kernel_digest="ffff")
    with pytest.raises(
        UnlikeEnvironmentsError, match="kernel digest 3f0c9a1e5b7d2846 and ffff"
    ) as no:
        compared(made, other)
    assert no.value.exit_code == ExitCode.INCONCLUSIVE
    assert compared(made, other, force=True).unlike == ["kernel digest 3f0c9a1e5b7d2846 and ffff"]


@pytest.mark.parametrize(
    "changes",
    [{"engine_version": "9"}, {"versions": {"nfs-utils": "2.6.2"}}],
    ids=["engine", "programs"],
)
def test_unlike_programs_are_refused(changes: dict[str, object]) -> None:
    made = run(CELLS)
    with pytest.raises(UnlikeEnvironmentsError):
        compared(made, with_environment(made, **changes))


def test_the_host_counts_under_the_real_clock_alone() -> None:
    virtual = run(CELLS)
    assert compared(virtual, with_environment(virtual, host={"cpu": "other"})).differences
    real = run([cell("iscsi", clock="real")])
    with pytest.raises(UnlikeEnvironmentsError, match="host cpu"):
        compared(real, with_environment(real, host={"cpu": "other"}))


def test_clocks_are_never_mixed_unless_forced() -> None:
    virtual, real = run([cell("iscsi")]), run([cell("iscsi", clock="real")])
    with pytest.raises(UnlikeEnvironmentsError, match="clock virtual and real"):
        compared(virtual, real)
    forced = compared(virtual, real, force=True)
    assert forced.differences[0].ratio is not None
    assert not forced.differences[0].ratio.paired
    assert forced.unlike == ["clock virtual and real"]


def test_repeats_of_the_real_clock_are_not_paired() -> None:
    real = run([cell("iscsi", clock="real")], repeats=3)
    (one,) = compared(real, real).differences
    assert one.ratio is not None
    assert not one.ratio.paired


def test_cells_of_one_run_alone_are_counted_and_not_compared() -> None:
    found = compared(run(CELLS), run([*CELLS[:3], cell("nvme")]))
    assert (len(found.differences), found.only_before, found.only_after) == (3, len(CELLS) - 3, 1)


def test_runs_without_a_common_cell_are_refused() -> None:
    with pytest.raises(NothingToCompareError):
        compared(run([cell("iscsi")]), run([cell("nvme")]))


def test_a_cell_that_lost_its_number_counts_as_changed() -> None:
    made = run(CELLS)

    def spoil(index: int, record: TrialRecord) -> TrialRecord:
        if index:
            return record
        return msgspec.structs.replace(record, status="timeout", reason="took too long")

    found = compared(made, run(CELLS, spoil=spoil))
    assert [one.verdict for one in found.changed] == ["lost"]
    assert found.changed[0].reason == "after: timeout, took too long"


def test_systems_are_named_by_what_tells_them_apart_in_both_runs() -> None:
    plain = cell("nfs4.2", options={"nconnect": 1})
    many = cell("nfs4.2", options={"nconnect": 8})
    found = compared(run([plain]), run([plain, many]))
    assert [one.system for one in found.differences] == ["nfs4.2:nconnect=1"]
