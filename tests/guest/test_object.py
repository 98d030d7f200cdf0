"""Object storage in guests: the real Swift and the real S3 servers, through the real mounts.

Each test needs programs that `make install` does not insist on (install/object.sh has them) and
is skipped, saying which, where they are not. Where nothing may be lacking (.ci/run) it fails.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from tests.guest import tank

from wavetank import systems
from wavetank.conduct.doctor import find_program
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.session import Tools
from wavetank.runs.directory import TRIALS, Run

pytestmark = pytest.mark.guest

SYSTEMS = [
    "s3+s3fs",
    "s3+s3fs:server=swift",
    "s3+rclone",
    "s3+rclone:server=rclone",
    "s3+juicefs",
    "s3+juicefs:meta=sqlite3",
    "swift+rclone",
    "swift+juicefs",
]


def request(system: str, network: str, seed: int = 1, disk: str = "ssd") -> Request:
    """Sixteen files written, sixteen read, every packet digested."""
    return Request(
        systems=[system],
        networks=[network],
        workload="batch",
        parameters={
            "file-size": ["64KiB"],
            "set-size": ["1MiB"],
            "duration": ["20s"],
            "threads": ["2"],
        },
        disk=disk,
        packet_digest=True,
        seed=seed,
    )


def conduct(tools: Tools, path: Path, asked: Request) -> Run:
    """As `tank.conduct`, where the system's programs are installed."""
    system = make_plan(asked).trials[0].cell.system
    for program in systems.programs_for(system.name, system.options):
        if find_program(program) is None:
            lacking = f"{system.name} needs {program}; wavetank doctor says where from"
            if os.environ.get("WAVETANK_TESTS_LACK") == "nothing":
                pytest.fail(lacking)
            pytest.skip(lacking)
    return tank.conduct(tools, path, asked)


@pytest.mark.parametrize("system", SYSTEMS)
def test_two_runs_with_one_seed_are_the_same_to_the_byte(
    tools: Tools, tmp_path: Path, system: str
) -> None:
    """Loss, jitter, servers in Go and Python, FUSE clients with threads of their own."""
    first = conduct(tools, tmp_path / "first", request(system, "realistic"))
    again = conduct(tools, tmp_path / "again", request(system, "realistic"))
    assert (again.path / TRIALS).read_bytes() == (first.path / TRIALS).read_bytes()
    for trial in first.trials:
        assert trial.link is not None
        assert trial.link.packet_digest
        # A megabyte went through the mount and over the link, whichever way.
        assert max(trial.link.to_server.bytes, trial.link.to_client.bytes) > 1 << 20
        assert trial.effective["mount_type"].startswith("fuse.")


@pytest.mark.parametrize(
    ("system", "durability"),
    [
        ("s3+rclone", "none"),
        ("s3+rclone:server=swift", "each-object"),
        ("swift+rclone", "each-object"),
        ("swift+rclone:fsync=no", "none"),
    ],
)
@pytest.mark.parametrize("disk", ["ssd", "ram"])
def test_durability_is_what_the_journal_saw(
    tools: Tools, tmp_path: Path, system: str, durability: str, disk: str
) -> None:
    run = conduct(tools, tmp_path / "run", request(system, "ideal-1000", disk=disk))
    assert {trial.effective["durability"] for trial in run.trials} == {durability}


def test_metadata_on_the_server_costs_round_trips_and_the_client_s_own_none(
    tools: Tools, tmp_path: Path
) -> None:
    waits = {}
    for meta in ("redis", "sqlite3"):
        asked = request(f"s3+juicefs:meta={meta}", "latency-50")
        run = conduct(tools, tmp_path / meta, asked)
        waits[meta] = [row.latency_ns_p50 for row in tank.rows_of(run)]
        assert {trial.effective["metadata"] for trial in run.trials} == {meta}
    for over_the_path, at_hand in zip(waits["redis"], waits["sqlite3"], strict=True):
        assert over_the_path is not None
        assert at_hand is not None
        # The block itself is a round trip at least; a look-up and what it finds are more.
        assert 45e6 < at_hand < over_the_path - 90e6


def test_a_declared_service_time_is_in_every_request(tools: Tools, tmp_path: Path) -> None:
    quick = conduct(tools, tmp_path / "quick", request("swift+rclone", "ideal-1000"))
    slow = conduct(
        tools, tmp_path / "slow", request("swift+rclone:service-time=30ms", "ideal-1000")
    )
    for before, after in zip(tank.rows_of(quick), tank.rows_of(slow), strict=True):
        assert before.latency_ns_p50 is not None
        assert after.latency_ns_p50 is not None
        # Two at once queue for the CPU in the quick one, and not behind a wait.
        assert before.latency_ns_p50 < 30e6 < after.latency_ns_p50


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_comes_through_the_mount_is_what_was_put(
    tools: Tools, tmp_path: Path, system: str
) -> None:
    """Larger than one part or range; the engine compares every byte."""
    asked = msgspec.structs.replace(
        request(system, "ideal-1000"),
        parameters={
            "file-size": ["12MiB"],
            "set-size": ["24MiB"],
            "operation": ["read"],
            "verify": ["yes"],
        },
    )
    (trial,) = conduct(tools, tmp_path / "run", asked).trials
    assert trial.phases[0].operations[0].bytes == 24 << 20
    assert trial.phases[0].operations[0].failed == 0
