"""The HTML report: one file that opens offline and asks the network for nothing.

Answers, overview, networks and environment are written into the page here; figures and long
tables are drawn by the page's own script from the data embedded in it. The figures are ours, not
a plotting library's: small multiples that share one legend, keyboard and print, in 40 KB.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import jinja2
import msgspec

from wavetank.analysis import Analysis, analyse
from wavetank.analysis.servers import server_facts
from wavetank.report.columns import write_parquet
from wavetank.report.export import csv_text
from wavetank.report.facts import (
    caveats,
    environment_lines,
    network_lines,
    totals_of,
    unusable_trials,
)
from wavetank.report.overview import cards_of, matrix_of
from wavetank.report.page_data import page_data
from wavetank.report.study_view import study_view
from wavetank.report.surfaces import heat_maps, times_of
from wavetank.report.title import title_of
from wavetank.runs.records import Environment, Plan, TrialRecord, WallRecord

_ASSETS = resources.files("wavetank.report") / "assets"
_SCRIPTS = (
    "format.js",
    "marks.js",
    "panels.js",
    "axes.js",
    "charts.js",
    "tables.js",
    "behind.js",
    "plots.js",
    "page.js",
)
_UNITS = (
    "[kMGT]?B/s|[kMG]?bit/s|ns|µs|ms|s|min|h|%|[KMG]iB|threads?|files|objects|connections?|parts?"
)
_STYLES = ("page.css", "figures.css", "study.css", "objects.css")


def write_html(
    plan: Plan,
    environment: Environment,
    trials: Sequence[TrialRecord],
    walls: Sequence[WallRecord],
    path: Path,
) -> None:
    """Writes the report to `path`, whose directory exists, and its cells beside it as `.csv` and
    `.parquet` of the same name. Raises `AnalysisError`, `OSError`.
    """
    analysis = analyse(plan, trials, walls)
    path.write_text(_page(analysis, plan, environment, trials, walls, path.stem), encoding="utf-8")
    path.with_suffix(".csv").write_text(csv_text(analysis.rows), encoding="utf-8")
    write_parquet(analysis.rows, path.with_suffix(".parquet"))


def html_text(
    plan: Plan,
    environment: Environment,
    trials: Sequence[TrialRecord],
    walls: Sequence[WallRecord],
) -> str:
    """The report's text; the same records give the same text. Raises `AnalysisError`."""
    return _page(analyse(plan, trials, walls), plan, environment, trials, walls, "report")


def _page(
    analysis: Analysis,
    plan: Plan,
    environment: Environment,
    trials: Sequence[TrialRecord],
    walls: Sequence[WallRecord],
    name: str,
) -> str:
    rows, study, found = analysis.rows, plan.study, analysis.study
    data = page_data(rows, study, found)
    template = _templates().get_template("page.html.j2")
    text = template.render(
        title=title_of(plan, rows),
        command=shlex.join(plan.command),
        name=name,
        study=study_view(study, found, rows) if study is not None and found is not None else None,
        plots=data.plots,
        clocks=sorted({row.clock for row in rows}),
        totals=totals_of(plan, rows, trials, walls),
        cards=cards_of(analysis, {one.label: one.text for one in data.networks}),
        matrix=matrix_of(analysis, {mark.label: mark.slot for mark in data.systems}),
        heat_maps=heat_maps(rows),
        times=times_of(rows),
        systems=data.systems,
        sections=data.sections,
        networks=network_lines(rows, trials),
        unusable=unusable_trials(rows),
        caveats=[*server_facts(rows), *caveats(rows)],
        environment=environment_lines(environment),
        styles="\n".join(_asset(name) for name in _STYLES),
        script="\n".join(_asset(name) for name in _SCRIPTS),
        data=embedded(msgspec.json.encode(data)),
    )
    return text.lstrip()


def embedded(json: bytes) -> str:
    """JSON that may stand inside a script element: no text in it can end the element."""
    return json.decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters["typeset"] = _typeset
    return templates


def _typeset(text: str) -> str:
    """The `x` of a factor becomes a multiplication sign; a number and its unit stay on a line."""
    text = re.sub(r"(?<=\d)x(?=[\s),.;]|$)", "\N{MULTIPLICATION SIGN}", text)
    return re.sub(rf"(?<=\d) (?=(?:{_UNITS})(?:\W|$))", "\N{NO-BREAK SPACE}", text)
