"""A measurement of a user's own object storage from beginning to end, recorded as any other run."""

from __future__ import annotations

import shlex
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank.conduct.events import Observer
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.interruption import signals_as_flag
from wavetank.conduct.on_host import SIGNALS, HostChanged, HostTools
from wavetank.conduct.on_host_engine import Engine, EngineStopped
from wavetank.conduct.on_host_rounds import HOST, conduct
from wavetank.conduct.on_store_place import Address, OwnPrefix, clean_up
from wavetank.conduct.on_store_plan import is_store_plan
from wavetank.conduct.on_store_trial import run_trial
from wavetank.errors import UsageError
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, Plan, TrialRecord

NO_PAGE_CACHE = "none: over REST the client keeps nothing"


class StorePlace(msgspec.Struct, frozen=True):
    """Our prefix, and the flag that Ctrl-C sets."""

    own: OwnPrefix
    interrupted: threading.Event


@contextmanager
def place(address: Address, tools: HostTools) -> Iterator[StorePlace]:
    """Our own prefix at the address, for the body; nothing of ours is left there afterwards.

    Raises StoreRefused where it is no place to measure in, NotRemoved where something is left.
    """
    with (
        signals_as_flag(SIGNALS) as interrupted,
        tempfile.TemporaryDirectory(prefix="wavetank-bench-") as folder,
        # What looks and removes goes on after Ctrl-C: nothing of ours may stay.
        OwnPrefix(address, Engine(tools.engine, Path(folder) / "log", threading.Event())) as own,
    ):
        yield StorePlace(own, interrupted)


def clean(address: Address, tools: HostTools) -> str:
    """Removes what killed runs of bench left at the address, and nothing else; what that was.

    Raises StoreRefused where the address can't be used.
    """
    with tempfile.TemporaryDirectory(prefix="wavetank-bench-") as folder:
        log = Path(folder) / "log"
        clean_up(address, Engine(tools.engine, log, threading.Event()))
        said = log.read_text().strip().splitlines()
    return f"{address.url}: {said[-1].removeprefix('wavetank-load: ')}." if said else address.url


def start(where: StorePlace, out: Path, plan: Plan, tools: HostTools, observer: Observer) -> Run:
    """Makes the run directory and measures all of the plan.

    Raises NotRemoved, and Interrupted after Ctrl-C; a directory that was made is resumable.
    """
    directory.refuse_if_taken(out)
    directory.create(out, plan, _environment(where, tools))
    return _conduct(where, out, list(range(len(plan.trials))), tools, observer)


def resume(where: StorePlace, out: Path, tools: HostTools, observer: Observer) -> Run:
    """Measures what is missing of the run in `out`, at the address it began at."""
    run = directory.read(out)
    now = _environment(where, tools)
    for what, before, after in (
        ("place", run.environment.isolation, now.isolation),
        ("load engine", run.environment.engine_version, now.engine_version),
    ):
        if before != after:
            raise HostChanged(
                f"this run began with {what} '{before}' and it is now '{after}'; "
                "put that back, or begin a new run with another --out."
            )
    return _conduct(where, out, run.missing, tools, observer)


def require_store_run(run: Run) -> None:
    """Raises UsageError for a run of the lab or of a directory."""
    if not is_store_plan(run.plan):
        raise UsageError(f"{run.path} is no run of object storage; name the one to go on with.")


def _conduct(
    where: StorePlace, out: Path, missing: list[int], tools: HostTools, observer: Observer
) -> Run:
    plan = directory.read(out).plan
    engine = Engine(tools.engine, out / directory.GUESTS / f"{HOST}.log", where.interrupted)

    def measure(trial: GuestTrial) -> TrialRecord:
        if where.interrupted.is_set():
            raise EngineStopped("interrupted.")
        return run_trial(trial, where.own, engine, plan.trial_deadline_s)

    again = shlex.join([*plan.command, "--resume", "--out", str(out)])
    return conduct(out, missing, measure, again, observer)


def _environment(where: StorePlace, tools: HostTools) -> Environment:
    return tools.collect_environment(where.own.address.told, NO_PAGE_CACHE)
