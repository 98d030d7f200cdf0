"""The same plan and seed give the same bytes; another seed does not; a run that goes on later ends
with the same numbers.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.guest import tank

from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools
from wavetank.runs import directory
from wavetank.runs.directory import TRIALS, Run

pytestmark = pytest.mark.guest

SYSTEMS = ["local", "nfs4.2", "iscsi", "nvme"]
# Of a trial that a resumed run puts first in its guest: docs/method/accuracy.md says why.
RESUMED_TOLERANCE = 0.02


def request(network: str, seed: int) -> Request:
    return Request(
        systems=SYSTEMS,
        networks=[network],
        workload="batch",
        parameters={
            "file-size": ["256KiB"],
            "set-size": ["16MiB"],
            "duration": ["10s"],
            "threads": ["2"],
        },
        packet_digest=True,
        seed=seed,
    )


@pytest.fixture(scope="module")
def first(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Loss, jitter, every packet digested."""
    path = tmp_path_factory.mktemp("first") / "run"
    return tank.conduct(tools, path, request("realistic", 1))


def test_the_same_plan_and_seed_give_the_same_bytes(
    tools: Tools, tmp_path: Path, first: Run
) -> None:
    second = tank.conduct(tools, tmp_path / "run", request("realistic", 1), workers=1)
    assert (second.path / TRIALS).read_bytes() == (first.path / TRIALS).read_bytes()


def test_the_records_that_are_the_same_are_of_lossy_traffic(first: Run) -> None:
    for planned, trial in zip(first.plan.trials, first.trials, strict=True):
        assert trial.link is not None
        assert trial.link.packet_digest
        if planned.cell.system.name != "local":
            crossed = trial.link.to_server.packets + trial.link.to_client.packets
            assert trial.link.packets_captured == crossed
            assert trial.link.to_server.dropped + trial.link.to_client.dropped > 0


def test_another_seed_gives_other_packets(tools: Tools, tmp_path: Path, first: Run) -> None:
    other = tank.conduct(tools, tmp_path / "run", request("realistic", 2))
    for one, two, planned in zip(first.trials, other.trials, first.plan.trials, strict=True):
        assert one.link is not None
        assert two.link is not None
        same = one.link.packet_digest == two.link.packet_digest
        assert same == (planned.cell.system.name == "local"), planned.cell.system.name


def test_a_resumed_run_that_lost_a_whole_guest_is_the_same_to_the_byte(
    tools: Tools, tmp_path: Path, first: Run
) -> None:
    batch = first.plan.batches[-1]
    assert batch == sorted(batch)
    resumed = without_last(first, tmp_path / "run", len(batch))
    assert session.resume(resumed, tools, None, nobody).missing == []
    assert (resumed / TRIALS).read_bytes() == (first.path / TRIALS).read_bytes()


def test_a_resumed_run_that_lost_one_trial_keeps_the_rest_and_finds_the_same_rates(
    tools: Tools, tmp_path: Path
) -> None:
    whole = tank.conduct(tools, tmp_path / "whole", request("latency-50", 1))
    resumed = without_last(whole, tmp_path / "run", 1)
    again = session.resume(resumed, tools, None, nobody)
    assert again.missing == []
    assert again.trials[:-1] == whole.trials[:-1]
    before, after = tank.rows_of(whole)[-1], tank.rows_of(again)[-1]
    assert after.throughput_bytes_per_s == pytest.approx(
        before.throughput_bytes_per_s, rel=RESUMED_TOLERANCE
    )
    assert after.latency_ns_p50 == pytest.approx(before.latency_ns_p50, rel=RESUMED_TOLERANCE)


def without_last(run: Run, path: Path, count: int) -> Path:
    """A copy of the run as a crash would leave it before its last `count` trials had ended."""
    shutil.copytree(run.path, path)
    for name in (directory.TRIALS, directory.WALL):
        lines = (path / name).read_bytes().splitlines(keepends=True)
        (path / name).write_bytes(b"".join(lines[:-count]))
    assert len(directory.read(path).missing) == count
    return path
