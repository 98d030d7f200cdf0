"""The page as text: self-contained, complete without its script, and safe against any name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from sample_runs import Sample, cell, grid, run

from wavetank import report
from wavetank.analysis import analyse
from wavetank.analysis.verdicts import finding
from wavetank.report.figures import sections_of
from wavetank.runs.records import TrialRecord


def page(made: Sample) -> str:
    return report.html_text(made.plan, made.environment, made.trials, made.walls)


def embedded(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


@pytest.fixture(scope="module")
def demo() -> Sample:
    return run(grid())


def test_the_page_asks_the_network_for_nothing(demo: Sample) -> None:
    text = page(demo)
    assert not re.findall(r"""(?:src|href)=["'](?!#|guests/|report\.)[^"']+""", text)
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text


def test_question_command_and_environment_are_told(demo: Sample) -> None:
    text = page(demo)
    assert "<h1>Which of NFS and iSCSI suits many small files over a long link?</h1>" in text
    assert "wavetank compare --systems local,nfs4.2,iscsi" in text
    for told in ("3f0c9a1e5b7d2846", "6.12.117", "412 000 operations/s", "open-iscsi", "EPYC"):
        assert told in text


def test_every_finding_is_on_the_page(demo: Sample) -> None:
    text = page(demo).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MULTIPLICATION SIGN}", "x")
    for comparison in analyse(demo.plan, demo.trials, demo.walls).comparisons:
        assert finding(comparison) in text


def test_names_cannot_break_out_of_the_page() -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    made = run([cell("nfs4.2", options={"x": evil}), cell("nfs4.2", options={"x": "y"})])
    made = msgspec.structs.replace(
        made, plan=msgspec.structs.replace(made.plan, question=evil, command=["wavetank", evil])
    )
    text = page(made)
    assert "<img" not in text
    assert text.count("</script>") == 2
    assert evil in str(embedded(text))


def test_unusable_trials_are_listed_with_reason_and_log() -> None:
    def spoil(index: int, record: TrialRecord) -> TrialRecord:
        if index != 3:
            return record
        return msgspec.structs.replace(record, status="void", reason="RTT 61 ms, declared 50 ms")

    text = page(run(grid(), spoil=spoil))
    assert "1 of 48 trials yields no number" in text
    assert "RTT 61 ms, declared 50 ms" in text
    assert 'href="guests/g0000.log"' in text


def test_the_same_run_gives_the_same_page(demo: Sample) -> None:
    assert page(demo) == page(demo)


def test_every_row_is_drawn_once_in_rates_and_once_in_latencies(demo: Sample) -> None:
    rows = analyse(demo.plan, demo.trials, demo.walls).rows
    sections = sections_of(rows)
    rates = [
        row for one in sections for fig in one.figures for panel in fig.panels for row in panel.rows
    ]
    late = [
        row
        for one in sections
        for pick in one.latencies
        for panel in pick.panels
        for row in panel.rows
    ]
    assert sorted(rates) == sorted(late) == list(range(len(rows)))


def test_the_condition_with_most_values_becomes_the_axis() -> None:
    made = run(grid(threads=(1, 2, 4, 8), sizes=(4096, 1 << 20)), count=40)
    (reading, _) = sections_of(analyse(made.plan, made.trials, made.walls).rows)
    assert [figure.title for figure in reading.figures] == ["4 KiB files", "1 MiB files"]
    assert reading.figures[0].axis == "threads"
    assert reading.figures[0].positions == [1, 2, 4, 8]


def test_few_values_become_categories(demo: Sample) -> None:
    (reading, _) = sections_of(analyse(demo.plan, demo.trials, demo.walls).rows)
    assert [figure.ticks for figure in reading.figures] == [
        [
            "4 KiB files, 1 thread",
            "4 KiB files, 8 threads",
            "1 MiB files, 1 thread",
            "1 MiB files, 8 threads",
        ]
    ]


def test_the_page_is_written_where_asked(demo: Sample, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    report.write_html(demo.plan, demo.environment, demo.trials, demo.walls, target)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_run_without_any_trial_still_has_a_page() -> None:
    text = page(run(grid(), spoil=lambda index, record: None))
    assert "No usable result." in text
    assert "48 of 48 trials yield no number" in text
