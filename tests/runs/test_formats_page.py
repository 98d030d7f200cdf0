"""Claims that docs/reference/formats.md makes about its own worked example."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from wavetank.runs.records import Environment, Plan, TrialRecord, WallRecord

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
KINDS: dict[str, Any] = {
    "plan.json": Plan,
    "environment.json": Environment,
    "trials.jsonl": TrialRecord,
    "wall.jsonl": WallRecord,
}


def example(name: str) -> str:
    """The JSON under the heading of this file."""
    match = re.search(
        rf"^## {re.escape(name)}$.*?^```json$(.*?)^```$", PAGE.read_text(), re.M | re.S
    )
    assert match is not None
    return match[1]


@pytest.mark.parametrize("name", KINDS)
def test_the_example_has_every_field_and_no_other(name: str) -> None:
    record = msgspec.json.decode(example(name), type=KINDS[name])
    assert json.loads(msgspec.json.encode(record)) == json.loads(example(name))


def test_the_trial_of_the_example_is_the_planned_one() -> None:
    plan = msgspec.json.decode(example("plan.json"), type=Plan)
    trial = msgspec.json.decode(example("trials.jsonl"), type=TrialRecord)
    wall = msgspec.json.decode(example("wall.jsonl"), type=WallRecord)
    assert plan.trials[0].cell.digest == trial.cell == wall.cell


def test_fields_of_the_future_are_ignored_within_a_version() -> None:
    document = json.loads(example("trials.jsonl")) | {"weather": "fine"}
    assert msgspec.json.decode(json.dumps(document), type=TrialRecord).status == "ok"
