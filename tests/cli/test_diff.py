"""Claims about `wavetank diff`: what it compares, what it refuses, and its exit code."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from wavetank.cli import conducting
from wavetank.cli.app import app
from wavetank.runs.records import TrialRecord

Lab = Any  # tests/conftest.py, PlayedLab
Wavetank = Callable[..., Result]
ASK = "compare --systems nfs4.2,iscsi --networks realistic --file-size 4KiB --repeats 3"


@pytest.fixture
def wavetank(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wavetank:
    """`wavetank("diff a b")` in an empty directory, with guests that are played."""
    monkeypatch.setattr(conducting, "find_tools", lab.tools)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    return lambda words: runner.invoke(app, shlex.split(words))


def slower(factor: float, operation: str = "write") -> Callable[[TrialRecord], TrialRecord]:
    """The operation's phases stretched by `factor`, everything done the same."""

    def alter(record: TrialRecord) -> TrialRecord:
        phase = record.phases[0]
        if phase.operations[0].operation != operation:
            return record
        stretched = msgspec.structs.replace(
            phase,
            elapsed_ns=round(phase.elapsed_ns * factor),
            busy_until_ns=round(phase.busy_until_ns * factor),
            series=msgspec.structs.replace(
                phase.series, bin_ns=round(phase.series.bin_ns * factor)
            ),
        )
        return msgspec.structs.replace(record, phases=[stretched])

    return alter


def test_a_run_against_its_repeat_is_no_change_and_exit_code_0(wavetank: Wavetank) -> None:
    wavetank(f"{ASK} --out a")
    wavetank(f"{ASK} --out b")
    result = wavetank("diff a b")
    assert result.exit_code == 0, result.stderr
    assert "0 of 4 cells past 5 %" in result.stdout


def test_a_slowed_operation_is_named_with_its_ratio_and_exit_code_1(
    wavetank: Wavetank, lab: Lab
) -> None:
    wavetank(f"{ASK} --out a")
    lab.alter = slower(1.25)
    wavetank(f"{ASK} --out b")
    result = wavetank("diff a b")
    assert result.exit_code == 1
    assert "2 slower" in result.stdout
    assert "0.800" in result.stdout


def test_the_largest_change_stands_first(wavetank: Wavetank, lab: Lab) -> None:
    wavetank(f"{ASK} --out a")
    write, read = slower(1.25), slower(2, "read")
    lab.alter = lambda record: read(write(record))
    wavetank(f"{ASK} --out b")
    lines = [line for line in wavetank("diff a b").stdout.splitlines() if "slower" in line]
    ratios = [found[1] for line in lines if (found := re.search(r" (0\.\d{3}) ", line))]
    assert ratios == ["0.500", "0.500", "0.800", "0.800"]


def test_the_threshold_decides_what_is_a_finding(wavetank: Wavetank, lab: Lab) -> None:
    wavetank(f"{ASK} --out a")
    lab.alter = slower(1.25)
    wavetank(f"{ASK} --out b")
    assert wavetank("diff a b --threshold 30%").exit_code == 0
    assert wavetank("diff a b --threshold 0.1").exit_code == 1


def test_json_is_one_document_with_a_ratio_for_each_cell(wavetank: Wavetank, lab: Lab) -> None:
    wavetank(f"{ASK} --out a")
    lab.alter = slower(2)
    wavetank(f"{ASK} --out b")
    document = json.loads(wavetank("diff a b --json").stdout)
    assert document["changed"] == 2
    ratios = {
        (one["system"], one["operation"]): round(one["ratio"]["ratio"], 3)
        for one in document["differences"]
    }
    assert ratios == {
        ("nfs4.2", "write"): 0.5,
        ("nfs4.2", "read"): 1.0,
        ("iscsi", "write"): 0.5,
        ("iscsi", "read"): 1.0,
    }


def test_unlike_environments_are_refused_unless_forced_which_the_output_says(
    wavetank: Wavetank, lab: Lab
) -> None:
    wavetank(f"{ASK} --out a")
    lab.environment = msgspec.structs.replace(lab.environment, kernel_digest="other")
    wavetank(f"{ASK} --out b")
    refused = wavetank("diff a b")
    assert refused.exit_code == 4
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert "kernel digest" in refused.stderr
    assert "--force" in refused.stderr
    forced = wavetank("diff a b --force")
    assert forced.exit_code == 0
    assert "kernel digest" in forced.stdout
    assert "orced" in forced.stdout


def test_runs_with_nothing_in_common_are_inconclusive(wavetank: Wavetank) -> None:
    wavetank("compare --systems iscsi --networks ideal-100 --out a")
    wavetank("compare --systems iscsi --networks realistic --out b")
    result = wavetank("diff a b")
    assert result.exit_code == 4
    assert "no cell in common" in result.stderr


def test_a_cell_that_lost_its_number_is_a_change(wavetank: Wavetank, lab: Lab) -> None:
    wavetank(f"{ASK} --out a")
    lab.void = True
    wavetank(f"{ASK} --out b")
    result = wavetank("diff a b")
    assert result.exit_code == 1
    assert "4 lost" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("diff a nowhere", "not a run directory"),
        ("diff a a --threshold 5", "fraction"),
        ("diff a a --threshold 0%", "between 0 and 100%"),
        ("diff a a --threshold much", "fraction"),
    ],
)
def test_bad_words_are_answered_in_one_sentence_with_exit_code_2(
    wavetank: Wavetank, words: str, said: str
) -> None:
    wavetank("compare --systems local --networks ideal-100 --out a")
    result = wavetank(words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
