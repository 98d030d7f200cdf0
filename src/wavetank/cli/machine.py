"""`wavetank doctor` and `wavetank kernel build`: is this machine ready, and making it so."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from wavetank.cli import options as o
from wavetank.cli.failures import guarded
from wavetank.errors import ExitCode

if TYPE_CHECKING:
    from wavetank.conduct.doctor import Finding
    from wavetank.lab.host.kernel_build import BuildProgress

kernel = typer.Typer(help="The guest's kernel.", no_args_is_help=True)
LINE_EVERY_S = 15.0


@guarded
def doctor(
    repeat: Annotated[
        bool,
        typer.Option("--repeat", help="Run the same cells twice and compare every byte."),
    ] = False,
    json: o.Json = False,
) -> None:
    """Tell what is missing here, and the command that installs it."""
    if repeat:
        raise typer.Exit(int(_repeat(json)))
    from wavetank.conduct import doctor as examination  # noqa: PLC0415 - keeps --help quick

    findings = examination.examine(examination.Machine.here())
    fit = examination.is_fit(findings)
    if json:
        document = {"fit": fit, "findings": [_plain(finding) for finding in findings]}
        typer.echo(json_text.dumps(document, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            _print_finding(finding)
    raise typer.Exit(int(ExitCode.FINE if fit else ExitCode.TESTBED_FAILED))


def _repeat(json: bool) -> ExitCode:
    from wavetank.conduct import repetition  # noqa: PLC0415
    from wavetank.conduct.tools import find_tools  # noqa: PLC0415

    result = repetition.run_twice(find_tools())
    if json:
        document = {
            "identical": result.identical,
            "trials": result.trials,
            "packets": result.packets,
            "difference": result.difference,
        }
        typer.echo(json_text.dumps(document, indent=2))
    else:
        typer.echo(result.sentence)
    return ExitCode.FINE if result.identical else ExitCode.FINDING_FAILED


def _plain(finding: Finding) -> dict[str, str | None]:
    return {
        "name": finding.name,
        "status": finding.status,
        "detail": finding.detail,
        "remedy": finding.remedy,
    }


def _print_finding(finding: Finding) -> None:
    console = Console(soft_wrap=True, highlight=False)
    colour = {"ok": "green", "missing": "red", "optional": "yellow"}[finding.status]
    console.print(f"[{colour}]{finding.status:9}[/]", end="")
    console.print(f"{finding.name}: {finding.detail}", markup=False)
    if finding.remedy is not None:
        console.print(f"{'':9}  {finding.remedy}", markup=False, style="bold")


@kernel.command(epilog="Example: wavetank kernel build --source ~/src/linux-6.12.tar.xz")
@guarded
def build(
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            help="A kernel source, tarball or tree (default: the distribution's linux-source).",
            exists=True,
        ),
    ] = None,
) -> None:
    """Build the guest's kernel once; prints where it is."""
    from wavetank.lab.host import kernel as kernels  # noqa: PLC0415

    console = Console(stderr=True)
    with console.status("") as status:
        built = kernels.build(source, _Telling(console, status.update))
    typer.echo(built.path)


class _Telling:
    """Progress of a build: a status on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console, update: object) -> None:
        self._console = console
        self._update = update
        self._told_step = ""
        self._told_s = 0.0

    def __call__(self, progress: BuildProgress) -> None:
        line = _build_line(progress)
        if self._console.is_terminal and callable(self._update):
            self._update(line)
        elif (
            progress.step.value != self._told_step
            or progress.elapsed_s - self._told_s >= LINE_EVERY_S
        ):
            self._told_step, self._told_s = progress.step.value, progress.elapsed_s
            self._console.print(line, soft_wrap=True, highlight=False, markup=False)


def _build_line(progress: BuildProgress) -> str:
    line = f"kernel: {progress.step.value}, {progress.elapsed_s:.0f} s"
    if progress.objects_total:
        share = progress.objects_done / progress.objects_total
        line += f", {progress.objects_done} of about {progress.objects_total} ({share:.0%})"
    return line
