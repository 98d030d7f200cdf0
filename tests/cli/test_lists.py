"""Claims about lists, help and completion."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from wavetank.cli import options
from wavetank.cli.app import app

COMMANDS = [
    [],
    ["compare"],
    ["run"],
    ["reproduce"],
    ["bench"],
    ["diff"],
    ["shell"],
    ["report"],
    ["show"],
    ["logs"],
    ["doctor"],
    ["kernel", "build"],
    ["list"],
    ["list", "studies"],
    ["list", "networks"],
    ["list", "systems"],
    ["list", "workloads"],
    ["list", "disks"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_help_has_an_example(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    _, example, words = result.stdout.partition("Example: ")
    assert example
    assert "wavetank" in words


@pytest.mark.parametrize("what", ["networks", "workloads", "disks"])
def test_a_list_as_json_is_one_document(what: str) -> None:
    result = CliRunner().invoke(app, ["list", what, "--json"])
    rows = json.loads(result.stdout)[what]
    assert len(rows) >= 2
    assert all(row["name"] for row in rows)


def test_a_piped_list_is_a_line_each_with_the_name_first() -> None:
    lines = CliRunner().invoke(app, ["list", "networks"]).stdout.splitlines()
    assert "realistic\t100mbit\t50ms\t0.1%\t10ms" in lines


def test_completion_goes_on_after_a_comma() -> None:
    complete = options.completed(options.network_names)
    assert complete("ideal-100,real") == ["ideal-100,realistic", "ideal-100,realistic-1000"]


def test_a_word_of_few_is_completed_too() -> None:
    assert options.one_of("sync", "direct", "default")("sync,d") == ["sync,direct", "sync,default"]


def test_the_shell_gets_completions() -> None:
    result = CliRunner().invoke(
        app,
        [],
        prog_name="wavetank",
        env={
            "_WAVETANK_COMPLETE": "complete_bash",
            "COMP_WORDS": "wavetank compare --disk s",
            "COMP_CWORD": "3",
        },
    )
    assert "ssd" in result.stdout


def test_help_does_not_import_what_is_slow() -> None:
    code = "import sys, wavetank.cli.app; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    assert "wavetank.cli.compare" in loaded
    assert not {"numpy", "plotly", "jinja2", "pyroute2", "wavetank.analysis"} & set(loaded)


def test_versions_are_told() -> None:
    result = CliRunner().invoke(app, ["--version"])
    name, version = result.stdout.split()
    assert name == "wavetank"
    assert all(before.isdigit() and after for before, after in pairwise(version.split(".")))
