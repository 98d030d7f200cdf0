"""The registry: every claim by its id, and the verdicts of a run."""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.errors import UnknownClaimError
from wavetank.analysis.findings import access, batch, clients, objects, others
from wavetank.analysis.findings.cells import family, plain_only
from wavetank.analysis.findings.verdict import Claim, Finding, Verdict
from wavetank.analysis.rows import CellRow

CLAIMS: dict[str, Claim] = {
    one.id: one
    for one in (
        *access.CLAIMS,
        *batch.CLAIMS,
        *others.CLAIMS,
        *objects.CLAIMS,
        *clients.CLAIMS,
    )
}


def claim(name: str) -> Claim:
    """The claim of this id. Raises `UnknownClaimError`."""
    if name not in CLAIMS:
        raise UnknownClaimError(f"no claim is called '{name}'; there are {', '.join(CLAIMS)}.")
    return CLAIMS[name]


def judge_claims(rows: Sequence[CellRow], names: Sequence[str]) -> list[Finding]:
    """The named claims judged by `rows`, in the order named. Raises `UnknownClaimError`."""
    return [judge(claim(name), rows) for name in names]


def judge(claim: Claim, rows: Sequence[CellRow]) -> Finding:
    """The verdict on one claim from the usable rows of a run."""
    usable = [row for row in rows if row.status == "ok"]
    checks = claim.check(usable if claim.variants else plain_only(usable))
    verdict: Verdict = "not judged"
    reason = f"Needs {claim.needs}."
    if checks:
        holds = all(one.holds for one in checks)
        verdict = "reproduced" if holds else "changed"
        reason = "" if holds else claim.since
    return Finding(
        id=claim.id,
        text=claim.text,
        source=claim.source,
        published=claim.published,
        verdict=verdict,
        checks=checks,
        reason=reason,
        left_open=_left_open(claim, usable) if checks else "",
    )


def _left_open(claim: Claim, rows: Sequence[CellRow]) -> str:
    if not claim.on_swift_too or any(family(row) == "swift" for row in rows):
        return ""
    return "Not judged yet: the part about Swift."
