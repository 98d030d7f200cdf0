"""`wavetank report` and `wavetank show`: what a run directory holds, rebuilt at any time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded


@guarded
def report(
    run: o.RunPath,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Where the page goes (default: DIR/report.html).", dir_okay=False
        ),
    ] = None,
) -> None:
    """Build the HTML report of a run again; prints its path."""
    from wavetank.cli import outcome  # noqa: PLC0415 - numpy and the page's templates
    from wavetank.runs import directory  # noqa: PLC0415

    typer.echo(outcome.write_report(directory.read(run), out))


@guarded
def show(run: o.RunPath, json: o.Json = False) -> None:
    """Print the tables of a run, also of one that is still going on."""
    from wavetank.cli import outcome  # noqa: PLC0415 - numpy
    from wavetank.runs import directory  # noqa: PLC0415

    found = directory.read(run)
    if json:
        outcome.print_json(found)
    else:
        outcome.print_run(found)
