"""Every option and argument that commands share: its name, help and completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ClockName(StrEnum):
    VIRTUAL = "virtual"
    REAL = "real"


class CacheStateName(StrEnum):
    COLD_CLIENT = "cold-client-warm-server"
    COLD = "cold"
    WARM = "warm"


def completed(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """A completion of the last part of a comma-separated list."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in names() if name.startswith(last)]

    return complete


def one_of(*words: str) -> Callable[[str], list[str]]:
    """A completion by these words."""
    return completed(lambda: words)


def system_names() -> list[str]:
    from wavetank import systems  # noqa: PLC0415 - only when the shell asks

    return systems.names()


def network_names() -> list[str]:
    from wavetank.study.named_networks import GROUPS, named  # noqa: PLC0415

    return [*named(), *GROUPS]


def workload_names() -> list[str]:
    from wavetank import workloads  # noqa: PLC0415

    return workloads.names()


def disk_names() -> list[str]:
    from wavetank.study import disks  # noqa: PLC0415

    return list(disks.named())


ASKED, HOW, GRID = "What is compared", "How it is run", "Parameters of the workload (grids: a,b)"

Systems = Annotated[
    str,
    typer.Option(
        "--systems",
        help="Systems, each with its options: local,nfs4.2:nconnect=8,iscsi.",
        autocompletion=completed(system_names),
        rich_help_panel=ASKED,
    ),
]
Networks = Annotated[
    str,
    typer.Option(
        "--networks",
        help="Networks by name, or stated RATE/RTT/LOSS/JITTER and /KEY=VALUE: "
        "realistic,200mbit/35ms/0.05%/5ms.",
        autocompletion=completed(network_names),
        rich_help_panel=ASKED,
    ),
]
WorkloadName = Annotated[
    str,
    typer.Option(
        "--workload",
        help="What is done to each system.",
        autocompletion=completed(workload_names),
        rich_help_panel=ASKED,
    ),
]
DiskText = Annotated[
    str,
    typer.Option(
        "--disk",
        help="The server's disk, with changes: ssd:completion=80us:size=4GiB.",
        autocompletion=completed(disk_names),
        rich_help_panel=ASKED,
    ),
]
ClientDisk = Annotated[
    str,
    typer.Option(
        "--client-disk",
        help="The client's disk, to or from which objects go (workload object, put and get): "
        "c16-magnetic,c16-ssd,ram.",
        autocompletion=completed(disk_names),
        rich_help_panel=ASKED,
    ),
]
ClientMemory = Annotated[
    str,
    typer.Option(
        "--client-memory",
        help="Memory of the client with that disk: 240MiB,1GiB.",
        rich_help_panel=ASKED,
    ),
]
CacheStateOption = Annotated[
    CacheStateName,
    typer.Option(
        "--cache-state", help="What the caches hold before each trial.", rich_help_panel=ASKED
    ),
]
Operation = Annotated[
    str | None,
    typer.Option(
        "--operation",
        help="read, write; on objects put, get, head, delete, list, mix (default: the first two).",
        autocompletion=one_of("read", "write", "put", "get", "head", "delete", "list", "mix"),
        rich_help_panel=GRID,
    ),
]
FileSize = Annotated[
    str | None, typer.Option("--file-size", help="4KiB,1MiB,16MiB", rich_help_panel=GRID)
]
Threads = Annotated[str | None, typer.Option("--threads", help="1,8,64", rich_help_panel=GRID)]
AccessForm = Annotated[
    str | None,
    typer.Option(
        "--access",
        help="sync,direct,default",
        autocompletion=one_of("sync", "direct", "default"),
        rich_help_panel=GRID,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", help="Bytes per call; file: all at once.", rich_help_panel=GRID),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        help="sequential,random (random-sequential).",
        autocompletion=one_of("sequential", "random"),
        rich_help_panel=GRID,
    ),
]
Flush = Annotated[
    str | None,
    typer.Option(
        "--flush",
        help="yes: a write ends with fsync (random-sequential).",
        autocompletion=one_of("yes", "no"),
        rich_help_panel=GRID,
    ),
]
SetSize = Annotated[
    str | None,
    typer.Option("--set-size", help="All files or objects together: 2GiB", rich_help_panel=GRID),
]
Size = Annotated[
    str | None, typer.Option("--size", help="Of an object: 4KiB,1MiB,64MiB", rich_help_panel=GRID)
]
Parallel = Annotated[
    str | None,
    typer.Option(
        "--parallel", help="Connections, a request in flight each: 1,8,64", rich_help_panel=GRID
    ),
]
Objects = Annotated[
    str | None,
    typer.Option(
        "--objects", help="There before a read: a number, or c16 (its table).", rich_help_panel=GRID
    ),
]
Mix = Annotated[
    str | None,
    typer.Option(
        "--mix", help="Weights of operation mix: get:70,put:30; several by ;", rich_help_panel=GRID
    ),
]
Page = Annotated[
    str | None, typer.Option("--page", help="Entries of a listing's page.", rich_help_panel=GRID)
]
Parts = Annotated[
    str | None,
    typer.Option("--parts", help="Parts of an object at once (chunking).", rich_help_panel=GRID),
]
Duration = Annotated[
    str | None,
    typer.Option("--duration", help="The longest a trial measures: 90s", rich_help_panel=GRID),
]
Rate = Annotated[
    str | None,
    typer.Option(
        "--rate",
        help="Files or requests per second of an open loop; 0: closed loop.",
        rich_help_panel=GRID,
    ),
]
Verify = Annotated[
    str | None,
    typer.Option(
        "--verify",
        help="yes: compare what is read with what was written.",
        autocompletion=one_of("yes", "no"),
        rich_help_panel=GRID,
    ),
]
ClockOption = Annotated[
    ClockName,
    typer.Option(
        "--clock",
        help="virtual: waiting and CPU are free, a seed repeats; real: CPU counts.",
        rich_help_panel=HOW,
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, help="Of everything drawn.", rich_help_panel=HOW),
]
Repeats = Annotated[
    int,
    typer.Option("--repeats", min=1, help="Of each cell, a seed for each.", rich_help_panel=HOW),
]
SyscallCost = Annotated[
    str,
    typer.Option(
        "--syscall-cost",
        help="Virtual time charged for each system call in the guest: 2us",
        rich_help_panel=HOW,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Guests side by side (default: one per core).", rich_help_panel=HOW
    ),
]
TrialDeadline = Annotated[
    str,
    typer.Option("--trial-deadline", help="Wall time a trial may take.", rich_help_panel=HOW),
]
PacketDigest = Annotated[
    bool,
    typer.Option(
        "--packet-digest", help="Record a digest of every packet on the link.", rich_help_panel=HOW
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The run directory (default: wavetank-runs/TIME-NAME).",
        file_okay=False,
        rich_help_panel=HOW,
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the run in --out.", rich_help_panel=HOW),
]
Reuse = Annotated[
    list[Path] | None,
    typer.Option(
        "--reuse",
        metavar="DIR",
        help="Take over what this run has measured of the same trials; may be repeated.",
        rich_help_panel=HOW,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout, and nothing else there.")
]
RunPath = Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")]
