"""A queue that is deep for its path is slow, and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guest import tank

from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools

pytestmark = pytest.mark.guest


@pytest.mark.parametrize("system", ["iscsi", "iscsi:sessions=4", "nvme", "nfs4.2"])
def test_writes_that_wait_for_minutes_are_written(
    tools: Tools, tmp_path: Path, system: str
) -> None:
    """64 MiB at 5 Mbit/s are two minutes, and more in flight than 30 s can carry."""
    request = Request(
        systems=[system],
        networks=["5mbit/20ms"],
        workload="batch",
        parameters={
            "operation": ["write"],
            "file-size": ["2MiB"],
            "set-size": ["64MiB"],
            "threads": ["32"],
            "access": ["direct"],
            "duration": ["1h"],
        },
        disk="ram",
    )
    (trial,) = tank.conduct(tools, tmp_path / "run", request).trials
    assert trial.status == "ok", trial.reason
    (phase,) = trial.phases
    written = phase.operations[0]
    assert (written.count, written.failed, written.errors) == (32, 0, {})
    assert phase.elapsed_ns > 100e9


def test_dirty_pages_of_the_client_do_not_stop_the_server(tools: Tools, tmp_path: Path) -> None:
    """512 MiB through the page cache at once: a fifth of the guest's memory, several times."""
    request = Request(
        systems=["iscsi"],
        networks=["ideal-100"],
        workload="batch",
        parameters={
            "operation": ["write"],
            "file-size": ["16MiB"],
            "set-size": ["512MiB"],
            "threads": ["32"],
            "access": ["sync"],
            "duration": ["1h"],
        },
        disk="ram",
    )
    (trial,) = tank.conduct(tools, tmp_path / "run", request).trials
    written = trial.phases[0].operations[0]
    assert (written.count, written.failed, written.errors) == (32, 0, {})
    assert trial.phases[0].elapsed_ns < 60e9
