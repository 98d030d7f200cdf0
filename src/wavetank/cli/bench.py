"""`wavetank bench`: options to words; the work is in `benching`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded

EXAMPLE = (
    "Example: mkdir /mnt/nas/bench; wavetank bench /mnt/nas/bench --workload batch "
    "--file-size 4KiB,1MiB --threads 1,8 --duration 10s --repeats 5"
)


class HostCacheState(StrEnum):
    COLD = "cold"
    WARM = "warm"


CacheState = Annotated[
    HostCacheState | None,
    typer.Option(
        "--cache-state",
        help="What this machine's cache holds before each trial (default: cold where possible).",
        rich_help_panel=o.ASKED,
    ),
]


@guarded
def bench(  # noqa: PLR0913 - one argument per option is how Typer declares them
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="An empty directory of yours, on any mount.")
    ],
    *,
    workload: o.WorkloadName = "batch",
    cache_state: CacheState = None,
    operation: o.Operation = None,
    file_size: o.FileSize = None,
    threads: o.Threads = None,
    access: o.AccessForm = None,
    unit: o.Unit = None,
    order: o.Order = None,
    flush: o.Flush = None,
    size: o.Size = None,
    parallel: o.Parallel = None,
    objects: o.Objects = None,
    mix: o.Mix = None,
    page: o.Page = None,
    parts: o.Parts = None,
    set_size: o.SetSize = None,
    duration: o.Duration = None,
    rate: o.Rate = None,
    verify: o.Verify = None,
    seed: o.Seed = 1,
    repeats: o.Repeats = 1,
    trial_deadline: o.TrialDeadline = "15m",
    out: o.Out = None,
    resume: o.Resume = False,
    json: o.Json = False,
) -> None:
    """Measure a directory of your own with the same workloads, on the real clock."""
    from wavetank.cli import benching  # noqa: PLC0415 - keeps --help quick

    words = benching.BenchWords(
        path=path,
        workload=workload,
        cache_state=cache_state.value if cache_state is not None else None,
        seed=seed,
        repeats=repeats,
        trial_deadline=trial_deadline,
        grid={
            "operation": operation,
            "file-size": file_size,
            "threads": threads,
            "access": access,
            "unit": unit,
            "order": order,
            "flush": flush,
            "size": size,
            "parallel": parallel,
            "objects": objects,
            "mix": mix,
            "page": page,
            "parts": parts,
            "set-size": set_size,
            "duration": duration,
            "rate": rate,
            "verify": verify,
        },
    )
    ways = benching.BenchWays(out=out, resume=resume, json=json)
    raise typer.Exit(int(benching.bench(words, ways)))
