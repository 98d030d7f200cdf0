"""Claims about the architecture: later rooms import earlier ones, and only some doors are open."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import wavetank

PACKAGE = Path(wavetank.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py"))

# What each room may import beside itself and the modules at the top (errors, quantity, shipped).
OPEN_DOORS = {
    "study": set(),
    "runs": {"study"},
    "lab": {"study", "runs"},
    "systems": {"study", "runs", "lab"},
    "workloads": {"study", "systems"},
    "gauges": {"study", "runs", "lab", "systems", "workloads"},
    "conduct": {"study", "runs", "lab", "systems", "workloads", "gauges"},
    "analysis": {"study", "runs"},
    "report": {"study", "runs", "analysis"},
    "cli": {"study", "runs", "lab", "systems", "workloads", "conduct", "analysis", "report"},
    "notebook": {"study", "runs", "conduct", "analysis", "report", "cli"},
}
# The package's own face: names that load the last room when they are used.
FACE = PACKAGE / "__init__.py"


def room_of(path: Path) -> str | None:
    """The room a file lives in, None for the modules at the top."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else None


def rooms_imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of Wavetank's own, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides its room"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "wavetank" and len(parts) > 1 and parts[1] in OPEN_DOORS:
                yield node.lineno, parts[1]


def test_every_room_is_known() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms == set(OPEN_DOORS)


def test_no_two_rooms_import_each_other() -> None:
    for room, doors in OPEN_DOORS.items():
        assert not [other for other in doors if room in OPEN_DOORS[other]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_earlier_rooms_only(path: Path) -> None:
    room = room_of(path)
    allowed = {"notebook"} if path == FACE else set()
    if room is not None:
        allowed = OPEN_DOORS[room] | {room}
    wrong = [
        f"line {line}: {other}" for line, other in rooms_imported(path) if other not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_opens_with_what_it_is_for_and_is_one_idea(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text))
    assert text.count("\n") <= 500


def test_only_the_command_line_exits() -> None:
    for path in FILES:
        if room_of(path) in ("cli", "lab", "conduct"):
            continue  # lab and conduct hold programs of their own: the cage and the guest's init
        assert "sys.exit" not in path.read_text(), path


def test_no_room_keeps_a_grab_bag() -> None:
    grab_bags = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert not [path for path in FILES if path.stem in grab_bags or path.parent.name in grab_bags]
