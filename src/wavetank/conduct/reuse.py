"""Trials that another run has measured already, taken over in place of measuring them again.

Under the virtual clock a trial is what its cell, its repeat and the programs make of it, so a
study that shares cells with one that was run need not run them. Byte for byte that holds within one
plan alone: another gives its guests other memory and other trials before, which what is reclaimed
and when shows.
Nothing is taken over that could have come out otherwise: the real clock, another kernel, engine or
package, a failed trial.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, Plan, TrialRecord, WallRecord


def take_over(path: Path, plan: Plan, environment: Environment, sources: Sequence[Path]) -> int:
    """Copies into the new run at `path` what `sources` hold of its plan; how many trials.

    Each brings its guest's console along, and its wall record names the run it is from. A source
    that is no run, or was made with other programs, gives nothing.

    Raises RunDirectoryError where the run can't be written.
    """
    wanted = {directory.key_of(trial) for trial in plan.trials if trial.cell.clock == "virtual"}
    taken = 0
    with directory.Appender(path) as appender:
        for source in sources:
            for trial, wall in _usable(source, plan, environment):
                if (trial.cell, trial.repeat) in wanted:
                    wanted.discard((trial.cell, trial.repeat))
                    appender.append(trial, _brought_along(path, source, wall))
                    taken += 1
    return taken


def _usable(
    source: Path, plan: Plan, environment: Environment
) -> Iterator[tuple[TrialRecord, WallRecord]]:
    if not (source / directory.PLAN).is_file():
        return
    run = directory.read(source)
    if run.plan.packet_digest != plan.packet_digest or not _alike(run, environment):
        return
    walls = {(wall.cell, wall.repeat): wall for wall in run.walls}
    for trial in run.trials:
        wall = walls.get((trial.cell, trial.repeat))
        if trial.status in directory.DONE and wall is not None:
            yield trial, wall


def _alike(run: Run, environment: Environment) -> bool:
    """Whether everything that takes part in a measurement is the same."""
    return all(
        getattr(run.environment, field) == getattr(environment, field)
        for field in ("wavetank_version", "kernel_digest", "engine_version", "versions")
    )


def _brought_along(path: Path, source: Path, wall: WallRecord) -> WallRecord:
    """The wall record with the console of its guest copied under a name of its own."""
    guest = f"{source.name}-{wall.guest}"
    log = source / directory.GUESTS / f"{wall.guest}.log"
    copy = path / directory.GUESTS / f"{guest}.log"
    if log.is_file() and not copy.exists():
        shutil.copyfile(log, copy)
    return msgspec.structs.replace(wall, guest=guest, reused_from=wall.reused_from or str(source))
