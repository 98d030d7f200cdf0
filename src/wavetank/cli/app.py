"""The commands of `wavetank`, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from wavetank import __version__
from wavetank.cli import bench, compare, diff, lists, logs, machine, results, run, shell

app = typer.Typer(
    name="wavetank",
    help="Network storage systems compared in one emulated network, on a clock that can jump.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Example: wavetank compare --systems nfs4.2,iscsi --networks realistic",
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"wavetank {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Options of the program itself."""


app.command(epilog=compare.EXAMPLE)(compare.compare)
app.command(epilog=run.RUN_EXAMPLE)(run.run)
app.command(epilog=run.REPRODUCE_EXAMPLE)(run.reproduce)
app.command(epilog="Example: wavetank report first")(results.report)
app.command(epilog="Example: wavetank show first --json")(results.show)
app.command(epilog=bench.EXAMPLE)(bench.bench)
app.command(epilog=diff.EXAMPLE)(diff.diff)
app.command(epilog=shell.EXAMPLE)(shell.shell)
app.add_typer(lists.app, name="list")
app.command(epilog="Example: wavetank doctor")(machine.doctor)
app.add_typer(machine.kernel, name="kernel")
app.command(epilog="Example: wavetank logs first g0003")(logs.logs)
