"""What the tests of this folder share: this machine's tools, guests that can import them, and the
figures they measured, which pytest prints at the end (docs/method/accuracy.md quotes them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wavetank.conduct.session import Tools
from wavetank.conduct.tools import find_tools

CHECKOUT = Path(__file__).parents[2]
FIGURES: dict[str, str] = {}


@pytest.fixture(autouse=True, scope="session")
def importable_in_guest() -> Iterator[None]:
    """A guest searches where the host does: its entry is a module of this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT))
        yield


@pytest.fixture(scope="session")
def tools() -> Tools:
    """Kernel and programs of this machine; the error for what is missing says what to do."""
    return find_tools()


@pytest.fixture(scope="session")
def figure() -> Callable[[str, str], None]:
    """`figure(what, how much)`: a measured figure for the end of pytest's report."""
    return FIGURES.__setitem__


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FIGURES:
        terminalreporter.section("measured")
        for what, how_much in FIGURES.items():
            terminalreporter.write_line(f"{what}: {how_much}")
