"""The trials of a measurement outside the lab, one after another: each record on the disk when its
trial ends, whatever ends the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from wavetank.conduct.events import Observer, RunStarted, TrialEnded, TrialStarted
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host_engine import EngineStopped
from wavetank.conduct.pool import Interrupted
from wavetank.errors import WavetankError
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Plan, TrialRecord, WallRecord

HOST = "host"
"""What stands in the records where a guest's name does."""


class PlaceLost(WavetankError):
    """What is measured is lost to all trials, not to one alone."""


Measure = Callable[[GuestTrial], TrialRecord]
"""One trial. Raises PlaceLost, or EngineStopped after Ctrl-C."""


def conduct(
    out: Path, missing: Sequence[int], measure: Measure, again: str, observer: Observer
) -> Run:
    """Measures the `missing` trials of the run in `out`; `again` is the command to go on.

    Raises PlaceLost as `measure` does, with what to do, and Interrupted; what ended is kept.
    """
    plan = directory.read(out).plan
    wanted = frozenset(missing)
    planned = len(plan.trials)
    observer(RunStarted(planned=planned, done=planned - len(missing), workers=1))
    try:
        with directory.Appender(out) as appender:
            for index in (i for batch in plan.batches for i in batch if i in wanted):
                _one(plan, index, measure, appender, observer)
    except EngineStopped:
        raise Interrupted(
            f"interrupted; every trial that ended is kept. To go on: {again}"
        ) from None
    except PlaceLost as error:
        raise type(error)(f"{error} What was measured is kept; to go on: {again}") from error
    directory.put_in_order(out)
    return directory.read(out)


def _one(
    plan: Plan,
    index: int,
    measure: Measure,
    appender: directory.Appender,
    observer: Observer,
) -> None:
    """One trial, its records on the disk when this returns or raises."""
    asked = plan.trials[index]
    trial = GuestTrial(index=index, cell=asked.cell, repeat=asked.repeat)
    observer(TrialStarted(index=index, guest=HOST, worker=0))
    began_s = time.monotonic()

    def keep(record: TrialRecord) -> None:
        wall = WallRecord(
            cell=record.cell,
            repeat=record.repeat,
            guest=HOST,
            wall_s=round(time.monotonic() - began_s, 3),
            boot_wall_s=0.0,
            ended_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            worker=0,
        )
        appender.append(record, wall)
        observer(TrialEnded(index=index, trial=record, wall=wall))

    try:
        keep(measure(trial))
    except PlaceLost as error:
        keep(failed(trial, error))
        raise


def failed(trial: GuestTrial, error: Exception) -> TrialRecord:
    """The record of a trial that was lost with its place."""
    return TrialRecord(
        cell=trial.cell.digest, repeat=trial.repeat, status="failed", reason=str(error)
    )
