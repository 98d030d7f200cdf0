"""Claims about the report of a study: page, terminal, CSV and Parquet."""

from __future__ import annotations

import csv
import html
import io
import re
from pathlib import Path

import msgspec
import polars
import pytest
from rich.console import Console
from sample_runs import Sample, cell, run
from sample_study import STUDY, study_run

from wavetank import report
from wavetank.analysis import analyse
from wavetank.analysis.studies import analyse_study
from wavetank.report.columns import frame
from wavetank.report.page_data import page_data
from wavetank.report.study_terminal import sparkline


@pytest.fixture(scope="module")
def made() -> Sample:
    return study_run(repeats=2, count=40)


@pytest.fixture(scope="module")
def page(made: Sample) -> str:
    text = report.html_text(made.plan, made.environment, made.trials, made.walls)
    text = html.unescape(text)
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MULTIPLICATION SIGN}", "x")


def shown(made: Sample, **console: object) -> str:
    text = io.StringIO()
    report.print_tables(
        Console(file=text, **console),  # type: ignore[arg-type]
        made.plan,
        made.environment,
        made.trials,
        made.walls,
    )
    return text.getvalue()


def test_every_finding_stands_with_its_verdict_and_evidence(made: Sample, page: str) -> None:
    rows = analyse(made.plan, made.trials, made.walls).rows
    for one in analyse_study(STUDY, rows).findings:
        (claim,) = re.findall(rf'id="claim-{one.id}">(.*?)</article>', page, re.DOTALL)
        assert f"</svg>{one.verdict}</span>" in claim
        assert one.text in claim
        assert all(check.text in claim for check in one.checks)
        assert one.reason in claim


def test_published_values_stand_beside_ours_with_their_source(page: str) -> None:
    (section,) = re.findall(r'<section id="published">(.*?)</section>', page, re.DOTALL)
    assert "below 2.00 MiB/s" in section
    assert "H14 4.6.1" in section
    assert "about 0.900 MB/s" in section
    assert "read off the text" in section


def test_the_study_names_itself_and_what_it_leaves_out(page: str) -> None:
    assert "Study <b>Small and large files by threads</b>, H14 figure 4.5" in page
    assert "Swift is not in this study yet." in page


def test_a_plot_has_each_of_its_cells_once_and_none_of_others(made: Sample) -> None:
    rows = analyse(made.plan, made.trials, made.walls).rows
    data = page_data(rows, STUDY, analyse_study(STUDY, rows))
    first = data.plots[0]
    drawn = [point.row for panel in first.panels for point in panel.points]
    drawn += [row for panel in first.panels for row in panel.absent]
    wanted = [i for i, row in enumerate(rows) if row.parameters["file_size_bytes"] == 4096]
    assert sorted(drawn) == wanted
    assert first.positions == [1, 2, 4, 16]
    assert len(first.series) == 4
    assert len(first.panels) == 4


def test_a_plot_without_cells_is_left_out(made: Sample) -> None:
    rows = analyse(made.plan, made.trials, made.walls).rows
    data = page_data(rows, STUDY, analyse_study(STUDY, rows))
    assert [one.title for one in data.plots] == [one.title for one in STUDY.plots[:3]]


def test_the_model_s_curve_passes_through_the_points(made: Sample) -> None:
    rows = analyse(made.plan, made.trials, made.walls).rows
    plot = page_data(rows, STUDY, analyse_study(STUDY, rows)).plots[1]
    panel = next(one for one in plot.panels if one.curves)
    assert {curve.series for curve in panel.curves} == {-1, 0, 1}
    fitted = next(curve for curve in panel.curves if curve.series == 0)
    points = [point for point in panel.points if point.series == 0]
    assert fitted.points[0][1] == pytest.approx(points[0].y, rel=0.05)
    assert fitted.points[-1][1] == pytest.approx(points[-1].y, rel=0.05)


def test_a_published_value_is_marked_where_it_belongs(made: Sample) -> None:
    rows = analyse(made.plan, made.trials, made.walls).rows
    plot = page_data(rows, STUDY, analyse_study(STUDY, rows)).plots[0]
    marks = {one.text: one for panel in plot.panels for one in panel.published}
    below = marks["published: below 2.00 MiB/s (H14 4.6.1)"]
    assert (below.x, below.relation) == (3, "below")
    about = marks["published: about 0.900 MB/s (O15 IV-E)"]
    assert about.x is None


def test_csv_and_parquet_beside_the_page_hold_the_same_cells(made: Sample, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    report.write_html(made.plan, made.environment, made.trials, made.walls, target)
    with (tmp_path / "report.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    table = polars.read_parquet(tmp_path / "report.parquet")
    assert table.height == len(lines) == len(analyse(made.plan, made.trials, made.walls).rows)
    assert table["digest"].to_list() == [line["digest"] for line in lines]
    rates = table["throughput_bytes_per_s"].to_list()
    assert [str(rate) for rate in rates] == [line["throughput_bytes_per_s"] for line in lines]
    assert table.schema["operations"] == polars.Int64
    text = target.read_text(encoding="utf-8")
    assert 'href="report.csv"' in text
    assert 'href="report.parquet"' in text


def test_a_frame_may_mix_words_and_numbers_in_one_parameter(made: Sample) -> None:
    rows = analyse(made.plan, made.trials, made.walls).rows[:2]
    rows[0].parameters["odd"] = "word"
    rows[1].parameters["odd"] = 3
    assert frame(rows)["odd"].to_list() == ["word", "3"]


def test_the_terminal_tells_findings_first_and_draws_sparklines(made: Sample) -> None:
    text = shown(made, force_terminal=True, width=100)
    assert text.index("published findings") < text.index("100 Mbit/s")
    assert "thr-1" in text
    assert re.search(r"iSCSI, direct +[▁▂▃▄▅▆▇█]{4}", text)


def test_piped_there_is_no_colour_and_no_drawing(made: Sample) -> None:
    text = shown(made)
    assert not re.search(r"[\x1b▁▂▃▄▅▆▇█]", text)
    assert re.search(r"^(reproduced|changed) +bat-2 +\d/\d  With one thread", text, re.MULTILINE)


def test_a_sparkline_spans_its_scale() -> None:
    assert sparkline([1, 10, 100], [1, 100], logarithmic=True) == "▁▅█"
    assert sparkline([0, 50, 100], [100], logarithmic=False) == "▁▅█"
    assert sparkline([], [], logarithmic=True) == ""


def test_the_json_document_has_the_findings(made: Sample) -> None:
    document = report.json_document(analyse(made.plan, made.trials, made.walls), made.environment)
    assert [one["id"] for one in document["study"]["findings"]] == STUDY.findings
    assert document["study"]["published"][0]["published"]["printed"] == 2.0


def test_outliers_are_told_beside_what_the_numbers_cannot_tell() -> None:
    made = study_run(repeats=5, count=40)
    text = report.html_text(made.plan, made.environment, made.trials, made.walls)
    assert re.search(r"\d+ repeats stand far off the others of their cell", text)


def test_an_open_loop_says_where_its_latency_counts_from() -> None:
    offered = [
        msgspec.structs.replace(
            one,
            workload=msgspec.structs.replace(
                one.workload, parameters={**one.workload.parameters, "rate_per_s": 100.0}
            ),
        )
        for one in (cell("iscsi"), cell("nfs4.2"))
    ]
    made = run(offered)
    text = report.html_text(made.plan, made.environment, made.trials, made.walls)
    assert "latency counts from the moment each was due" in text
