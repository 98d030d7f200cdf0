"""Every claim on objects and their clients can come out each way: its cases stand with its rows."""

from __future__ import annotations

import pytest
from tests.analysis import test_client_findings, test_object_findings
from tests.analysis.sample_rows import void

from wavetank.analysis.findings import claim, judge_claims

CASES = test_object_findings.CASES | test_client_findings.CASES


@pytest.mark.parametrize("name", CASES)
def test_a_claim_can_be_reproduced(name: str) -> None:
    (found,) = judge_claims(CASES[name][0], [name])
    assert found.verdict == "reproduced", [one.text for one in found.checks]
    assert all(one.cells and one.text for one in found.checks)


@pytest.mark.parametrize("name", CASES)
def test_a_claim_can_turn_out_changed(name: str) -> None:
    (found,) = judge_claims(CASES[name][1], [name])
    assert found.verdict == "changed", [one.text for one in found.checks]
    assert found.reason == claim(name).since


@pytest.mark.parametrize("name", CASES)
def test_without_its_cells_a_claim_is_not_judged_and_says_what_it_needs(name: str) -> None:
    (found,) = judge_claims([void(one) for one in CASES[name][0]], [name])
    assert found.verdict == "not judged"
    assert found.reason == f"Needs {claim(name).needs}."
