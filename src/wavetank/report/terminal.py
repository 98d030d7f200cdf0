"""Tables for a terminal: the answer, then one table per network and operation that fits the width.
On anything else than a terminal the same as plain aligned text, no colour, no wrapping.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wavetank.analysis import Analysis, CellRow, Comparison, NetworkVerdict, analyse
from wavetank.analysis.servers import server_facts
from wavetank.analysis.surfaces import surfaces_of
from wavetank.analysis.verdicts import rate_text
from wavetank.analysis.wording import (
    conditions_text,
    duration_text,
    factor_text,
    network_text,
    operation_text,
    system_text,
)
from wavetank.report.facts import Totals, totals_of, unusable_trials
from wavetank.report.study_terminal import print_study
from wavetank.report.surfaces import knee_text, title_text
from wavetank.runs.records import Environment, Plan, TrialRecord, WallRecord

COLUMN_GAP = 2
MOST_UNUSABLE_SHOWN = 10


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    """A table as words: the first column left, the others right aligned; `best` and `worst`
    mark cells.
    """

    title: str
    header: list[str]
    lines: list[list[str]]
    best: set[tuple[int, int]]
    worst: set[tuple[int, int]] = set()

    @property
    def width(self) -> int:
        columns = range(len(self.header))
        cells = [self.header, *self.lines]
        return sum(max(len(line[i]) for line in cells) + COLUMN_GAP for i in columns)


def print_tables(
    console: Console,
    plan: Plan,
    environment: Environment,
    trials: Sequence[TrialRecord],
    walls: Sequence[WallRecord],
) -> None:
    """Prints answer, tables, what is unusable and where it all comes from."""
    analysis = analyse(plan, trials, walls)
    if plan.study is not None and analysis.study is not None:
        print_study(console, plan.study, analysis.study, analysis.rows)
    declared = {row.network: network_text(row.network_declared) for row in analysis.rows}
    for verdict in analysis.networks:
        clock = f"{verdict.clock} clock"
        say(console, f"{verdict.network}: {declared[verdict.network]} ({clock})", "bold")
        say(console, verdict.headline)
        for grid in _grids(analysis, verdict, room_of(console)):
            print_grid(console, grid)
        _print_knees(console, verdict, analysis.rows)
        say(console, "")
    told = server_facts(analysis.rows)
    for line in [*told, ""] if told else []:
        say(console, line)
    _print_unusable(console, analysis.rows)
    _print_totals(console, totals_of(plan, analysis.rows, trials, walls), environment)


def _print_knees(console: Console, verdict: NetworkVerdict, rows: Sequence[CellRow]) -> None:
    """Where more size or parallelism gains no more, a line for each surface of the network."""
    found = [
        surface
        for surface in surfaces_of(rows)
        if (surface.network, surface.clock) == (verdict.network, verdict.clock)
    ]
    if found:
        say(console, "")
    for surface in found:
        say(console, f"{title_text(surface)}: {knee_text(surface)}")


def room_of(console: Console) -> int | None:
    """Columns to fit into; None where the text is not for a screen."""
    return console.width if console.is_terminal else None


def say(console: Console, text: str, style: str = "") -> None:
    """A line of prose; broken at words on a terminal, left whole elsewhere."""
    shown = Text(text, style=style if console.is_terminal else "")
    console.print(shown, soft_wrap=not console.is_terminal, highlight=False, markup=False)


def _grids(analysis: Analysis, verdict: NetworkVerdict, room: int | None) -> list[Grid]:
    """One grid per workload and operation: systems as columns, as rows where that is too wide."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in verdict.comparisons:
        groups.setdefault((one.workload, one.operation), []).append(one)
    rows = {(row.digest): row for row in analysis.rows}
    grids = []
    for group in groups.values():
        wide = _wide_grid(group)
        fits = room is None or wide.width <= room
        grids.append(wide if fits else _long_grid(group, rows))
    return grids


def _title(group: Sequence[Comparison]) -> str:
    verb = operation_text(group[0].operation) or group[0].workload
    return f"{verb[:1].upper()}{verb[1:]}, {group[0].workload}"


def _words(comparison: Comparison) -> str:
    return conditions_text(comparison.conditions, comparison.varying) or "all"


def _wide_grid(group: Sequence[Comparison]) -> Grid:
    systems = list(
        dict.fromkeys(
            name
            for one in group
            for name in [
                *(standing.system for standing in one.baselines),
                *sorted(standing.system for standing in one.standings),
                *one.unusable,
            ]
        )
    )
    best: set[tuple[int, int]] = set()
    lines = []
    for place, one in enumerate(group):
        rated = {standing.system: standing for standing in [*one.standings, *one.baselines]}
        line = [_words(one)]
        for column, name in enumerate(systems, start=1):
            standing = rated.get(name)
            if standing is not None:
                line.append(rate_text(standing.value, one.metric))
                if standing in one.standings and standing.level_with_best:
                    best.add((place, column))
            else:
                line.append(one.unusable.get(name, "-").partition(":")[0])
        lines.append([*line, _result(one)])
    header = [_title(group), *(system_text(name) for name in systems), "best"]
    return Grid(title="", header=header, lines=lines, best=best)


def _result(comparison: Comparison) -> str:
    match comparison.outcome:
        case "wins":
            name = system_text(comparison.winner or "")
            return f"{name} {factor_text(comparison.factor or 1.0)}"
        case "level":
            level = [one for one in comparison.standings if one.level_with_best]
            return (
                "level"
                if len(level) == len(comparison.standings)
                else f"{len(level)} of {len(comparison.standings)} level"
            )
        case "alone":
            return "alone"
        case "none":
            return "no result"


def _long_grid(group: Sequence[Comparison], rows: dict[str, CellRow]) -> Grid:
    lines: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for one in group:
        for standing in [*one.standings, *one.baselines]:
            if standing in one.standings and standing.level_with_best:
                best.add((len(lines), 1))
            row = rows.get(standing.digest)
            p50 = row.latency_ns_p50 if row else None
            lines.append(
                [
                    f"{_words(one)}: {system_text(standing.system)}",
                    rate_text(standing.value, one.metric),
                    duration_text(p50) if p50 is not None else "-",
                ]
            )
        for name, why in one.unusable.items():
            lines.append([f"{_words(one)}: {system_text(name)}", why.partition(":")[0], "-"])
    return Grid(title="", header=[_title(group), "rate", "p50"], lines=lines, best=best)


def print_grid(console: Console, grid: Grid) -> None:
    if not console.is_terminal:
        _print_plain(console, grid)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, title_justify="left")
    for column, name in enumerate(grid.header):
        table.add_column(name, justify="right" if column else "left", overflow="fold")
    for place, line in enumerate(grid.lines):
        cells = [Text(cell, style=_style(grid, place, column)) for column, cell in enumerate(line)]
        table.add_row(*cells)
    console.print()
    console.print(table)


def _style(grid: Grid, place: int, column: int) -> str:
    if (place, column) in grid.worst:
        return "bold red"
    return "bold green" if (place, column) in grid.best else ""


def _print_plain(console: Console, grid: Grid) -> None:
    widths = [
        max(len(line[i]) for line in [grid.header, *grid.lines]) for i in range(len(grid.header))
    ]
    say(console, "")
    for line in [grid.header, *grid.lines]:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        say(console, (" " * COLUMN_GAP).join(cells).rstrip())


def _print_unusable(console: Console, rows: Sequence[CellRow]) -> None:
    unusable = unusable_trials(rows)
    if not unusable:
        return
    count = len(unusable)
    told = "1 trial yields" if count == 1 else f"{count} trials yield"
    say(console, f"{told} no number:", "bold yellow")
    for one in unusable[:MOST_UNUSABLE_SHOWN]:
        say(console, f"  {one.status}: {one.cell}, repeat {one.repeat}: {one.reason}")
    if len(unusable) > MOST_UNUSABLE_SHOWN:
        say(console, f"  and {len(unusable) - MOST_UNUSABLE_SHOWN} more; the report lists them all")
    say(console, "")


def _print_totals(console: Console, totals: Totals, environment: Environment) -> None:
    speed = f" ({totals.speed_up} the wall clock)" if totals.speed_up else ""
    say(
        console,
        f"{totals.ok} of {totals.trials} trials usable, {totals.simulated} simulated in "
        f"{totals.wall}{speed}; kernel {environment.kernel_release} "
        f"({environment.kernel_digest[:12]}), engine {environment.engine_version}",
        "dim",
    )
