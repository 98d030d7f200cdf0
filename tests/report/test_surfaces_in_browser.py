"""Heat maps in headless Chromium: shaded by share in light and dark, readable, and printable."""

from __future__ import annotations

import pytest
from open_pages import NEEDS_A_BROWSER, Opener
from sample_objects import object_run

pytestmark = NEEDS_A_BROWSER

MADE = object_run()
_RATIO = """cell => {
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = colour => { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = colour => rgb(colour).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const style = getComputedStyle(cell);
  const [a, b] = [light(style.color), light(style.backgroundColor)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


def shades(opened: object, selector: str) -> list[str]:
    cells = opened.page.locator(selector)  # type: ignore[attr-defined]
    found: list[str] = cells.evaluate_all(
        "cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"
    )
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shades_tell_the_rates_apart_and_leave_them_readable(
    open_page: Opener, scheme: str
) -> None:
    opened = open_page(MADE, color_scheme=scheme)
    assert opened.page.locator("figure.heat").count() == 8
    assert len(set(shades(opened, "figure.heat:first-of-type td"))) > 3
    for cell in opened.page.locator("figure.heat td").all():
        assert cell.evaluate(_RATIO) >= 4.5  # WCAG 2.2, 1.4.3
    assert opened.complaints == []
    assert len(opened.requests) == 1


def test_the_knee_is_marked_for_the_eye_and_for_a_reader(open_page: Opener) -> None:
    opened = open_page(MADE)
    knees = opened.page.locator("figure.heat td.knee")
    assert knees.count() == 8
    assert all("knee" in text for text in knees.all_inner_texts())
    assert knees.first.evaluate("cell => getComputedStyle(cell).outlineStyle") == "solid"
    assert "of the peak" in (knees.first.get_attribute("title") or "")


def test_nothing_is_wider_than_a_narrow_page(open_page: Opener) -> None:
    opened = open_page(MADE, viewport={"width": 390, "height": 800})
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(wide) <= 0


def test_the_shades_are_printed(open_page: Opener) -> None:
    opened = open_page(MADE)
    opened.page.emulate_media(media="print")
    cell = opened.page.locator("figure.heat td.knee").first
    assert cell.evaluate("cell => getComputedStyle(cell).printColorAdjust") == "exact"
    assert len(set(shades(opened, "figure.heat:first-of-type td"))) > 3
