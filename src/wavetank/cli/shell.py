"""`wavetank shell`: a prompt inside the lab."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded
from wavetank.errors import UsageError

EXAMPLE = "Example: wavetank shell --system nfs4.2:nconnect=4 --network realistic"
LEAST_SET = "64MiB"


@guarded
def shell(
    *,
    system: Annotated[
        str,
        typer.Option(
            "--system",
            help="The system to mount, with its options: nfs4.2:nconnect=8.",
            autocompletion=o.completed(o.system_names),
        ),
    ] = "nfs4.2",
    network: Annotated[
        str,
        typer.Option(
            "--network",
            help="The network, by name or stated: realistic, 200mbit/35ms/0.05%/5ms.",
            autocompletion=o.completed(o.network_names),
        ),
    ] = "realistic",
    clock: Annotated[
        o.ClockName,
        typer.Option("--clock", help="real: time passes as for you; virtual: it jumps."),
    ] = o.ClockName.REAL,
    disk: o.DiskText = "ssd",
    file_size: Annotated[
        str | None, typer.Option("--file-size", help="Put a set of such files there first: 4KiB.")
    ] = None,
    set_size: Annotated[
        str | None, typer.Option("--set-size", help="All files of the set together: 64MiB.")
    ] = None,
    seed: o.Seed = 1,
) -> None:
    """Open a shell in the lab: network emulated and measured, system mounted, you are root."""
    from wavetank import systems  # noqa: PLC0415 - keeps --help quick
    from wavetank.conduct import shell as lab_shell  # noqa: PLC0415
    from wavetank.conduct.planning import Request, make_plan, stated_system  # noqa: PLC0415
    from wavetank.conduct.tools import find_tools  # noqa: PLC0415

    for word, text in (("--system", system), ("--network", network)):
        if "," in text:
            raise UsageError(f"{word} {text}: a shell has one; name one.")
    systems.file_system(stated_system(system)[0])
    with_set = file_size is not None or set_size is not None
    plan = make_plan(
        Request(
            systems=[system],
            networks=[network],
            workload="batch",
            parameters={
                "operation": ["read"],
                "file-size": [file_size or "1MiB"],
                "set-size": [set_size or LEAST_SET],
            },
            disk=disk,
            clock=clock.value,
            seed=seed,
        )
    )
    if len(plan.trials) != 1:
        raise UsageError(f"--network {network} means {len(plan.trials)} networks; name one.")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("a shell needs a terminal on standard input and output.")
    with tempfile.TemporaryDirectory(prefix="wavetank-shell-") as folder:
        request = lab_shell.ShellRequest(
            plan=plan,
            with_set=with_set,
            terminal_kind=os.environ.get("TERM", "dumb"),
            log=Path(folder) / "console.log",
        )
        user = lab_shell.User(sys.stdin.fileno(), sys.stdout.fileno())
        lab_shell.run_shell(request, find_tools(), user, _tell)


def _tell(stage: str) -> None:
    typer.echo(f"{stage} ...", err=True)
