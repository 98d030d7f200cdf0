"""A study's page in headless Chromium: points lead to their trials, evidence to its cells, models
and published values are drawn, nothing is wider than the screen, and thousands of cells stay quick.
"""

from __future__ import annotations

import time

import pytest
from open_pages import NEEDS_A_BROWSER, Opener, OpenPage
from sample_study import study_run

pytestmark = NEEDS_A_BROWSER

STUDIED = study_run(repeats=5, count=40)
FIRST_PLOT = "#plots figure:first-child"


@pytest.fixture
def opened(open_page: Opener) -> OpenPage:
    made: OpenPage = open_page(STUDIED)
    made.draw_everything()
    return made


def test_each_plot_has_its_key_and_every_panel_its_points(opened: OpenPage) -> None:
    assert opened.page.locator("#plots figure").count() == 3
    assert opened.shows(f"{FIRST_PLOT} .key span") == [
        "NFS 4.2, sync",
        "NFS 4.2, direct",
        "iSCSI, sync",
        "iSCSI, direct",
    ]
    for plot in opened.page.locator("#plots svg.plot").all():
        assert plot.locator(".dot").count() > 0
        assert "NaN" not in plot.inner_html()
    assert opened.complaints == []
    assert len(opened.requests) == 1


def test_models_and_published_values_are_drawn(opened: OpenPage) -> None:
    assert opened.page.locator(".curve").count() == 4
    assert opened.page.locator(".curve.published").count() == 2
    assert opened.page.locator(".theirs").count() == 2
    assert opened.page.locator(".theirs-line").count() == 1


def test_repeats_are_specks_and_outliers_ringed(opened: OpenPage) -> None:
    assert opened.page.locator(f"{FIRST_PLOT} .repeat").count() > 100
    assert opened.page.locator(".outlier").count() > 0


def test_enter_on_a_point_shows_its_trials_with_log_and_network(opened: OpenPage) -> None:
    plot = opened.page.locator(f"{FIRST_PLOT} svg.plot").last
    plot.scroll_into_view_if_needed()
    plot.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_selector("#behind[open]")
    lines = opened.page.locator("#behind tbody tr")
    assert lines.count() == 5
    assert "Mbit/s" in lines.first.inner_text()
    log = lines.first.locator("a")
    assert log.get_attribute("href") == f"guests/{log.inner_text()}.log"
    opened.page.keyboard.press("Escape")
    assert opened.page.locator("#behind[open]").count() == 0


def test_a_click_on_a_point_shows_its_trials(opened: OpenPage) -> None:
    dot = opened.page.locator(f"{FIRST_PLOT} .dot").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.page.mouse.down()
    opened.page.mouse.up()
    opened.page.wait_for_selector("#behind[open]")


def test_void_trials_are_told_with_their_reason(opened: OpenPage) -> None:
    opened.page.evaluate("openBehind(DATA.trials.map((_, row) => row))")
    text = opened.page.locator("#behind .body").inner_text()
    assert "void" in text
    assert "RTT 61 ms, declared 50 ms" in text
    assert "far off the other repeats; counts all the same" in text


def test_evidence_leads_to_its_cells(opened: OpenPage) -> None:
    claim = opened.page.locator("#claim-bat-2")
    claim.locator("summary").click()
    button = claim.locator("button.behind").first
    count = int(button.inner_text().split()[0])
    button.click()
    assert opened.page.locator("#behind h3").count() == count


def test_the_legend_and_the_scale_act_on_a_study_s_figures(opened: OpenPage) -> None:
    dots = opened.page.locator(f"{FIRST_PLOT} .dot")
    before = dots.count()
    ticks = opened.shows(f"{FIRST_PLOT} svg.plot text")
    opened.page.locator("#legend button").first.click()
    assert 0 < dots.count() < before
    opened.page.locator("[data-scale=linear]").click()
    assert opened.shows(f"{FIRST_PLOT} svg.plot text") != ticks


def test_the_table_of_a_plot_has_a_line_per_cell_and_its_quantity(opened: OpenPage) -> None:
    figure = opened.page.locator("#plots figure").nth(1)
    figure.locator("summary").click()
    assert "Bytes on the link per byte" in figure.locator("thead").inner_text()
    assert figure.locator("tbody tr").count() == 14


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(open_page: Opener, scheme: str) -> None:
    opened = open_page(STUDIED, viewport={"width": 380, "height": 800}, color_scheme=scheme)
    opened.draw_everything()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 380


def test_findings_keep_their_words_on_paper(opened: OpenPage) -> None:
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#claim-thr-1 .badge").is_visible()
    assert not opened.page.locator("#claim-thr-1 button.behind").first.is_visible()


def test_redrawing_the_study_is_quick(opened: OpenPage) -> None:
    begun = time.monotonic()
    opened.page.evaluate("redraw()")
    assert time.monotonic() - begun < 30  # 0.2 s where nothing else runs
