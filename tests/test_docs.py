"""The manual against the program: what can be typed is described."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from typer.main import get_command

from wavetank import systems
from wavetank.cli.app import app
from wavetank.errors import ExitCode

DOCS = Path(__file__).resolve().parent.parent / "docs"


def commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name."""
    yield name.strip(), command
    for part, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {part}")


ALL = dict(commands(get_command(app)))


@pytest.mark.parametrize("name", [name for name in ALL if name])
def test_every_command_stands_in_the_reference(name: str) -> None:
    text = (DOCS / "reference/cli.md").read_text()
    assert name in text or all(part in text for part in name.split())


@pytest.mark.parametrize(
    "option",
    sorted({o for c in ALL.values() for p in c.params for o in p.opts if o.startswith("--")}),
)
def test_every_option_stands_in_the_reference(option: str) -> None:
    text = (DOCS / "reference/cli.md").read_text()
    assert re.search(rf"{option}\b", text)


@pytest.mark.parametrize("name", systems.names())
def test_every_option_of_every_system_stands_in_the_how_to(name: str) -> None:
    text = (DOCS / "howto/compare.md").read_text()
    assert [p.name for p in systems.get(name).parameters if f"`{p.name}`" not in text] == []


def test_every_exit_code_stands_in_the_reference() -> None:
    text = (DOCS / "reference/cli.md").read_text()
    assert all(f"| {code.value} |" in text for code in ExitCode)
