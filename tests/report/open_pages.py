"""A report opened in headless Chromium, with everything it complained about or asked for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_runs import Sample

from wavetank import report

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
# Ends what hangs; nothing takes so long, however busy the machine.
DEADLINE_MS = 120_000
NEEDS_A_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]


class OpenPage:
    """A report in the browser, with everything it complained about or asked for."""

    def __init__(self, browser: object, made: Sample, directory: Path, **options: object) -> None:
        path = directory / "report.html"
        report.write_html(made.plan, made.environment, made.trials, made.walls, path)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = browser.new_page(**options)  # type: ignore[attr-defined]
        self.page.set_default_timeout(DEADLINE_MS)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=DEADLINE_MS)

    def draw_everything(self) -> None:
        """Scrolls through the page, as a reader would, until every figure is drawn."""
        for holder in self.page.locator(".panels").all():
            holder.scroll_into_view_if_needed()
            self.page.wait_for_function("e => e.dataset.drawn", arg=holder.element_handle())

    def shows(self, selector: str) -> list[str]:
        return list(self.page.locator(selector).all_inner_texts())


Opener = Callable[..., OpenPage]
