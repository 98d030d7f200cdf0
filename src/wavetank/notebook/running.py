"""`compare`, `run` and `bench` as functions: words to a plan, the plan run, its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from wavetank import quantity
from wavetank.cli import benching, request
from wavetank.cli.progress import LineProgress
from wavetank.cli.studying import plan_file, plan_ready
from wavetank.conduct import on_host, session
from wavetank.conduct.events import Observer, nobody
from wavetank.conduct.on_host_tools import find_host_tools
from wavetank.conduct.on_store_place import is_address
from wavetank.conduct.planning import make_plan
from wavetank.conduct.tools import find_tools
from wavetank.errors import UsageError
from wavetank.notebook.results import Results
from wavetank.runs import directory
from wavetank.runs.records import Plan
from wavetank.study.model import CacheState, Clock

Words = str | int | Sequence[str | int]
"""One value or several, worded as on the command line: `"4KiB"`, `8`, `["4KiB", "1MiB"]`."""


def compare(  # noqa: PLR0913 - one argument per option of the command
    systems: str | Sequence[str],
    networks: str | Sequence[str],
    workload: str = "batch",
    *,
    disk: str = "ssd",
    clock: Clock = "virtual",
    cache_state: CacheState = "cold-client-warm-server",
    seed: int = 1,
    repeats: int = 1,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    **parameters: Words,
) -> Results:
    """Compares storage systems over networks: every combination, as `wavetank compare` does.

    `parameters` are the workload's, with `_` for `-`: `file_size=["4KiB", "1MiB"]`,
    `threads=[1, 8]`, `duration="5s"`. `out`: the new run directory (default:
    wavetank-runs/TIME-WORKLOAD). `progress`: a line on stderr for each trial.

    Raises UsageError for what can't be meant, LabError when the testbed fails.
    """
    words = request.Words(
        systems=",".join(_texts(systems)),
        networks=",".join(_texts(networks)),
        workload=workload,
        disk=disk,
        cache_state=cache_state,
        clock=clock,
        seed=seed,
        repeats=repeats,
        syscall_cost=request.DEFAULTS.syscall_cost,
        trial_deadline=request.DEFAULTS.trial_deadline,
        packet_digest=False,
        grid=_grid(parameters),
    )
    return _conduct(make_plan(request.request_of(words)), workload, out, workers, progress)


def run(
    study: str | Path,
    *,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Runs a study: a TOML file, or a ready study by its id, such as `"h14/fig4.5"`.

    Raises StudyFileError, with line and column, for what is no study.
    """
    plan = plan_file(Path(study)) if Path(study).is_file() else plan_ready(str(study))
    name = plan.study.id if plan.study is not None else "study"
    return _conduct(plan, name, out, workers, progress)


def bench(
    path: str | Path,
    workload: str = "batch",
    *,
    warm: bool | None = None,
    seed: int = 1,
    repeats: int = 1,
    out: str | Path | None = None,
    progress: bool = True,
    **parameters: Words,
) -> Results:
    """Measures an empty directory of yours under the real clock, as `wavetank bench` does.

    `warm` None: cold where this user may empty the page cache.

    Raises DirectoryRefused for a directory that is missing or not empty, DirectoryFailed for one
    that is read-only, full or lost, UsageError for the address of object storage, which the
    command line measures.
    """
    if is_address(str(path)):
        raise UsageError(
            f"{path} is object storage, which the command line measures: wavetank bench {path} "
            "--endpoint URL --out DIR; then load(DIR) here."
        )
    words = benching.BenchWords(
        path=str(Path(path)),
        workload=workload,
        cache_state=None if warm is None else "warm" if warm else "cold",
        seed=seed,
        repeats=repeats,
        trial_deadline=request.DEFAULTS.trial_deadline,
        grid=_grid(parameters),
    )
    place, tools = _new_directory(out, "bench"), find_host_tools()
    with on_host.place(Path(words.path), place, tools) as where:
        plan = benching.plan_of(words, on_host.is_warm(where, warm), benching.name_of(where))
        with _telling(plan, progress) as observer:
            return Results(on_host.start(where, place, plan, tools, observer))


def _conduct(
    plan: Plan, name: str, out: str | Path | None, workers: int | None, progress: bool
) -> Results:
    path = _new_directory(out, name)
    with _telling(plan, progress) as observer:
        return Results(session.start(path, plan, find_tools(), workers, observer))


def _new_directory(out: str | Path | None, name: str) -> Path:
    path = Path(out) if out is not None else directory.default_path(name, datetime.now(UTC))
    directory.refuse_if_taken(path)
    return path


def _telling(plan: Plan, progress: bool) -> AbstractContextManager[Observer]:
    if not progress:
        return nullcontext(nobody)
    return LineProgress(plan, Console(stderr=True))


def _texts(words: Words) -> list[str]:
    if isinstance(words, str):
        return quantity.parse_list(words)
    if isinstance(words, bool):
        return ["yes" if words else "no"]
    if isinstance(words, int):
        return [str(words)]
    return [text for word in words for text in _texts(word)]


def _grid(parameters: Mapping[str, Words]) -> dict[str, str | None]:
    """Parameters as the command line has them."""
    grid: dict[str, str | None] = {}
    for name, words in parameters.items():
        texts = _texts(words)
        if not texts:
            raise UsageError(f"{name} has no value; leave it out, or say one.")
        grid[name.replace("_", "-")] = ",".join(texts)
    return grid
