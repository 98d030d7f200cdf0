"""`wavetank logs`: the consoles of a run's guests."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli.failures import guarded
from wavetank.errors import UsageError

RUNS = Path("wavetank-runs")


@guarded
def logs(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A run directory (default: the newest here)."),
    ] = None,
    guest: Annotated[
        str | None, typer.Argument(metavar="[GUEST]", help="A guest's name, such as g0003.")
    ] = None,
) -> None:
    """List the guests of a run with what was lost in them, or print one guest's console."""
    from wavetank.runs import directory  # noqa: PLC0415 - keeps --help quick

    path = run or _newest()
    found = directory.read(path)
    files = {file.stem: file for file in (path / directory.GUESTS).glob("*.log")}
    consoles = {name: files[name] for name in sorted(files)}
    if guest is not None:
        if guest not in consoles:
            raise UsageError(_no_such_guest(path, guest, list(consoles)))
        typer.echo(consoles[guest].read_text(errors="replace"), nl=False)
        return
    lost = {trial.cell: trial for trial in found.trials if trial.status != "ok"}
    by_guest: dict[str, list[str]] = {name: [] for name in consoles}
    for wall in found.walls:
        reasons = by_guest.setdefault(wall.guest, [])
        if wall.cell in lost:
            reasons.append(f"{lost[wall.cell].status}: {lost[wall.cell].reason}")
    for name, reasons in by_guest.items():
        typer.echo(f"{name}  {'; '.join(reasons) or 'all well'}")


def _newest() -> Path:
    runs = [path.parent for path in RUNS.glob("*/plan.json")]
    if not runs:
        raise UsageError(f"there is no run in {RUNS}; name a run directory: wavetank logs DIR.")
    return max(runs, key=lambda path: (path / "plan.json").stat().st_mtime)


def _no_such_guest(path: Path, guest: str, names: list[str]) -> str:
    near = difflib.get_close_matches(guest, names, n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names) or 'none'}."
    return f"{path} has no console of a guest '{guest}'; {meant}"
