"""A study in words for the page and the terminal: findings with their evidence, our numbers beside
the published, fitted constants, policies of access.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from wavetank.analysis.amplification import AmplificationFit
from wavetank.analysis.findings import Finding
from wavetank.analysis.policies import AccessPolicy
from wavetank.analysis.published import BesidePublished
from wavetank.analysis.rows import CellRow
from wavetank.analysis.studies import StudyAnalysis, findings_sentence
from wavetank.analysis.wording import (
    byte_rate_text,
    condition_text,
    duration_text,
    kib_text,
    operation_rate_text,
    operation_text,
    percent_text,
    significant,
    size_text,
    span_text,
    system_text,
)
from wavetank.report.study_figures import QUANTITY_WORDS
from wavetank.study.study import Published, Quantity, Study

MODEL_WORDS = {
    "single-read": "one file read: (c + s) / s",
    "single-write": "one file written: (c + s) / s",
    "batch-write": "set written with sync, one thread: (j + m + s) / s",
    "batch-write-threads": "set written with sync, n threads: (j + m + n s) / (n s)",
}


class CheckLine(msgspec.Struct, frozen=True):
    """One check: whether it holds, its words, the rows behind it."""

    holds: bool
    text: str
    rows: list[int]


class FindingLine(msgspec.Struct, frozen=True, kw_only=True):
    """One claim with its verdict; `held` in words where there was anything to check."""

    id: str
    text: str
    source: str
    published: str
    verdict: str
    held: str
    checks: list[CheckLine]
    reason: str
    left_open: str


class PublishedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A published number and ours, side by side."""

    what: str
    where: str
    source: str
    published: str
    ours: str
    span: str
    ratio: str
    agrees: bool | None
    rows: list[int]
    note: str


class FitLine(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted constant beside the published ones."""

    model: str
    system: str
    network: str
    constant: str
    interval: str
    base: str
    published: list[str]
    rows: list[int]


class PolicyLine(msgspec.Struct, frozen=True, kw_only=True):
    """How one system reads or writes under one form of access."""

    system: str
    access: str
    operation: str
    policy: str
    published: str
    same: bool | None
    because: str
    rows: list[int]


class StudyView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a study adds to the page."""

    title: str
    source: str
    sentence: str
    findings: list[FindingLine]
    published: list[PublishedLine]
    fits: list[FitLine]
    policies: list[PolicyLine]
    notes: list[str]


def study_view(study: Study, found: StudyAnalysis, rows: Sequence[CellRow]) -> StudyView:
    """The view of one study; row numbers refer to `rows`."""
    places = {row.digest: index for index, row in enumerate(rows)}
    source = study.source
    return StudyView(
        title=study.title,
        source=f"{source.paper} {source.place}" if source else "",
        sentence=findings_sentence(found.findings),
        findings=[_finding(one, places) for one in found.findings],
        published=[_published(one, places) for one in found.published],
        fits=[_fit(one, places, rows) for one in found.fits],
        policies=[_policy(one, places) for one in found.policies],
        notes=study.notes,
    )


def _places(digests: Sequence[str], places: Mapping[str, int]) -> list[int]:
    return [places[digest] for digest in digests if digest in places]


def _finding(found: Finding, places: Mapping[str, int]) -> FindingLine:
    total = len(found.checks)
    held = f"{found.held} of {total} check{'' if total == 1 else 's'} hold"
    return FindingLine(
        id=found.id,
        text=found.text,
        source=found.source,
        published=found.published,
        verdict=found.verdict,
        held=held if total else "",
        checks=[
            CheckLine(one.holds, one.text, _places(one.cells, places))
            for one in sorted(found.checks, key=lambda one: one.holds)
        ],
        reason=found.reason,
        left_open=found.left_open,
    )


def _published(one: BesidePublished, places: Mapping[str, int]) -> PublishedLine:
    found = one.published
    ours = "no such cell" if one.ours is None else quantity_text(one.ours, found.quantity)
    span = ""
    if one.least is not None and one.most is not None and one.least != one.most:
        ends = [quantity_text(end, found.quantity) for end in (one.least, one.most)]
        span = f"{ends[0]} to {ends[1]}"
    relation = "" if found.relation == "equal" else f"{found.relation} "
    return PublishedLine(
        what=f"{QUANTITY_WORDS[found.quantity]}, {system_text(found.system)}",
        where=_where(found),
        source=f"{found.source.paper} {found.source.place}",
        published=f"{relation}{significant(found.printed)} {found.unit}",
        ours=ours,
        span=span,
        ratio="" if one.ratio is None else f"{one.ratio:.2f}",
        agrees=one.agrees,
        rows=_places(one.digests, places),
        note=found.note,
    )


def _where(found: Published) -> str:
    words = [found.network or "all networks"]
    for name, value in found.parameters.items():
        is_operation = name == "operation"
        words.append(operation_text(str(value)) if is_operation else condition_text(name, value))
    words += [f"{name} {value}" for name, value in found.options.items()]
    client = {
        "client_disk": found.client_disk or None,
        "client_memory_bytes": found.client_memory_bytes,
        "client_processors": found.client_processors,
    }
    words += [condition_text(name, value) for name, value in client.items() if value is not None]
    return ", ".join(words)


_TEXTS: dict[Quantity, Callable[[float], str]] = {
    "throughput_bytes_per_s": byte_rate_text,
    "overall_bytes_per_s": byte_rate_text,
    "processors_used": percent_text,
    "operations_per_s": operation_rate_text,
    "elapsed_s": span_text,
    "latency_ns_mean": duration_text,
    "latency_ns_p50": duration_text,
    "latency_ns_p99": duration_text,
    "amplification": significant,
    "link_packets": lambda value: f"{round(value):,}".replace(",", " "),
    "requests": lambda value: f"{round(value):,}".replace(",", " "),
}


def quantity_text(value: float, quantity: Quantity) -> str:
    """A quantity in words, by its own unit; bytes where none is stated."""
    text = _TEXTS.get(quantity)
    if text is not None:
        return text(value)
    return size_text(round(value)) if value > 0 else significant(value)


def _fit(fit: AmplificationFit, places: Mapping[str, int], rows: Sequence[CellRow]) -> FitLine:
    interval, members = fit.constant_interval, _places(fit.digests, places)
    words = [system_text(fit.system), fit.access]
    if fit.model == "batch-write-threads":
        words.append(size_text(float(rows[members[0]].parameters.get("file_size_bytes", 0))))
    return FitLine(
        model=MODEL_WORDS[fit.model],
        system=", ".join(word for word in words if word),
        network=fit.network,
        constant=kib_text(fit.constant_bytes),
        interval=f"{kib_text(interval.low)} to {kib_text(interval.high)}" if interval else "",
        base=significant(fit.base),
        published=[
            kib_text(one.low_bytes)
            + (f" to {kib_text(one.high_bytes)}" if one.high_bytes != one.low_bytes else "")
            + f" ({one.source})"
            for one in fit.published
        ],
        rows=members,
    )


def _policy(one: AccessPolicy, places: Mapping[str, int]) -> PolicyLine:
    return PolicyLine(
        system=system_text(one.system),
        access=one.access,
        operation=operation_text(one.operation),
        policy=one.policy,
        published=one.published or "",
        same=None if one.published is None else one.policy == one.published,
        because=one.because,
        rows=_places(one.digests, places),
    )
