"""`wavetank bench`: options to words; the work is in `benching`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded
from wavetank.errors import UsageError

EXAMPLE = (
    "Example: mkdir /mnt/nas/bench; wavetank bench /mnt/nas/bench --workload batch "
    "--file-size 4KiB,1MiB --threads 1,8 --duration 10s --repeats 5\n\n"
    "AWS_ACCESS_KEY_ID=... wavetank bench s3://bucket/bench --endpoint https://s3.example.com "
    "--size 4KiB,4MiB --parallel 1,8,64"
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

STORE = "Object storage (credentials: environment or file)"


class StoreStyle(StrEnum):
    PATH = "path"
    VIRTUAL_HOST = "virtual-host"


class SwiftAuth(StrEnum):
    V1 = "v1"
    V3 = "v3"


BenchWorkload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        help="What is done (default: batch; on object storage: object).",
        autocompletion=o.completed(o.workload_names),
        rich_help_panel=o.ASKED,
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        help="S3: the service's URL. Swift: where tokens come from.",
        rich_help_panel=STORE,
    ),
]
Region = Annotated[
    str | None, typer.Option("--region", help="S3: default us-east-1.", rich_help_panel=STORE)
]
Style = Annotated[
    StoreStyle,
    typer.Option("--style", help="S3: where the bucket's name stands.", rich_help_panel=STORE),
]
Auth = Annotated[
    SwiftAuth,
    typer.Option("--auth", help="Swift: TempAuth (v1) or Keystone (v3).", rich_help_panel=STORE),
]
Credentials = Annotated[
    Path | None,
    typer.Option(
        "--credentials",
        help="A file of NAME = value lines; default: the environment.",
        rich_help_panel=STORE,
    ),
]
CaFile = Annotated[
    Path | None,
    typer.Option("--ca-file", help="Authorities to believe for https.", rich_help_panel=STORE),
]

CleanUp = Annotated[
    bool,
    typer.Option(
        "--clean-up",
        help="Measure nothing: remove what killed runs left under PREFIX, and nothing else.",
        rich_help_panel=STORE,
    ),
]


@guarded
def bench(  # noqa: PLR0913 - one argument per option is how Typer declares them
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="An empty directory of yours, on any mount; or s3://BUCKET/PREFIX, "
            "swift://CONTAINER/PREFIX.",
        ),
    ],
    *,
    workload: BenchWorkload = None,
    endpoint: Endpoint = None,
    region: Region = None,
    style: Style = StoreStyle.PATH,
    auth: Auth = SwiftAuth.V1,
    credentials: Credentials = None,
    ca_file: CaFile = None,
    clean_up: CleanUp = False,
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
    """Measure a directory or bucket of your own with the same workloads, on the real clock."""
    from wavetank.cli import benching, store_benching  # noqa: PLC0415 - keeps --help quick
    from wavetank.conduct.on_store_place import is_address  # noqa: PLC0415

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
    if not is_address(path):
        for name, given in (("--endpoint", endpoint), ("--clean-up", clean_up)):
            if given:
                raise UsageError(
                    f"{name} goes with s3://BUCKET/PREFIX or swift://CONTAINER/PREFIX."
                )
        raise typer.Exit(int(benching.bench(words, ways)))
    store = store_benching.StoreWords(
        endpoint=endpoint,
        region=region,
        style=style.value,
        auth=auth.value,
        credentials=credentials,
        ca_file=ca_file,
    )
    if clean_up:
        raise typer.Exit(int(store_benching.clean_up(path, store)))
    raise typer.Exit(int(store_benching.bench(words, store, ways)))
