"""A run from beginning to end: made or resumed, conducted, left in order.

The only file that joins planning, memory, pool and run directory. What it starts and looks at
comes in as `Tools`, so that all of it runs without a kernel in tests.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from wavetank.conduct import memory, reuse
from wavetank.conduct.batch import GuestSetup, StartGuest
from wavetank.conduct.events import Observer
from wavetank.conduct.on_host_plan import is_outside_lab
from wavetank.conduct.pool import PoolSetup, run_pool
from wavetank.conduct.programs import is_installed, require_programs
from wavetank.errors import UsageError
from wavetank.lab.host.kernel import BuiltKernel
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, Plan


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is made with: our programs, and the doors to the lab."""

    kernel: BuiltKernel
    engine: Path
    tap: Path
    probe: Path
    start_guest: StartGuest
    collect_environment: Callable[[], Environment]
    available_memory_bytes: Callable[[], int] = memory.available_bytes
    is_installed: Callable[[str], bool] = is_installed


class EnvironmentChanged(UsageError):
    """A run can't go on with other programs than it began with."""


def start(
    path: Path,
    plan: Plan,
    tools: Tools,
    workers: int | None,
    observer: Observer,
    sources: Sequence[Path] = (),
) -> Run:
    """Makes the run directory and runs all of the plan; `workers` None: one per core that fits.

    What `sources`, other runs, have measured already is taken over (`conduct.reuse`).

    Raises whatever the rooms below raise; a directory that was made is readable and resumable.
    """
    directory.refuse_if_taken(path)
    setup = _setup(plan, tools, workers)
    environment = tools.collect_environment()
    directory.create(path, plan, environment)
    if sources:
        reuse.take_over(path, plan, environment, sources)
    return _conduct(path, setup, tools, observer)


def resume(path: Path, tools: Tools, workers: int | None, observer: Observer) -> Run:
    """Runs what is missing of a run: trials that never ended, failed or ran out of time."""
    run = directory.read(path)
    if is_outside_lab(run.plan):
        raise UsageError(
            f"{path} was made by wavetank bench; to go on: "
            f"wavetank bench PATH --resume --out {shlex.quote(str(path))}"
        )
    if not run.missing:
        return run
    setup = _setup(run.plan, tools, workers)
    _require_same(run.environment, tools.collect_environment())
    return _conduct(path, setup, tools, observer)


def _conduct(path: Path, setup: PoolSetup, tools: Tools, observer: Observer) -> Run:
    run = directory.read(path)
    run_pool(path, run.plan, run.missing, setup, tools.start_guest, observer)
    directory.put_in_order(path)
    return directory.read(path)


def _setup(plan: Plan, tools: Tools, workers: int | None) -> PoolSetup:
    require_programs(plan, tools.is_installed)
    memory_bytes = memory.batch_memory_bytes(plan)
    available = tools.available_memory_bytes()
    if workers is None:
        cores = len(os.sched_getaffinity(0))
        workers = memory.fitting_workers(memory_bytes, cores, available)
    else:
        memory.require_workers(memory_bytes, workers, available)
    guests = GuestSetup(
        kernel=tools.kernel.path,
        engine=tools.engine,
        tap=tools.tap,
        probe=tools.probe,
        packet_digest=plan.packet_digest,
    )
    return PoolSetup(guests=guests, workers=workers, memory_bytes=memory_bytes)


def _require_same(then: Environment, now: Environment) -> None:
    """Raises `EnvironmentChanged` when what is measured is no longer the same."""
    for what, before, after in (
        ("guest kernel", then.kernel_digest, now.kernel_digest),
        ("load engine", then.engine_version, now.engine_version),
        *(
            (name, version, now.versions.get(name, "none"))
            for name, version in then.versions.items()
        ),
    ):
        if before != after:
            raise EnvironmentChanged(
                f"this run began with {what} {before} and the machine now has {after}; "
                "put that back, or begin a new run with another --out."
            )
