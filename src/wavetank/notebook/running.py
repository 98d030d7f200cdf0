"""`compare`, `run`, `bench` and `bench_store` as functions: words to a plan, the plan run, its
results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rich.console import Console

from wavetank import quantity
from wavetank.cli import benching, request, store_benching
from wavetank.cli.progress import LineProgress
from wavetank.cli.studying import plan_file, plan_ready
from wavetank.conduct import on_host, on_loopback, on_store, session
from wavetank.conduct.events import Observer, nobody
from wavetank.conduct.on_host_plan import is_on_loopback
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
    that is read-only, full or lost, UsageError for the address of object storage, which is for
    `bench_store`.
    """
    if is_address(str(path)):
        raise UsageError(
            f'{path} is object storage; say bench_store("{path}", endpoint="https://...").'
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


def bench_store(  # noqa: PLR0913 - one argument per option of the command
    address: str,
    workload: str = "object",
    *,
    endpoint: str | None = None,
    region: str | None = None,
    style: Literal["path", "virtual-host"] = "path",
    auth: Literal["v1", "v3"] = "v1",
    credentials: str | Path | None = None,
    ca_file: str | Path | None = None,
    seed: int = 1,
    repeats: int = 1,
    out: str | Path | None = None,
    progress: bool = True,
    **parameters: Words,
) -> Results:
    """Measures a bucket or container of yours, `s3://BUCKET/PREFIX` or `swift://CONTAINER/PREFIX`,
    under the real clock, as `wavetank bench` does: under an empty prefix that is left empty.

    `endpoint`: the S3 service, or where Swift's tokens come from (None: where the environment has
    it). `credentials`: a file of them; None takes the environment's. They are no arguments.

    Raises StoreRefused where the address, the credentials, the region or the clock are not right,
    nothing answers or the prefix is in use, NotRemoved where objects could not be removed.
    """
    if not is_address(address):
        raise UsageError(f"{address} is no s3:// or swift:// address; bench() is for directories.")
    words = benching.BenchWords(
        path=address,
        workload=workload,
        cache_state=None,
        seed=seed,
        repeats=repeats,
        trial_deadline=request.DEFAULTS.trial_deadline,
        grid=_grid(parameters),
    )
    store = store_benching.StoreWords(
        endpoint=endpoint,
        region=region,
        style=style,
        auth=auth,
        credentials=Path(credentials) if credentials is not None else None,
        ca_file=Path(ca_file) if ca_file is not None else None,
    )
    where = store_benching.address_of(address, store)
    plan = store_benching.plan_of(where, words, store)
    directory_of_run, tools = _new_directory(out, "bench"), find_host_tools()
    with on_store.place(where, tools) as place, _telling(plan, progress) as observer:
        return Results(on_store.start(place, directory_of_run, plan, tools, observer))


def _conduct(
    plan: Plan, name: str, out: str | Path | None, workers: int | None, progress: bool
) -> Results:
    path = _new_directory(out, name)
    with _telling(plan, progress) as observer:
        if is_on_loopback(plan):
            return Results(on_loopback.start(path, plan, find_host_tools(), observer))
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
