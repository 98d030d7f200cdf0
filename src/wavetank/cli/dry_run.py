"""What plans would do, told without doing it: their cells, and the time they would take."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table

from wavetank.cli import outcome
from wavetank.cli.progress import cell_title, span_text
from wavetank.conduct import estimate, memory
from wavetank.conduct.on_host_plan import is_on_loopback
from wavetank.errors import ExitCode
from wavetank.runs.records import Plan
from wavetank.study import words
from wavetank.study.model import Settings

HOW = (
    "estimated: no trial is faster than the link and its round trips allow, nor longer than its "
    "duration; wall time by what such work took on a 2-core machine. Expect the right order."
)
# Told in the title of a cell, or by the workload's name.
_IN_TITLE = frozenset(
    {"operation", "file_size_bytes", "object_size_bytes", "threads", "parallel", "parts"}
)


def tell(plan: Plan, indices: Sequence[int], workers: int | None, *, as_json: bool) -> None:
    """The trials `indices` of the plan, once for all their repeats, and the whole's time.

    Raises `TooLittleMemory` where the machine can't hold the largest guest.
    """
    side_by_side = _workers(plan, workers)
    whole = estimate.of_plan(plan, indices, side_by_side)
    if as_json:
        outcome.print_document(_document(plan, indices, side_by_side, whole))
        return
    _print_cells(Console(), plan, indices)
    typer.echo(f"{_sum_text(len(indices), side_by_side, whole)} ({HOW})")


def tell_all(studies: Sequence[tuple[str, Plan, Sequence[int]]], workers: int | None) -> None:
    """A line for each of several studies, and their sum."""
    trials = 0
    simulated_s = wall_s = 0.0
    for name, plan, indices in studies:
        side_by_side = _workers(plan, workers)
        whole = estimate.of_plan(plan, indices, side_by_side)
        typer.echo(f"{name}: {_sum_text(len(indices), side_by_side, whole)}")
        trials += len(indices)
        simulated_s, wall_s = simulated_s + whole.simulated_s, wall_s + whole.wall_s
    typer.echo(
        f"{len(studies)} studies, {trials} trials: about {span_text(simulated_s)} simulated in "
        f"{span_text(wall_s)} ({HOW})"
    )


def tell_end(name: str, code: ExitCode, wall_s: float) -> None:
    """A line on stderr when one of several studies has ended."""
    how = "done" if code is ExitCode.FINE else f"exit code {int(code)}"
    typer.echo(f"{name}: {how}, {span_text(wall_s)}", err=True)


def _sum_text(trials: int, workers: int, whole: estimate.Estimate) -> str:
    return (
        f"{trials} trials, {workers} at a time: about {span_text(whole.simulated_s)} simulated "
        f"in {span_text(whole.wall_s)}"
    )


def _workers(plan: Plan, workers: int | None) -> int:
    if is_on_loopback(plan):
        return 1
    needed, available = memory.batch_memory_bytes(plan), memory.available_bytes()
    if workers is None:
        return memory.fitting_workers(needed, len(os.sched_getaffinity(0)), available)
    return memory.require_workers(needed, workers, available)


def _print_cells(console: Console, plan: Plan, indices: Sequence[int]) -> None:
    headings = ("cell", "settings", "repeats", "simulated", "wall")
    varying = _varying(plan)
    rows = [
        (
            _title(plan, index),
            _settings_text(plan.trials[index].cell.workload.parameters, varying),
            str(repeats),
            span_text(one.simulated_s),
            span_text(one.wall_s),
        )
        for index, repeats, one in _cells(plan, indices)
    ]
    if not console.is_terminal:
        for row in rows:
            typer.echo("\t".join(row))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in headings[:2] else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _varying(plan: Plan) -> set[str]:
    """Parameters that are not the same in all cells, and that a cell's title does not tell: a unit
    that is the whole file in all of them is told by the file's size.
    """
    values: dict[str, set[object]] = {}
    asked = [trial.cell.workload.parameters for trial in plan.trials]
    for parameters in asked:
        for key, value in parameters.items():
            values.setdefault(key, set()).add(value)
    told = set(_IN_TITLE)
    if all(one.get("unit_bytes") == one.get("file_size_bytes") for one in asked):
        told.add("unit_bytes")
    return {key for key, found in values.items() if len(found) > 1} - told


def _settings_text(settings: Settings, varying: set[str]) -> str:
    """`access=sync unit=4KiB duration=20s`"""
    return " ".join(words.setting_text(key, settings[key]) for key in settings if key in varying)


def _cells(plan: Plan, indices: Sequence[int]) -> list[tuple[int, int, estimate.Estimate]]:
    """The first trial of each cell, how many trials it has, and what one takes."""
    counts = Counter(plan.trials[index].cell.digest for index in indices)
    first: dict[str, int] = {}
    for index in indices:
        first.setdefault(plan.trials[index].cell.digest, index)
    return [
        (index, counts[digest], estimate.of_trial(plan.trials[index].cell))
        for digest, index in first.items()
    ]


def _title(plan: Plan, index: int) -> str:
    cell = plan.trials[index].cell
    told = _stated(plan, index).items()
    options = ":".join(words.setting_text(*one) for one in told if not words.is_automatic(*one))
    return cell_title(cell) + (f" ({options})" if options else "")


def _stated(plan: Plan, index: int) -> Settings:
    """The system's options that differ among the plan's systems of that name."""
    system = plan.trials[index].cell.system
    alike = [one.cell.system.options for one in plan.trials if one.cell.system.name == system.name]
    return {
        key: value
        for key, value in system.options.items()
        if any(options.get(key) != value for options in alike)
    }


def _document(
    plan: Plan, indices: Sequence[int], workers: int, whole: estimate.Estimate
) -> dict[str, object]:
    cells = [
        {
            "system": plan.trials[index].cell.system.name,
            "options": plan.trials[index].cell.system.options,
            "network": plan.trials[index].cell.network.name,
            "workload": plan.trials[index].cell.workload.name,
            "parameters": plan.trials[index].cell.workload.parameters,
            "parts": plan.trials[index].parts,
            "repeats": repeats,
            "simulated_s": round(one.simulated_s, 3),
            "wall_s": round(one.wall_s, 3),
        }
        for index, repeats, one in _cells(plan, indices)
    ]
    return {
        "question": plan.question,
        "trials": len(indices),
        "workers": workers,
        "simulated_s": round(whole.simulated_s, 3),
        "wall_s": round(whole.wall_s, 3),
        "how": HOW,
        "cells": cells,
    }
