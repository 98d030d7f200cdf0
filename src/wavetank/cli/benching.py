"""A measurement of the user's own directory, from words to report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.console import Console

from wavetank import quantity
from wavetank.cli import outcome
from wavetank.cli.conducting import exit_code_of
from wavetank.cli.grid import grid_of
from wavetank.cli.progress import progress_of
from wavetank.conduct import on_host
from wavetank.conduct.on_host_plan import HostRequest, make_host_plan
from wavetank.conduct.on_host_tools import find_host_tools
from wavetank.conduct.on_host_trial import Place
from wavetank.errors import ExitCode, UsageError
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Plan

_WORKLOAD = "batch"


class BenchWords(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `bench` that decide what is measured. `grid`: parameter to its texts.

    `path`: a directory, or the address of object storage (`store_benching`). `workload`: None is
    the usual one of either.
    """

    path: str
    workload: str | None
    cache_state: str | None
    seed: int
    repeats: int
    trial_deadline: str
    grid: Mapping[str, str | None]


class BenchWays(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `bench` that do not change what is measured."""

    out: Path | None
    resume: bool
    json: bool


def bench(words: BenchWords, ways: BenchWays) -> ExitCode:
    """Measures or goes on measuring, writes the report, prints tables or JSON."""
    return told(_resumed(words, ways) if ways.resume else _started(words, ways), ways)


def told(run: Run, ways: BenchWays) -> ExitCode:
    """Writes the report, prints tables or JSON."""
    outcome.write_report(run)
    if ways.json:
        outcome.print_json(run)
    else:
        outcome.print_run(run)
    return exit_code_of(run)


def _started(words: BenchWords, ways: BenchWays) -> Run:
    # Asked in words before anything is made: what can't be meant is told first.
    plan_of(words, words.cache_state == "warm", words.path)
    out = ways.out or directory.default_path("bench", datetime.now(UTC))
    directory.refuse_if_taken(out)
    tools = find_host_tools()
    with on_host.place(Path(words.path), out, tools) as where:
        wanted = None if words.cache_state is None else words.cache_state == "warm"
        plan = plan_of(words, on_host.is_warm(where, wanted), name_of(where))
        with progress_of(plan, Console(stderr=True)) as progress:
            return on_host.start(where, out, plan, tools, progress)


def _resumed(words: BenchWords, ways: BenchWays) -> Run:
    if ways.out is None:
        raise UsageError("--resume needs --out DIR, the run to go on with.")
    run = directory.read(ways.out)
    on_host.require_host_run(run)
    if not run.missing:
        return run
    tools = find_host_tools()
    with (
        on_host.place(Path(words.path), ways.out, tools) as where,
        progress_of(run.plan, Console(stderr=True)) as progress,
    ):
        return on_host.resume(where, ways.out, tools, progress)


def name_of(where: Place) -> str:
    """The place in words: `/mnt/nas/bench (nfs4 from nas:/export)`."""
    return f"{where.path} ({where.mount.text})"


def plan_of(words: BenchWords, warm: bool, place: str) -> Plan:
    """The plan; raises `UsageError` for what can't be meant. `place` is for its question."""
    workload = words.workload or _WORKLOAD
    return make_host_plan(
        HostRequest(
            workload=workload,
            parameters=grid_of(words.grid),
            warm=warm,
            seed=words.seed,
            repeats=words.repeats,
            trial_deadline_s=quantity.parse_duration(words.trial_deadline) / 1e9,
            question=f"How does {place} do in {workload}?",
            command=command_of(words),
        )
    )


def command_of(words: BenchWords) -> list[str]:
    """The command that asks for the same."""
    command = ["wavetank", "bench", words.path]
    command += ["--workload", words.workload] if words.workload is not None else []
    for name, text in words.grid.items():
        command += [f"--{name}", text] if text is not None else []
    if words.cache_state is not None:
        command += ["--cache-state", words.cache_state]
    if words.seed != 1:
        command += ["--seed", str(words.seed)]
    if words.repeats != 1:
        command += ["--repeats", str(words.repeats)]
    if words.trial_deadline != "15m":
        command += ["--trial-deadline", words.trial_deadline]
    return command
