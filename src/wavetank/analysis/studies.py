"""What a study comes to beyond the comparisons of any run: findings, fitted models, policies of
access, and our numbers beside the published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from wavetank.analysis.amplification import AmplificationFit, fit_amplification
from wavetank.analysis.findings import Finding, Verdict, judge_claims
from wavetank.analysis.policies import AccessPolicy, access_policies
from wavetank.analysis.published import BesidePublished, beside_published
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import listed
from wavetank.study.study import Study

_VERDICTS: tuple[Verdict, ...] = ("reproduced", "changed", "not judged")


class StudyAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """Findings in the study's order; fits and policies only where the study has their cells."""

    findings: list[Finding]
    fits: list[AmplificationFit]
    policies: list[AccessPolicy]
    published: list[BesidePublished]


def analyse_study(study: Study, rows: Sequence[CellRow]) -> StudyAnalysis:
    """Raises `UnknownClaimError` for a finding that nobody wrote down."""
    fits = fit_amplification([row for row in rows if row.status == "ok" and not row.baseline])
    asked = _asks_for_amplification(study)
    return StudyAnalysis(
        findings=judge_claims(rows, study.findings),
        fits=fits if asked else [],
        policies=access_policies(rows),
        published=beside_published(study.published, rows, fits),
    )


def _asks_for_amplification(study: Study) -> bool:
    return any(plot.model is not None for plot in study.plots) or any(
        name.startswith("amp-") for name in study.findings
    )


def findings_sentence(findings: Sequence[Finding]) -> str:
    """`Of 5 published findings 3 are reproduced, 1 has changed and 1 is not judged.`"""
    if not findings:
        return ""
    counts = Counter(one.verdict for one in findings)
    words = {
        "reproduced": ("is reproduced", "are reproduced"),
        "changed": ("has changed", "have changed"),
        "not judged": ("is not judged", "are not judged"),
    }
    parts = [
        f"{counts[name]} {words[name][counts[name] != 1]}" for name in _VERDICTS if counts[name]
    ]
    total = len(findings)
    return f"Of {total} published finding{'' if total == 1 else 's'} {listed(parts)}."
