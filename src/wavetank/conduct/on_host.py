"""A measurement of a user's own directory from beginning to end: the lab's workloads and engine
under the real clock, recorded as a run like any other.

No guest and no emulated network: what is measured is this machine and this mount as they are.
The run directory is written as trials end; the files go when their trial does; whatever happens,
nothing of the user's is touched.
"""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wavetank import workloads
from wavetank.conduct.events import Observer
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.interruption import signals_as_flag
from wavetank.conduct.on_host_directory import DirectoryFailed, OwnDirectory
from wavetank.conduct.on_host_engine import Engine, EngineStopped
from wavetank.conduct.on_host_plan import is_host_plan, workload_cell
from wavetank.conduct.on_host_rounds import HOST, conduct
from wavetank.conduct.on_host_trial import Place, run_trial
from wavetank.errors import UsageError
from wavetank.gauges import host
from wavetank.gauges.host import PAGE_CACHE_TEXT, PageCacheMethod
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, Plan, TrialRecord

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class HostTools(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is made with. `collect_environment` takes the place and the page cache in words;
    `cache_method` tries how the cache of a file system can be emptied.
    """

    engine: Path
    collect_environment: Callable[[str, str], Environment]
    cache_method: Callable[[int], PageCacheMethod] = host.page_cache_method


class HostChanged(UsageError):
    """A run can't go on in another place than it began in."""


@contextmanager
def place(path: Path, out: Path, tools: HostTools) -> Iterator[Place]:
    """Our own directory in `path`, marked, for a run into `out`; gone when the body is left.

    Signals that would end the process set `interrupted` meanwhile. Raises DirectoryRefused or
    DirectoryFailed where `path` is no place to measure in.
    """
    path = path.absolute()
    _require_apart(path, out)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with signals_as_flag(SIGNALS) as interrupted, OwnDirectory(path, now) as own:
        try:
            method = tools.cache_method(own.descriptor)
        except OSError as error:
            raise DirectoryFailed(f"{path} can't be written: {error.strerror}.") from error
        yield Place(path, own, host.mount_of(own.descriptor), method, interrupted)


def is_warm(where: Place, want_warm: bool | None) -> bool:
    """Whether trials find their set in the cache: as wanted, or, with None, where it can't be
    emptied. Raises UsageError when it can't be cold and has to.
    """
    if want_warm is False and where.method == "none":
        raise UsageError(
            f"the page cache of {where.path} ({where.mount.kind}) can't be emptied here; "
            "measure it warm: --cache-state warm."
        )
    return where.method == "none" if want_warm is None else want_warm


def start(where: Place, out: Path, plan: Plan, tools: HostTools, observer: Observer) -> Run:
    """Makes the run directory and measures all of the plan.

    Raises DirectoryFailed when the directory has no room or fails, Interrupted after Ctrl-C;
    a run directory that was made is readable and resumable.
    """
    directory.refuse_if_taken(out)
    where.own.require_room(_needed_bytes(plan), _needed_files(plan))
    directory.create(out, plan, _environment(where, tools))
    return _conduct(where, out, list(range(len(plan.trials))), tools, observer)


def resume(where: Place, out: Path, tools: HostTools, observer: Observer) -> Run:
    """Measures what is missing of the run in `out`, in the place it began in."""
    run = directory.read(out)
    if not run.missing:
        return run
    where.own.require_room(_needed_bytes(run.plan), _needed_files(run.plan))
    _require_same(run.environment, _environment(where, tools))
    return _conduct(where, out, run.missing, tools, observer)


def require_host_run(run: Run) -> None:
    """Raises UsageError for a run of the lab."""
    if not is_host_plan(run.plan):
        raise UsageError(
            f"{run.path} is a run of the lab; to go on: "
            f"wavetank compare --resume --out {shlex.quote(str(run.path))}"
        )


def _conduct(
    where: Place, out: Path, missing: Sequence[int], tools: HostTools, observer: Observer
) -> Run:
    engine = Engine(tools.engine, out / directory.GUESTS / f"{HOST}.log", where.interrupted)
    again = f"wavetank bench {shlex.quote(str(where.path))} --resume --out {shlex.quote(str(out))}"
    deadline_s = directory.read(out).plan.trial_deadline_s

    def measure(trial: GuestTrial) -> TrialRecord:
        if where.interrupted.is_set():
            raise EngineStopped("interrupted.")
        return run_trial(trial, where, engine, deadline_s)

    return conduct(out, missing, measure, again, observer)


def _needed_bytes(plan: Plan) -> int:
    """The largest set: each is removed before the next is made."""
    return max(
        workloads.get(asked.cell.workload.name).footprint_bytes(
            workload_cell(GuestTrial(index=0, cell=asked.cell, repeat=asked.repeat))
        )
        for asked in plan.trials
    )


def _needed_files(plan: Plan) -> int:
    """Those of the set that has most."""
    return max(
        workloads.on_files(asked.cell.workload.name)
        .measure(workload_cell(GuestTrial(index=0, cell=asked.cell, repeat=asked.repeat)))
        .set.files
        for asked in plan.trials
    )


def _environment(where: Place, tools: HostTools) -> Environment:
    return tools.collect_environment(where.told, PAGE_CACHE_TEXT[where.method])


def _require_apart(path: Path, out: Path) -> None:
    """The run's records must not lie in what is measured."""
    if path.resolve() in [out.resolve(), *out.resolve().parents]:
        raise UsageError(
            f"the run directory {out} would lie in {path}, which is to be measured; "
            "name another with --out."
        )


def _require_same(then: Environment, now: Environment) -> None:
    pairs = [
        ("place", then.isolation.partition(": ")[2], now.isolation.partition(": ")[2]),
        ("kernel", then.kernel_digest, now.kernel_digest),
        ("load engine", then.engine_version, now.engine_version),
        ("page cache", then.host.get("page cache", ""), now.host.get("page cache", "")),
    ]
    for what, before, after in pairs:
        if before != after:
            raise HostChanged(
                f"this run began with {what} '{before}' and it is now '{after}'; "
                "put that back, or begin a new run with another --out."
            )
