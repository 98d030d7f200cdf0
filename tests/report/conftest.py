"""Makes the sample runs of tests/analysis importable by the tests of the report; opens pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "analysis"), str(Path(__file__).parent)]

from open_pages import CHROMIUM, FLAGS, Opener, OpenPage  # noqa: E402 - found by the path above
from sample_runs import Sample  # noqa: E402


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: object, tmp_path: Path) -> Iterator[Opener]:
    opened: list[OpenPage] = []

    def opener(made: Sample, **options: object) -> OpenPage:
        opened.append(OpenPage(browser, made, tmp_path, **options))
        return opened[-1]

    yield opener
    for one in opened:
        one.page.close()
