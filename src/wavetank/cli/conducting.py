"""A plan from words to report: runs or resumes it with progress, tells the outcome."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.console import Console

from wavetank.cli import outcome
from wavetank.cli.progress import progress_of
from wavetank.cli.request import Words, request_of
from wavetank.conduct import on_loopback, session
from wavetank.conduct.on_host_plan import is_on_loopback
from wavetank.conduct.on_host_tools import find_host_tools
from wavetank.conduct.planning import make_plan
from wavetank.conduct.tools import find_tools
from wavetank.errors import ExitCode, UsageError
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Plan


class Ways(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a run that do not change what is measured."""

    out: Path | None
    resume: bool
    workers: int | None
    json: bool
    reuse: tuple[Path, ...] = ()


def compare(words: Words, ways: Ways) -> ExitCode:
    """Runs or resumes the comparison; to resume, no words are needed."""
    plan = None if ways.resume and not words.systems else _plan(words)
    return conduct(plan, words.workload, ways)


def conduct(plan: Plan | None, name: str, ways: Ways) -> ExitCode:
    """Runs or resumes the plan, writes its report, prints its tables or JSON.

    `name` ends the default directory's. None as the plan: whatever the run to resume holds.
    """
    run = _resumed(plan, ways) if ways.resume else _started(plan, name, ways)
    outcome.write_report(run)
    if ways.json:
        outcome.print_json(run)
    else:
        outcome.print_run(run)
    return exit_code_of(run)


def exit_code_of(run: Run) -> ExitCode:
    """3 where a trial was lost, 4 where one was void, else 0."""
    if run.missing:
        return ExitCode.TESTBED_FAILED
    if any(trial.status == "void" for trial in run.trials):
        return ExitCode.INCONCLUSIVE
    return ExitCode.FINE


def _started(plan: Plan | None, name: str, ways: Ways) -> Run:
    if plan is None:
        raise UsageError("there is nothing to run; --resume goes on with a run.")
    path = ways.out or directory.default_path(name, datetime.now(UTC))
    directory.refuse_if_taken(path)
    for source in ways.reuse:
        directory.read(source)  # what is no run is refused before anything begins
    with progress_of(plan, Console(stderr=True)) as progress:
        if is_on_loopback(plan):
            return on_loopback.start(path, plan, find_host_tools(), progress)
        return session.start(path, plan, find_tools(), ways.workers, progress, ways.reuse)


def missing_of(asked: Plan | None, path: Path) -> tuple[Plan, list[int]]:
    """The plan of the run at `path`, which must be the one asked for, and its missing trials."""
    run = directory.read(path)
    if asked is not None and asked.trials != run.plan.trials:
        raise UsageError(
            f"{path} holds another plan than the one asked for; go on with what it holds "
            f"(wavetank compare --resume --out {path}) or take another --out."
        )
    return run.plan, run.missing


def _resumed(asked: Plan | None, ways: Ways) -> Run:
    if ways.out is None:
        raise UsageError("--resume needs --out DIR, the run to go on with.")
    plan, _ = missing_of(asked, ways.out)
    with progress_of(plan, Console(stderr=True)) as progress:
        if is_on_loopback(plan):
            return on_loopback.resume(ways.out, find_host_tools(), progress)
        return session.resume(ways.out, find_tools(), ways.workers, progress)


def _plan(words: Words) -> Plan:
    if not words.systems or not words.networks:
        raise UsageError(
            "say what to compare, for example --systems nfs4.2,iscsi --networks realistic; "
            "see wavetank list systems and wavetank list networks."
        )
    return make_plan(request_of(words))
