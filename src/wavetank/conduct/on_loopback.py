"""A study on the host from beginning to end: the load engine against a server of this machine's
own, under the real clock, recorded as any other run.

What a guest can't tell is measured so: what the client's processor does to its requests. The
network is the loopback and the disk this machine's, both as they are.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from wavetank.conduct.events import Observer
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.interruption import signals_as_flag
from wavetank.conduct.on_host import SIGNALS, HostChanged, HostTools
from wavetank.conduct.on_host_engine import EngineStopped
from wavetank.conduct.on_host_rounds import HOST, conduct
from wavetank.conduct.on_loopback_server import serving
from wavetank.conduct.on_loopback_trial import Place, run_trial
from wavetank.lab.host import processor_limit
from wavetank.lab.host.processor_limit import ProcessorLimit
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, Plan, TrialRecord
from wavetank.study.model import Client
from wavetank.systems import object_programs, s3_versitygw

PAGE_CACHE = "as it is: objects are files that were just written"

FindLimit = Callable[[], ProcessorLimit]


def start(
    out: Path,
    plan: Plan,
    tools: HostTools,
    observer: Observer,
    find_limit: FindLimit = processor_limit.find,
) -> Run:
    """Makes the run directory and measures all of the plan.

    Raises NoProcessorLimit, LabError where versitygw is missing, ServerFailed, and Interrupted
    after Ctrl-C; a directory that was made is resumable.
    """
    directory.refuse_if_taken(out)
    limit = _limit(plan, find_limit)
    object_programs.find(s3_versitygw.PROGRAM)  # or say how to get it, before anything is made
    directory.create(out, plan, _environment(tools, limit))
    return _conduct(out, list(range(len(plan.trials))), tools, limit, observer)


def resume(
    out: Path,
    tools: HostTools,
    observer: Observer,
    find_limit: FindLimit = processor_limit.find,
) -> Run:
    """Measures what is missing of the run in `out`. Raises as `start`, and HostChanged."""
    run = directory.read(out)
    if not run.missing:
        return run
    limit = _limit(run.plan, find_limit)
    now = _environment(tools, limit)
    for what, before, after in (
        ("place", run.environment.isolation, now.isolation),
        ("kernel", run.environment.kernel_digest, now.kernel_digest),
        ("load engine", run.environment.engine_version, now.engine_version),
    ):
        if before != after:
            raise HostChanged(
                f"this run began with {what} '{before}' and it is now '{after}'; "
                "put that back, or begin a new run with another --out."
            )
    return _conduct(out, run.missing, tools, limit, observer)


def _conduct(
    out: Path,
    missing: Sequence[int],
    tools: HostTools,
    limit: ProcessorLimit | None,
    observer: Observer,
) -> Run:
    plan = directory.read(out).plan
    again = shlex.join([*plan.command, "--resume", "--out", str(out)])
    with ExitStack() as stack:
        interrupted = stack.enter_context(signals_as_flag(SIGNALS))
        place = Place(
            server=stack.enter_context(serving()),
            engine=tools.engine,
            log=out / directory.GUESTS / f"{HOST}.log",
            interrupted=interrupted,
            limit=limit,
        )

        def measure(trial: GuestTrial) -> TrialRecord:
            if interrupted.is_set():
                raise EngineStopped("interrupted.")
            return run_trial(trial, place, plan.trial_deadline_s)

        return conduct(out, missing, measure, again, observer)


def _limit(plan: Plan, find_limit: FindLimit) -> ProcessorLimit | None:
    """The way of limiting, where any cell declares the client's processors."""
    clients = [trial.cell.client for trial in plan.trials]
    if any(isinstance(one, Client) and one.processors is not None for one in clients):
        return find_limit()
    return None


def _environment(tools: HostTools, limit: ProcessorLimit | None) -> Environment:
    kept = f", the client's processor time by {limit.kind}" if limit is not None else ""
    return tools.collect_environment(
        f"none: versitygw and the client on this machine's loopback{kept}", PAGE_CACHE
    )
