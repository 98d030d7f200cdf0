"""The manual against the program: what can be typed is described."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from wavetank import systems
from wavetank.cli.app import app
from wavetank.errors import ExitCode

Command = Any  # of click, which some versions of Typer carry inside
DOCS = Path(__file__).resolve().parent.parent / "docs"


def commands(command: Command, name: str = "") -> Iterator[tuple[str, Command]]:
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


def shown() -> list[tuple[str, str]]:
    """Every command that a page shows at a prompt, with the page."""
    pages = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    prompt = re.compile(r"^\$ (?:\.venv/bin/)?wavetank ((?:.*\\\n)*.*)$", re.MULTILINE)
    return [
        (str(page.relative_to(DOCS.parent)), found[1])
        for page in pages
        for found in prompt.finditer(page.read_text())
    ]


@pytest.mark.parametrize(("page", "words"), shown())
def test_every_command_that_a_page_shows_can_be_typed(page: str, words: str) -> None:
    plain = words.replace("\\\n", " ").partition(" || ")[0].partition("|disks")[0]
    plain = plain.replace("systems|networks|workloads", "systems")
    there = str(Path(__file__))  # in place of a file that must exist
    split = shlex.split(plain, comments=True)
    arguments = [there if one.startswith("~/") else one for one in split]
    command: Command = ALL[""]
    while arguments and arguments[0] in getattr(command, "commands", {}):
        command = command.commands[arguments.pop(0)]
    command.make_context("wavetank", arguments)


@pytest.mark.parametrize("name", systems.names())
def test_every_option_of_every_system_stands_in_the_how_to(name: str) -> None:
    text = (DOCS / "howto/compare.md").read_text()
    assert [p.name for p in systems.get(name).parameters if f"`{p.name}`" not in text] == []


def test_every_exit_code_stands_in_the_reference() -> None:
    text = (DOCS / "reference/cli.md").read_text()
    assert all(f"| {code.value} |" in text for code in ExitCode)
