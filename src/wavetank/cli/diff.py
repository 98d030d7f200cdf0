"""`wavetank diff`: the same cells in two runs, what changed, and an exit code for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded
from wavetank.errors import ExitCode, UsageError

EXAMPLE = "Example: wavetank diff wavetank-runs/monday wavetank-runs/tuesday --threshold 5%"


@guarded
def diff(
    before: Annotated[Path, typer.Argument(metavar="DIR_A", help="The earlier run.")],
    after: Annotated[Path, typer.Argument(metavar="DIR_B", help="The later run.")],
    threshold: Annotated[
        str,
        typer.Option("--threshold", help="A change of the rate beyond this is a finding: 5%."),
    ] = "5%",
    force: Annotated[
        bool,
        typer.Option("--force", help="Compare unlike environments too; the output says so."),
    ] = False,
    json: o.Json = False,
) -> None:
    """Compare the same cells of two runs; exit code 1 if any changed past the threshold."""
    from rich.console import Console  # noqa: PLC0415 - keeps --help quick

    from wavetank.analysis.differences import difference  # noqa: PLC0415 - numpy
    from wavetank.cli.outcome import print_document  # noqa: PLC0415
    from wavetank.report.differences import differences_document, print_differences  # noqa: PLC0415
    from wavetank.runs import directory  # noqa: PLC0415

    beyond = _fraction(threshold)
    found = difference(directory.read(before), directory.read(after), threshold=beyond, force=force)
    if json:
        print_document(differences_document(found))
    else:
        print_differences(Console(), found)
    raise typer.Exit(int(_exit_code(len(found.changed), len(found.unsure))))


def _fraction(text: str) -> float:
    from wavetank import quantity  # noqa: PLC0415

    beyond = quantity.parse_fraction(text)
    if not 0 < beyond < 1:
        raise UsageError(f"--threshold {text}: say a change between 0 and 100%, for example 5%.")
    return beyond


def _exit_code(changed: int, unsure: int) -> ExitCode:
    """1 for a change that is sure; 4 where more repeats would have to tell."""
    if changed:
        return ExitCode.FINDING_FAILED
    return ExitCode.INCONCLUSIVE if unsure else ExitCode.FINE
