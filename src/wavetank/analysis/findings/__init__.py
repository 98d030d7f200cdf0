"""Findings: the papers' claims, each judged by the cells of a run.

A claim stands here in our own words, with its source, the published numbers and a predicate over
rows. The verdict is `reproduced`, `changed` or `not judged`; docs/method/findings.md says how.
"""

from __future__ import annotations

from wavetank.analysis.findings.claims import CLAIMS, claim, judge_claims
from wavetank.analysis.findings.verdict import Check, Claim, Finding, Verdict

__all__ = ["CLAIMS", "Check", "Claim", "Finding", "Verdict", "claim", "judge_claims"]
