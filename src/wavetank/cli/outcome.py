"""What a run came to: its HTML page, its tables, its JSON document. Slow to import (numpy)."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from rich.console import Console

from wavetank import report
from wavetank.analysis import analyse
from wavetank.runs.directory import Run

REPORT = "report.html"


def write_report(run: Run, path: Path | None = None) -> Path:
    """Writes the HTML page, by default into the run directory; its path."""
    page = path or run.path / REPORT
    report.write_html(run.plan, run.environment, run.trials, run.walls, page)
    return page


def print_json(run: Run) -> None:
    """The one document of `--json`."""
    analysis = analyse(run.plan, run.trials, run.walls)
    print_document(report.json_document(analysis, run.environment))


def print_document(document: object) -> None:
    """Any document, indented, on stdout."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    sys.stdout.flush()


def print_run(run: Run) -> None:
    """The tables on stdout, and where the page is."""
    console = Console()
    report.print_tables(console, run.plan, run.environment, run.trials, run.walls)
    console.print(f"report: {run.path / REPORT}", soft_wrap=True, highlight=False, markup=False)
