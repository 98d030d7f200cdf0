"""The page in headless Chromium: every figure draws, nothing fails or asks the network, switches
and keyboard work, tables hold the rows' numbers, and thousands of cells stay usable.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from open_pages import NEEDS_A_BROWSER, Opener
from sample_runs import GIGABIT, IDEAL, LATENCY, REALISTIC, Sample, cell, grid, run
from sample_study import study_run

from wavetank.analysis import CellRow, analyse
from wavetank.analysis.wording import byte_rate_text, duration_text
from wavetank.runs.records import TrialRecord

pytestmark = NEEDS_A_BROWSER


def rows_of(made: Sample) -> list[CellRow]:
    return analyse(made.plan, made.trials, made.walls).rows


def one_void(index: int, record: TrialRecord) -> TrialRecord:
    if index != 20:
        return record
    return msgspec.structs.replace(record, status="void", reason="RTT 61 ms, declared 50 ms")


DEMO = run(grid(), repeats=2, spoil=one_void, count=120)
SWEEP = run(
    grid(("nfs3", "nfs4.2", "iscsi"), (IDEAL, REALISTIC), threads=(1, 4, 16), operations=("read",)),
    count=80,
)
STUDIED = study_run(repeats=5, count=40)
RUNS = {
    "study": STUDIED,
    "categories": DEMO,
    "axis": SWEEP,
    "one cell": run([cell()], count=60),
    "baseline only": run([cell("local"), cell("local", threads=8)], count=60),
    "both clocks": run([cell(clock="virtual"), cell(clock="real"), cell("iscsi")], count=60),
    "nothing usable": run(grid(sizes=(4096,)), spoil=lambda index, record: None),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_draws_without_complaint_or_request(name: str, open_page: Opener) -> None:
    opened = open_page(RUNS[name])
    opened.draw_everything()
    usable = any(row.status == "ok" for row in rows_of(RUNS[name]))
    for plot in opened.page.locator("svg.plot").all():
        assert (plot.bounding_box() or {"height": 0})["height"] > 40
        assert not usable or plot.locator(".dot").count() > 0
        assert "NaN" not in plot.inner_html()
        assert "undefined" not in plot.inner_html()
    assert opened.page.locator("svg.plot").count() > 0
    assert opened.complaints == []
    assert len(opened.requests) == 1


def test_every_usable_row_has_its_mark(open_page: Opener) -> None:
    opened = open_page(DEMO)
    opened.draw_everything()
    usable = sum(row.status == "ok" for row in rows_of(DEMO))
    rates = opened.page.locator("figure:first-child svg.plot .dot").count()
    assert rates == usable


def test_a_table_holds_the_numbers_of_its_rows(open_page: Opener) -> None:
    opened, rows = open_page(DEMO), rows_of(DEMO)
    opened.page.locator("#section-1 figure").first.locator("summary").click()
    table = opened.page.locator("#section-1 figure").first.locator("table.data")
    heads = table.locator("thead th").all_inner_texts()
    lines = table.locator("tbody tr").all()
    assert len(lines) == sum(row.operation == "read" for row in rows)
    for line in lines:
        row = rows[int(line.get_attribute("data-row"))]
        shown = dict(zip(heads, line.locator("td").all_inner_texts(), strict=True))
        assert row.throughput_bytes_per_s is not None
        assert shown["Throughput"].removesuffix(" †") == byte_rate_text(row.throughput_bytes_per_s)
        exact = line.locator("td").nth(heads.index("Throughput")).get_attribute("data-exact")
        assert float(exact) == pytest.approx(row.throughput_bytes_per_s, rel=1e-8)


def test_a_latency_table_follows_the_choice_of_conditions(open_page: Opener) -> None:
    opened, rows = open_page(DEMO), rows_of(DEMO)
    figure = opened.page.locator("#section-2 figure").last
    figure.locator("summary").click()
    figure.locator("select").select_option(label="1 MiB files, 8 threads")
    lines = figure.locator("table.data tbody tr").all()
    assert len(lines) == 6
    heads = figure.locator("thead th").all_inner_texts()
    for line in lines:
        row = rows[int(line.get_attribute("data-row"))]
        assert (row.parameters["file_size_bytes"], row.parameters["threads"]) == (1 << 20, 8)
        assert row.latency_ns_p99 is not None
        shown = dict(zip(heads, line.locator("td").all_inner_texts(), strict=True))
        assert shown["p99"] == duration_text(row.latency_ns_p99)


def test_rounding_is_the_same_on_the_page_and_in_words(open_page: Opener) -> None:
    opened = open_page(RUNS["one cell"])
    values = [0.5, 1, 9.994, 9.995, 99.95, 999.4, 999.5, 1234, 11_955_000, 999.9e6, 1.5e9, 3.2e12]
    shown = opened.page.evaluate("values => values.map(byteRate)", values)
    assert [one.replace("\u202f", " ") for one in shown] == [byte_rate_text(one) for one in values]


def test_the_legend_hides_and_shows_a_system(open_page: Opener) -> None:
    opened = open_page(DEMO)
    opened.draw_everything()
    before = opened.page.locator("svg.plot .dot.s1").count()
    button = opened.page.locator("#legend button", has_text="iSCSI")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert opened.page.locator("svg.plot .dot.s1").count() == 0
    button.click()
    assert opened.page.locator("svg.plot .dot.s1").count() == before > 0


def test_rate_and_scale_switches_redraw(open_page: Opener) -> None:
    opened = open_page(SWEEP)
    opened.draw_everything()
    plot = opened.page.locator("svg.plot").first
    throughput = plot.inner_html()
    opened.page.get_by_role("button", name="Operations/s", exact=True).first.click()
    operations = plot.inner_html()
    opened.page.get_by_role("button", name="Linear").click()
    assert len({throughput, operations, plot.inner_html()}) == 3
    assert "B/s" in throughput
    assert "B/s" not in operations


def test_arrow_keys_walk_through_the_points_and_tell_their_values(open_page: Opener) -> None:
    opened, rows = open_page(SWEEP), rows_of(SWEEP)
    opened.draw_everything()
    opened.page.locator("svg.plot").first.focus()
    told = []
    for _ in range(3):
        opened.page.keyboard.press("ArrowRight")
        told.append(opened.page.locator("#tip").inner_text())
    digests = {row.digest for row in rows}
    assert len(set(told)) == 3
    assert all(re.search(r"[0-9a-f]{16}", text)[0] in digests for text in told)  # type: ignore[index]
    opened.page.keyboard.press("Escape")
    assert opened.page.locator("#tip").is_hidden()


def test_hovering_a_mark_tells_its_cell(open_page: Opener) -> None:
    opened = open_page(DEMO)
    opened.draw_everything()
    dot = opened.page.locator("svg.plot .dot").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "local disk" in opened.page.locator("#tip").inner_text()


@pytest.mark.parametrize("choice", ["Light", "Dark"])
def test_the_theme_switch_changes_the_ground(choice: str, open_page: Opener) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    opened = open_page(RUNS["one cell"], color_scheme="dark" if choice == "Light" else "light")
    before = opened.page.evaluate(ground)
    opened.page.get_by_role("button", name=choice).click()
    assert opened.page.evaluate(ground) != before


def test_the_page_follows_the_readers_scheme(open_page: Opener) -> None:
    grounds = {
        open_page(RUNS["one cell"], color_scheme=scheme).page.evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert len(grounds) == 2


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_window(width: int, open_page: Opener) -> None:
    opened = open_page(DEMO, viewport={"width": width, "height": 900})
    opened.draw_everything()
    for summary in opened.page.locator("figure summary").all():
        summary.click()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_tables_sort_and_cells_are_found(open_page: Opener) -> None:
    opened = open_page(DEMO)
    opened.page.locator("#find").fill("iscsi realistic write")
    lines = opened.page.locator("#cells tbody tr")
    assert lines.count() == 4
    heads = opened.page.locator("#cells thead th").all_inner_texts()
    opened.page.locator("#cells thead button", has_text="Throughput").click()
    values = [
        float(line.locator("td").nth(heads.index("Throughput")).get_attribute("data-exact"))
        for line in lines.all()
    ]
    assert values == sorted(values, reverse=True)
    opened.page.locator("#find").fill("no such cell")
    assert lines.count() == 0


def test_a_void_repeat_is_seen_in_the_table_of_cells(open_page: Opener) -> None:
    opened = open_page(DEMO)
    opened.page.locator("#find").fill("left out")
    assert "1 of 2 repeats left out, void: RTT 61 ms" in opened.shows("#cells tbody tr")[0]


def test_a_table_is_saved_as_csv(open_page: Opener, tmp_path: Path) -> None:
    opened, rows = open_page(DEMO), rows_of(DEMO)
    with opened.page.expect_download() as download:
        opened.page.locator("#cells .csv").click()
    download.value.save_as(tmp_path / "cells.csv")
    lines = (tmp_path / "cells.csv").read_text().splitlines()
    assert len(lines) == len(rows) + 1
    assert lines[0].startswith("System,Network,Operation,File size,Threads")


def test_printing_draws_every_figure(open_page: Opener) -> None:
    opened = open_page(SWEEP)
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    drawn = opened.page.locator(".panels[data-drawn]").count()
    assert drawn == opened.page.locator(".panels").count() > 0


def test_figures_are_named_and_tables_have_captions(open_page: Opener) -> None:
    opened = open_page(DEMO)
    opened.draw_everything()
    for summary in opened.page.locator("summary").all():
        summary.click()
    for plot in opened.page.locator("svg.plot").all():
        assert plot.get_attribute("role") == "img"
        assert "points" in plot.get_attribute("aria-label")
    for table in opened.page.locator("table").all():
        assert table.locator("caption").count() == 1
        assert table.locator("thead th:not([scope])").count() == 0


@pytest.mark.slow
def test_five_thousand_cells_stay_usable(open_page: Opener, tmp_path: Path) -> None:
    networks = [
        msgspec.structs.replace(one, name=f"{one.name}-{extra}", rtt_ns=one.rtt_ns + extra * 10**6)
        for one in (IDEAL, LATENCY, REALISTIC, GIGABIT)
        for extra in (0, 7)
    ]
    cells = grid(
        ("local", "nfs3", "nfs4.2", "iscsi", "nvme"),
        networks,
        sizes=(4096, 1 << 20, 1 << 24),
        threads=(1, 2, 4, 8, 16, 32, 64),
        accesses=("sync", "direct", "default"),
    )
    opened = open_page(run(cells, count=70))
    assert len(cells) == 5040
    assert (tmp_path / "report.html").stat().st_size < 4_000_000
    opened.page.locator("#find").fill("nvme realistic-7 write direct")
    assert opened.page.locator("#cells tbody tr").count() == 21
    opened.page.locator("#section-2 .panels").first.scroll_into_view_if_needed()
    opened.page.locator("#section-2 svg.plot .dot").first.wait_for()
    opened.page.get_by_role("button", name="Linear").click()
    assert opened.complaints == []
