"""The host's side of the tests in this folder: runs conducted as users' runs are, and guests that
do one thing which no run does (`tests.guest.inside`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from tests.guest import inside

from wavetank.analysis.joining import build_rows
from wavetank.analysis.rows import CellRow
from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.session import Tools
from wavetank.lab.host.guest import Guest, GuestSpec
from wavetank.runs.directory import Run
from wavetank.study.model import Cell

# Of the wall clock, for one ask; a guest that hangs is ended then.
ASK_DEADLINE_S = 600.0
MEMORY_BYTES = 1 << 30
DISK_BYTES = 1 << 29
# iperf3 polls while it waits for its peer's results; a declared cost bounds such loops
# (docs/method/clock.md). What runs in the kernel is not charged.
SYSCALL_NS = 2000

A = TypeVar(
    "A",
    inside.IperfAnswer,
    inside.FlowAnswer,
    inside.CaptureAnswer,
    inside.MisshapenAnswer,
)


def conduct(tools: Tools, path: Path, request: Request, workers: int | None = None) -> Run:
    """The request as a run in `path`, every trial of which gave numbers."""
    run = session.start(path, make_plan(request), tools, workers, nobody)
    lost = [(trial.status, trial.reason) for trial in run.trials if trial.status != "ok"]
    assert not lost, lost
    assert not run.missing
    return run


def rows_of(run: Run) -> list[CellRow]:
    """What the run says, a row for each cell."""
    return build_rows(run.plan, run.trials, run.walls, np.random.default_rng(1))


def cells(request: Request) -> list[Cell]:
    """The cells of a request, for guests that do with them what no run does."""
    return [planned.cell for planned in make_plan(request).trials]


def ask_guest(tools: Tools, asks: Sequence[inside.Ask], kind: type[A], log: Path) -> list[A]:
    """The answers of one guest, in the order of the asks."""
    found = [msgspec.json.decode(line, type=inside.Answer) for line in _lines(tools, asks, log)]
    good = [answer for answer in found if isinstance(answer, kind)]
    assert len(good) == len(asks), [one for one in found if not isinstance(one, kind)] or log
    return good


def _lines(tools: Tools, asks: Sequence[inside.Ask], log: Path) -> list[bytes]:
    asked = inside.Asked(
        asks=list(asks), engine=str(tools.engine), tap=str(tools.tap), probe=str(tools.probe)
    )
    spec = GuestSpec(
        kernel=tools.kernel.path,
        memory_bytes=MEMORY_BYTES,
        clock="virtual",
        seed=1,
        syscall_ns=SYSCALL_NS,
        job=msgspec.json.encode(asked),
        log=log,
        name="asked",
        ram_disk_bytes=DISK_BYTES,
        entry="tests.guest.inside",
    )
    lines: list[bytes] = []
    deadline = time.monotonic() + ASK_DEADLINE_S * len(asks)
    with Guest(spec) as guest:
        while len(lines) < len(asks) and time.monotonic() < deadline:
            lines += guest.lines(1.0)
    return lines
