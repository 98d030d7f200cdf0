"""Claims about how two runs compared are told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
from rich.console import Console
from sample_runs import Sample, grid, run

from wavetank.analysis.differences import RunDifference, difference
from wavetank.report.differences import differences_document, print_differences, summary
from wavetank.runs.directory import Run
from wavetank.runs.records import TrialRecord


def found(before: Sample, after: Sample, **options: bool) -> RunDifference:
    one, other = (
        Run(
            path=Path(name),
            plan=made.plan,
            environment=made.environment,
            trials=made.trials,
            walls=made.walls,
        )
        for name, made in (("before", before), ("after", after))
    )
    return difference(one, other, **options)


def shown(result: RunDifference, **console: object) -> str:
    text = io.StringIO()
    print_differences(Console(file=text, **console), result)  # type: ignore[arg-type]
    return text.getvalue()


def one_lost(index: int, record: TrialRecord) -> TrialRecord:
    if index:
        return record
    return msgspec.structs.replace(record, status="void", reason="RTT 61 ms")


MADE = run(grid(sizes=(4096,)))
WORSE = found(MADE, run(grid(sizes=(4096,)), spoil=one_lost))


def test_the_summary_counts_what_changed() -> None:
    assert summary(found(MADE, MADE)) == "0 of 24 cells past 5 %; 24 within it."
    assert summary(WORSE).startswith("1 of 24 cells past 5 %: 1 lost; 23 within it.")


def test_piped_text_has_no_colour_and_one_line_per_cell() -> None:
    text = shown(WORSE)
    assert "\x1b" not in text
    assert len([line for line in text.splitlines() if line.endswith("level")]) == 23
    assert "after: void, RTT 61 ms." in text


def test_a_narrow_terminal_keeps_ratio_and_verdict() -> None:
    text = shown(WORSE, force_terminal=True, width=80)
    assert "verdict" in text
    assert "before" not in text.splitlines()[3]


def test_a_forced_comparison_says_so() -> None:
    other = msgspec.structs.replace(
        MADE, environment=msgspec.structs.replace(MADE.environment, kernel_digest="ffff")
    )
    text = shown(found(MADE, other, force=True))
    assert "Forced although the environments are unlike: kernel digest" in text


def test_the_document_is_plain_json_with_every_cell() -> None:
    document = json.loads(json.dumps(differences_document(WORSE)))
    assert len(document["differences"]) == 24
    assert document["changed"] == 1
