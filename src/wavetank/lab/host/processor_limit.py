"""How much processor time a process of this machine may take, kept by the kernel.

A control group's quota: the process runs until its share of each period is used, and waits for the
next (Documentation/scheduler/sched-bwc.rst). Ways to have one, in this order: a group of version 1
or of version 2 where its files may be written, which root may; a scope of the user's systemd.
Where there is none of them this says so: lowering priorities, or stopping and continuing the
process, would be something else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from wavetank.lab.errors import LabError

Kind = Literal["cgroup v1", "cgroup v2", "systemd scope"]

# Short, so that a request waits little for the next; a quota is at least 1 ms.
PERIOD_US, QUOTA_LEAST_US = 10_000, 1_000
TRYING_S = 20.0
REMOVING_S = 5.0


class NoProcessorLimit(LabError):
    """Nothing on this machine limits a process's processor time for this user."""


class Held(msgspec.Struct, frozen=True):
    """A limit that is in force. A process is limited by writing 0 into `procs` before it becomes
    the program, or by being started after the words of `prefix`.
    """

    procs: Path | None = None
    prefix: tuple[str, ...] = ()

    def counts(self) -> dict[str, str]:
        """`nr_periods` and `nr_throttled` of the group; empty where it is not ours to read."""
        if self.procs is None:
            return {}
        lines = (self.procs.parent / "cpu.stat").read_text().splitlines()
        found = dict(line.split() for line in lines)
        return {name: found[name] for name in ("nr_periods", "nr_throttled") if name in found}


class ProcessorLimit(msgspec.Struct, frozen=True):
    """One way of limiting; `parent` is the group below which ours is made."""

    kind: Kind
    parent: Path | None = None

    @contextmanager
    def held(self, processors: float) -> Iterator[Held]:
        """The limit for what is started meanwhile, in processors. Raises LabError."""
        if self.parent is None:
            yield Held(prefix=_scope(processors))
            return
        group = self.parent / f"wavetank-{os.getpid()}"
        try:
            group.mkdir()
            for name, value in quota_settings(self.kind, processors).items():
                (group / name).write_text(value)
        except OSError as error:
            _remove(group)
            raise LabError(f"{group} could not be made: {error.strerror}") from error
        try:
            yield Held(group / "cgroup.procs")
        finally:
            _remove(group)


def quota_settings(kind: Kind, processors: float) -> dict[str, str]:
    """A quota in microseconds of each period, in the words of the version."""
    period_us = max(PERIOD_US, round(QUOTA_LEAST_US / processors))
    quota_us = round(period_us * processors)
    if kind == "cgroup v1":
        return {"cpu.cfs_period_us": str(period_us), "cpu.cfs_quota_us": str(quota_us)}
    return {"cpu.max": f"{quota_us} {period_us}"}


def find(mounts: Path = Path("/proc/self/mounts")) -> ProcessorLimit:
    """The first way that works here, tried. Raises NoProcessorLimit in one sentence."""
    for way in (*_groups(mounts.read_text()), ProcessorLimit("systemd scope")):
        if _works(way):
            return way
    raise NoProcessorLimit(
        "nothing here limits a process's processor time: no cpu control group can be made below "
        "/sys/fs/cgroup (root may), and systemd-run --user --scope does not work. Try: as root, "
        "or in a session of systemd's."
    )


def _groups(mounts: str) -> Iterator[ProcessorLimit]:
    """The mounted hierarchies that have the cpu controller, below whose root a group can be."""
    for line in mounts.splitlines():
        _, target, kind, options, *_ = line.split()
        root = Path(target)
        if kind == "cgroup" and "cpu" in options.split(","):
            yield ProcessorLimit("cgroup v1", root)
        if kind == "cgroup2" and _delegates(root):
            yield ProcessorLimit("cgroup v2", root)


def _delegates(root: Path) -> bool:
    try:
        return "cpu" in (root / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _works(way: ProcessorLimit) -> bool:
    """Whether a process that does nothing ends well under the limit."""
    try:
        with way.held(0.5) as held:
            if held.procs is not None:
                return os.access(held.procs, os.W_OK)
            if shutil.which(held.prefix[0]) is None:
                return False
            tried = subprocess.run(
                [*held.prefix, "true"], check=False, capture_output=True, timeout=TRYING_S
            )
            return tried.returncode == 0
    except (LabError, OSError, subprocess.TimeoutExpired):
        return False


def _scope(processors: float) -> tuple[str, ...]:
    period_us = max(PERIOD_US, round(QUOTA_LEAST_US / processors))
    program = shutil.which("systemd-run") or "systemd-run"
    options = ("--user", "--scope", "--quiet", "--collect")
    properties = (f"CPUQuota={processors:.2%}", f"CPUQuotaPeriodSec={period_us}us")
    return (program, *options, *(word for one in properties for word in ("-p", one)), "--")


def _remove(group: Path) -> None:
    """A group is busy until its last process is gone for good."""
    deadline = time.monotonic() + REMOVING_S
    while group.exists():
        try:
            group.rmdir()
        except OSError as error:
            if time.monotonic() > deadline:
                raise LabError(f"{group} could not be removed: {error.strerror}") from error
            time.sleep(0.01)
