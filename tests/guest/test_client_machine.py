"""A declared client in a guest: its disk's rates, its memory, the same result from one seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guest import tank
from tests.guest.test_object import conduct

from wavetank.analysis.rows import CellRow
from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.session import Tools
from wavetank.runs.directory import TRIALS

pytestmark = pytest.mark.guest

NETWORK = "640mbit/0.28ms/coalesce=200us"


def request(disks: list[str], memory: list[str], **grid: list[str]) -> Request:
    parameters = {"size": ["1MiB"], "parallel": ["4"], "objects": ["8"], "duration": ["4s"]}
    return Request(
        systems=["s3"],
        networks=[NETWORK],
        workload="object",
        disk="ram",
        parameters=parameters | {"set-size": ["512MiB"]} | grid,
        client_disks=disks,
        client_memory=memory,
    )


def rates(rows: list[CellRow]) -> dict[tuple[str, str | None], float]:
    return {(row.operation, row.client_disk): row.overall_bytes_per_s or 0.0 for row in rows}


def test_a_client_reads_and_writes_at_its_disks_rates(tools: Tools, tmp_path: Path) -> None:
    """C16 table II. 48 MiB of memory may be dirty by a fifth, which is 2.5 MB/s of the 4 s."""
    asked = request(["c16-magnetic", "c16-ssd", "ram"], ["48MiB"])
    found = rates(tank.rows_of(conduct(tools, tmp_path / "run", asked)))
    assert found["put", "c16-magnetic"] == pytest.approx(61.6e6, rel=0.08)
    assert found["put", "c16-ssd"] == pytest.approx(58.2e6, rel=0.08)
    assert 20e6 < found["get", "c16-magnetic"] < 29e6
    link = 640e6 / 8
    for move, disk in (("put", "ram"), ("get", "ram"), ("get", "c16-ssd")):
        assert 0.9 * link < found[move, disk] < link


def test_what_is_got_is_on_the_disk_or_in_memory_and_more_memory_takes_more(
    tools: Tools, tmp_path: Path
) -> None:
    asked = request(["c16-magnetic"], ["48MiB", "400MiB"], operation=["get"])
    little, much = (
        row.overall_bytes_per_s or 0.0
        for row in tank.rows_of(conduct(tools, tmp_path / "run", asked))
    )
    # A fifth of 352 MiB more, over 4 s.
    assert much - little == pytest.approx(0.2 * (352 << 20) / 4, rel=0.3)


def test_two_runs_with_one_seed_are_the_same_to_the_byte(tools: Tools, tmp_path: Path) -> None:
    asked = request(["c16-magnetic"], ["64MiB"], duration=["1s"])
    first = conduct(tools, tmp_path / "first", asked)
    again = conduct(tools, tmp_path / "again", asked)
    assert (again.path / TRIALS).read_bytes() == (first.path / TRIALS).read_bytes()


def test_what_was_uploaded_is_what_the_clients_files_hold(tools: Tools, tmp_path: Path) -> None:
    """They hold the objects' own content, so that what is got afterwards can be compared."""
    asked = request(["ram"], ["64MiB"], operation=["get"], verify=["yes"], duration=["1s"])
    (trial,) = conduct(tools, tmp_path / "run", asked).trials
    (phase,) = trial.phases
    kinds = {one.operation: one for one in phase.operations}
    assert phase.verification is not None
    assert phase.verification.mismatched_operations == 0
    assert kinds["local"].count == kinds["get"].count > 0


def test_a_client_whose_memory_is_not_enough_is_told_so(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning refuses what can't be; here it lets it through."""
    monkeypatch.setattr("wavetank.conduct.fitting.CLIENT_BASE_BYTES", 0)
    monkeypatch.setattr("wavetank.conduct.fitting.CLIENT_HANDS_FACTOR", 0.0)
    asked = request(["ram"], ["16MiB"], operation=["get"], size=["16MiB"], duration=["1s"])
    run = session.start(tmp_path / "run", make_plan(asked), tools, 1, nobody)
    (trial,) = run.trials
    assert trial.status == "failed"
    assert trial.reason is not None
    assert "the client's memory was not enough" in trial.reason
