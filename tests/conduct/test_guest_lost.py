"""A guest that is too slow or killed costs its trial and nothing else; on real guests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from wavetank.conduct import session
from wavetank.conduct.events import Event, TrialStarted
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.tools import find_tools
from wavetank.runs.records import Plan

pytestmark = pytest.mark.guest


# Of the wall clock: what a trial of these takes, 20 times over.
DEADLINE_S = 30.0


def two_trials() -> Plan:
    """One guest's work: 50 small files, twice."""
    return make_plan(
        Request(
            systems=["nfs4.2"],
            networks=["100mbit/100ms", "100mbit/200ms"],
            workload="batch",
            parameters={"file-size": ["4KiB"], "set-size": ["200KiB"], "operation": ["write"]},
            trial_deadline_s=DEADLINE_S,
        )
    )


def guests() -> set[int]:
    """Guest kernels that this process has started and that run now."""
    parents: dict[int, int] = {}
    kernels: set[int] = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat[1])
            if b"umid=guest" in command and stat[0] != "Z":
                kernels.add(int(folder.name))
    return {pid for pid in kernels if os.getpid() in ancestors(pid, parents)}


def ancestors(pid: int, parents: dict[int, int]) -> list[int]:
    found = []
    while pid in parents:
        pid = parents[pid]
        found.append(pid)
    return found


def alive(pids: set[int]) -> set[int]:
    """Those that still run, whoever their parent is by now."""
    found = set()
    for pid in pids:
        try:
            if b"umid=guest" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(pid)
        except OSError:
            continue
    return found


def test_a_trial_past_its_deadline_is_lost_alone_and_its_guest_is_gone(tmp_path: Path) -> None:
    stopped: set[int] = set()

    def stop_the_first(event: Event) -> None:
        if isinstance(event, TrialStarted) and not stopped:
            stopped.update(guests())
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)

    run = session.start(tmp_path / "run", two_trials(), find_tools(), 1, stop_the_first)
    assert [trial.status for trial in run.trials] == ["timeout", "ok"]
    assert f"no end within {DEADLINE_S:g} s" in (run.trials[0].reason or "")
    assert list((tmp_path / "run" / "guests").iterdir())
    assert stopped
    assert alive(stopped) == set()


def test_a_guest_that_is_killed_costs_the_trial_at_hand(tmp_path: Path) -> None:
    killed: set[int] = set()

    def kill_the_first(event: Event) -> None:
        if isinstance(event, TrialStarted) and not killed:
            killed.update(guests())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    run = session.start(tmp_path / "run", two_trials(), find_tools(), 1, kill_the_first)
    assert killed
    assert [trial.status for trial in run.trials] == ["failed", "ok"]
    assert "ended early" in (run.trials[0].reason or "")
