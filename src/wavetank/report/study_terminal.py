"""A study in the terminal: findings with their verdicts, and its figures as sparklines. Piped, the
same facts as plain lines: no colour, no drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wavetank.analysis import CellRow
from wavetank.analysis.findings import Finding
from wavetank.analysis.studies import StudyAnalysis, findings_sentence
from wavetank.report.page_data import network_facts, system_marks
from wavetank.report.study_figures import PlotPanel, Slots, StudyFigure, study_figures
from wavetank.report.study_view import quantity_text
from wavetank.study.study import Study

SPARKS = "▁▂▃▄▅▆▇█"
_STYLES = {"reproduced": "bold green", "changed": "bold yellow", "not judged": "dim"}
_WIDEST_ID = 7


def print_study(
    console: Console, study: Study, found: StudyAnalysis, rows: Sequence[CellRow]
) -> None:
    """Prints the study's findings and figures."""
    if found.findings:
        _say(console, findings_sentence(found.findings), "bold")
        _print_findings(console, found.findings)
    marks = system_marks(rows)
    slots = Slots(
        {mark.label: index for index, mark in enumerate(marks)},
        {mark.label: mark.slot for mark in marks},
        {one.label: index for index, one in enumerate(network_facts(rows))},
    )
    for figure in study_figures(study, rows, found.fits, found.published, slots):
        _print_figure(console, figure)


def _say(console: Console, text: str, style: str = "") -> None:
    shown = Text(text, style=style if console.is_terminal else "")
    console.print(shown, soft_wrap=not console.is_terminal, highlight=False, markup=False)


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    if not console.is_terminal:
        for one in findings:
            _say(console, f"{one.verdict:<10}  {one.id:<{_WIDEST_ID}}  {_held(one):>7}  {one.text}")
        _say(console, "")
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for name in ("verdict", "id", "held"):
        table.add_column(name, no_wrap=True, justify="right" if name == "held" else "left")
    table.add_column("claim", overflow="fold")
    for one in findings:
        table.add_row(
            Text(one.verdict, style=_STYLES[one.verdict]), one.id, _held(one), Text(one.text)
        )
    console.print(table)
    console.print()


def _held(one: Finding) -> str:
    return f"{one.held}/{len(one.checks)}" if one.checks else "-"


def sparkline(values: Sequence[float], scale: Sequence[float], *, logarithmic: bool) -> str:
    """One block per value, its height by the place among the least and most of `scale`."""
    usable = [value for value in scale if value > 0 or not logarithmic]
    if not usable:
        return ""
    places = [log(value) if logarithmic else value for value in (min(usable), max(usable))]
    low, high = (places[0], places[1]) if logarithmic else (0.0, places[1])
    width = (high - low) or 1.0
    blocks = []
    for value in values:
        place = ((log(value) if logarithmic else value) - low) / width
        blocks.append(SPARKS[round(place * (len(SPARKS) - 1))])
    return "".join(blocks)


def _print_figure(console: Console, figure: StudyFigure) -> None:
    ends = "" if len(figure.ticks) < 2 else f", {figure.ticks[0]} to {figure.ticks[-1]}"
    heading = f"{figure.title}: {figure.quantity_words.lower()} by {figure.axis}{ends}"
    _say(console, heading, "bold")
    scale = [point.y for panel in figure.panels for point in panel.points]
    lines = [line for panel in figure.panels for line in _lines(figure, panel, scale)]
    widths = [max((len(line[i]) for line in lines), default=0) for i in range(4)]
    for title, series, spark, span in lines:
        drawn = f"  {spark.ljust(widths[2])}" if _can_draw(console) else ""
        named = f"{title.ljust(widths[0])}  {series.ljust(widths[1])}"
        _say(console, f"{named}{drawn}  {span}".rstrip())
    _say(console, "")


def _can_draw(console: Console) -> bool:
    return console.is_terminal and console.encoding.lower().startswith("utf")


def _lines(
    figure: StudyFigure, panel: PlotPanel, scale: Sequence[float]
) -> list[tuple[str, str, str, str]]:
    """Panel, series, sparkline and the values at both ends of the axis."""
    lines = []
    for number, series in enumerate(figure.series):
        values = [point.y for point in panel.points if point.series == number]
        if not values:
            continue
        spark = sparkline(values, scale, logarithmic=figure.y_scale == "log")
        ends = [quantity_text(value, figure.quantity) for value in (values[0], values[-1])]
        span = ends[0] if len(values) == 1 else f"{ends[0]} to {ends[1]}"
        lines.append((panel.title, series.text, spark, span))
    return lines
