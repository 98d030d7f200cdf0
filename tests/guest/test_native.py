"""Object storage by REST in guests: the real Swift and the real versitygw, and nothing mounted.

Skipped, saying which program is missing, where they are not installed (install/object.sh).
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.guest import tank
from tests.guest.test_object import conduct

from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools
from wavetank.runs.directory import TRIALS
from wavetank.runs.records import OperationRecord, TrialRecord

pytestmark = pytest.mark.guest

SYSTEMS = ["s3", "s3:server=swift", "swift"]


def request(system: str, network: str, **grid: list[str]) -> Request:
    """A little of 64 KiB, two at once, for a few seconds, every packet digested."""
    parameters = {"size": ["64KiB"], "parallel": ["2"], "objects": ["16"], "duration": ["1s"]}
    return Request(
        systems=[system],
        networks=[network],
        workload="object",
        parameters=parameters | grid,
        packet_digest=True,
    )


def operations(trial: TrialRecord) -> dict[str, OperationRecord]:
    (phase,) = trial.phases
    assert phase.backend == "object"
    return {one.operation: one for one in phase.operations}


@pytest.mark.parametrize("system", SYSTEMS)
def test_two_runs_with_one_seed_are_the_same_to_the_byte(
    tools: Tools, tmp_path: Path, system: str
) -> None:
    """Loss, jitter, a server in Go or Python, and a client with a thread for each connection."""
    asked = request(system, "realistic")
    first = conduct(tools, tmp_path / "first", asked)
    again = conduct(tools, tmp_path / "again", asked)
    assert (again.path / TRIALS).read_bytes() == (first.path / TRIALS).read_bytes()
    for trial in first.trials:
        assert trial.link is not None
        assert trial.link.packet_digest
        found = operations(trial)
        # The last byte can't come before the first, nor that before a round trip of 50 ms.
        assert 40e6 < found["first_byte"].latency_ns_max <= found["last_byte"].latency_ns_max
        assert found["connect"].count <= 2
        assert found["last_byte"].count == trial.phases[0].operations[0].count


def test_another_seed_gives_other_packets(tools: Tools, tmp_path: Path) -> None:
    asked = request("s3", "realistic", operation=["get"])
    runs = [
        conduct(tools, tmp_path / str(seed), msgspec.structs.replace(asked, seed=seed))
        for seed in (1, 2)
    ]
    one, other = (run.trials[0].link for run in runs)
    assert one is not None
    assert other is not None
    assert one.packet_digest != other.packet_digest


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_got_is_what_was_put(tools: Tools, tmp_path: Path, system: str) -> None:
    """The set was put there without the network; the engine compares every byte that it gets."""
    asked = request(system, "ideal-100", operation=["get"], verify=["yes"], size=["3000000B"])
    (trial,) = conduct(tools, tmp_path / "run", asked).trials
    (phase,) = trial.phases
    assert phase.verification is not None
    moved = phase.operations[0].bytes + phase.cut_off_bytes
    assert phase.verification.checked_bytes == moved > 0
    assert phase.verification.mismatched_operations == 0


@pytest.mark.parametrize(
    ("system", "operations"),
    [
        ("s3", ["put", "get", "head", "delete", "list"]),
        ("s3:server=swift", ["put", "get"]),
        ("swift", ["delete", "list"]),
    ],
)
def test_a_round_trip_is_all_that_a_small_request_waits_for(
    tools: Tools, tmp_path: Path, system: str, operations: list[str]
) -> None:
    asked = request(system, "latency-50", size=["1KiB"], operation=operations)
    run = conduct(tools, tmp_path / "run", asked)
    for row in tank.rows_of(run):
        assert row.failed_operations == 0
        assert row.round_trips_p50 == pytest.approx(1.0, rel=0.25), row.operation


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_mix_is_told_by_its_kinds(tools: Tools, tmp_path: Path, system: str) -> None:
    asked = request(system, "ideal-100", operation=["mix"], mix=["get:2,put:1,delete:1"])
    (trial,) = conduct(tools, tmp_path / "run", asked).trials
    found = operations(trial)
    assert min(found[name].count for name in ("get", "put", "delete")) > 0
    kinds = sum(found[name].count for name in ("get", "put", "delete"))
    assert found["mix"].count == kinds


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("s3", {"size": ["12MiB"], "parts": ["2"], "operation": ["put", "get"]}),
        ("s3", {"size": ["1MiB"], "parts": ["8"], "operation": ["get"], "verify": ["yes"]}),
        ("s3:server=swift", {"size": ["12MiB"], "parts": ["2"], "operation": ["put", "get"]}),
        ("swift", {"size": ["256KiB"], "parts": ["4"], "operation": ["put"]}),
    ],
)
def test_an_object_moves_in_parts(
    tools: Tools, tmp_path: Path, system: str, words: dict[str, list[str]]
) -> None:
    asked = msgspec.structs.replace(
        request(system, "ideal-100"),
        workload="chunking",
        parameters=words | {"duration": ["1s"]},
    )
    for trial in conduct(tools, tmp_path / "run", asked).trials:
        found = operations(trial)
        whole = trial.phases[0].operations[0]
        assert whole.failed == 0
        assert found["part"].count == int(words["parts"][0]) * whole.count


def test_parallel_connections_share_the_wait(tools: Tools, tmp_path: Path) -> None:
    """64 connections at 50 ms ask for some 64 times as much as one."""
    asked = request("s3", "latency-50", size=["1KiB"], operation=["get"], parallel=["1", "64"])
    alone, together = tank.rows_of(conduct(tools, tmp_path / "run", asked))
    assert alone.operations_per_s is not None
    assert together.operations_per_s is not None
    assert 25 < together.operations_per_s / alone.operations_per_s < 70


def test_a_cold_server_reads_its_disk(tools: Tools, tmp_path: Path) -> None:
    asked = msgspec.structs.replace(
        request("s3", "ideal-100", operation=["get"]), cache_state="cold"
    )
    (trial,) = conduct(tools, tmp_path / "run", asked).trials
    assert trial.state_proof is not None
    assert trial.state_proof.disk_read_bytes >= 16 * 65536
