"""What the report says of object storage: heat maps, knees in words, the times of requests."""

from __future__ import annotations

import io
import re

from rich.console import Console
from sample_objects import RETRIES, object_run
from sample_runs import grid, run

from wavetank.analysis import analyse
from wavetank.report.html import html_text
from wavetank.report.surfaces import heat_maps, times_of
from wavetank.report.terminal import print_tables

MADE = object_run()
ROWS = analyse(MADE.plan, MADE.trials, MADE.walls).rows


def test_there_is_a_heat_map_for_each_system_network_and_operation() -> None:
    maps = heat_maps(ROWS)
    assert len(maps) == 8
    for one in maps:
        assert one.sizes == ["4 KiB", "1 MiB", "16 MiB"]
        assert [row.parallel for row in one.rows] == ["1", "8", "64"]
        cells = [cell for row in one.rows for cell in row.cells if cell is not None]
        assert len(cells) == 9
        assert sum(cell.knee for cell in cells) == sum(cell.peak for cell in cells) == 1
        assert max(cell.share for cell in cells) == 1.0
        (knee,) = (cell for cell in cells if cell.knee)
        assert knee.share >= 0.95
        assert knee.text in one.knee


def test_the_page_has_every_heat_map_with_its_knee_and_the_times() -> None:
    page = html_text(MADE.plan, MADE.environment, MADE.trials, MADE.walls)
    assert page.count('<figure class="heat">') == 8
    assert len(re.findall(r"<small>knee</small>", page)) == 8
    assert "S3 on realistic, GET" in page
    assert len(times_of(ROWS)) == len(ROWS)
    assert page.count("First byte p50") == 1


def test_what_was_not_planned_is_a_hole_in_its_heat_map() -> None:
    fewer = [row for row in ROWS if row.parameters != ROWS[0].parameters]
    cells = [cell for one in heat_maps(fewer) for row in one.rows for cell in row.cells]
    assert sum(cell is None for cell in cells) == len(ROWS) - len(fewer) == 4


def test_what_was_repeated_is_told_and_not_lost() -> None:
    assert {one.retries for one in times_of(ROWS)} == {str(RETRIES)}
    assert {row.retries for row in ROWS} == {RETRIES}


def test_a_run_on_files_has_neither() -> None:
    made = run(grid(), count=40)
    page = html_text(made.plan, made.environment, made.trials, made.walls)
    assert "Size and parallelism" not in page
    assert "First byte" not in page
    assert all(row.retries is None for row in analyse(made.plan, made.trials, made.walls).rows)


def test_the_terminal_names_the_knee_of_each_network() -> None:
    text = io.StringIO()
    console = Console(file=text, width=200)
    print_tables(console, MADE.plan, MADE.environment, MADE.trials, MADE.walls)
    lines = [line for line in text.getvalue().splitlines() if "objects over" in line]
    assert len(lines) == 8
    assert sum("on realistic" in line for line in lines) == 4
