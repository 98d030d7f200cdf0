"""Tables on a terminal fit its width; elsewhere they are plain text without colour or wrapping."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from sample_runs import IDEAL, REALISTIC, Sample, grid, run

from wavetank import report


def printed(made: Sample, width: int = 100, terminal: bool = False) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, color_system="standard")
    report.print_tables(console, made.plan, made.environment, made.trials, made.walls)
    return text.getvalue()


@pytest.fixture(scope="module")
def demo() -> Sample:
    return run(grid(), spoil=lambda index, record: None if index == 5 else record)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(demo: Sample, width: int) -> None:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed(demo, width, terminal=True)).splitlines()
    assert max(len(line) for line in lines) <= width


def test_piped_text_has_no_colour(demo: Sample) -> None:
    assert "\x1b" not in printed(demo)


def test_piped_text_does_not_depend_on_the_width(demo: Sample) -> None:
    assert printed(demo, 40) == printed(demo, 200)


def test_columns_are_aligned(demo: Sample) -> None:
    lines = printed(demo).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Reading, batch"))
    ends = [line.index("B/s") for line in lines[start + 1 : start + 5]]
    assert len(set(ends)) == 1


def test_the_answer_stands_before_the_numbers(demo: Sample) -> None:
    text = printed(demo)
    assert text.index("iSCSI wins") < text.index("Reading, batch")


def test_a_missing_trial_is_named_with_its_reason(demo: Sample) -> None:
    text = printed(demo)
    assert "1 trials yield no number:" not in text
    assert "1 trial yields no number:" in text
    assert "missing: local disk on ideal-100, writing 4 KiB files, 8 threads" in text


def test_many_systems_become_rows_where_columns_do_not_fit() -> None:
    made = run(
        grid(("nfs3", "nfs4.2", "iscsi", "nvme", "swift"), (IDEAL, REALISTIC), sizes=(4096,)),
        count=60,
    )
    narrow = re.sub(r"\x1b\[[0-9;]*m", "", printed(made, 60, terminal=True))
    assert "p50" in narrow
    for name in ("NFS 3", "NFS 4.2", "iSCSI", "NVMe/TCP", "Swift"):
        assert f": {name}" in narrow
