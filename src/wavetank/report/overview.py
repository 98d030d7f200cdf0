"""The answer and the overview: cards by network, and the matrix of conditions by networks that
shows every contender with the winner marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from wavetank.analysis import Analysis, Comparison, NetworkVerdict, Standing
from wavetank.analysis.facets import Conditions
from wavetank.analysis.verdicts import finding, rate_text, work_text
from wavetank.analysis.wording import conditions_text, factor_text, operation_text, system_text

MOST_FINDINGS_SHOWN = 8
"""With more comparisons than this a card shows the most decisive ones, and the others folded."""

MOST_DECISIVE_SHOWN = 5
MOST_EVIDENCE_SHOWN = 2
MOST_BARS_ROWS = 24
"""With more conditions than this the matrix shows winners alone, to stay readable at a glance."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison in words, and what was measured that may explain it."""

    work: str
    text: str
    evidence: list[str]
    caution: str


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for one network: the most decisive findings first, the others after."""

    network: str
    text: str
    clock: str
    headline: str
    findings: list[Finding]
    others: list[Finding]


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A contender in a cell of the matrix; `share` of the best one's rate."""

    system: str
    slot: int
    rate: str
    share: float
    best: bool


class MatrixCell(msgspec.Struct, frozen=True, kw_only=True):
    """One network under one set of conditions. `winner` is empty where nobody wins; `level`
    holds the slots of those who share the first place, `unusable` system and status.
    """

    winner: str
    slot: int | None
    note: str
    level: list[int]
    bars: list[Bar]
    unusable: list[tuple[str, str]]
    told: str


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """`cells` in the order of the matrix's networks; None where nothing was planned."""

    conditions: str
    cells: list[MatrixCell | None]


class MatrixGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one operation of a workload."""

    title: str
    rows: list[MatrixRow]


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """The overview. `bars`: whether cells show every contender or the winner alone;
    `longest_name` in characters, for the width of their column.
    """

    networks: list[str]
    groups: list[MatrixGroup]
    bars: bool
    longest_name: int


def cards_of(analysis: Analysis, network_words: Mapping[str, str]) -> list[Card]:
    """One card for each network and clock."""
    return [_card(one, network_words[one.network]) for one in analysis.networks]


def _card(verdict: NetworkVerdict, text: str) -> Card:
    shown = verdict.comparisons
    if len(shown) > MOST_FINDINGS_SHOWN:
        shown = _most_decisive(shown) or shown[:1]
    chosen = {id(one) for one in shown}
    return Card(
        network=verdict.network,
        text=text,
        clock=verdict.clock,
        headline=verdict.headline,
        findings=[_finding(one) for one in verdict.comparisons if id(one) in chosen],
        others=[_finding(one) for one in verdict.comparisons if id(one) not in chosen],
    )


def _most_decisive(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The largest factors, but of different kinds first: the same lead at five sizes is one."""
    wins = [one for one in comparisons if one.outcome == "wins"]
    wins.sort(key=lambda one: -(one.factor or 0))
    first: dict[tuple[object, ...], Comparison] = {}
    for one in wins:
        rest = tuple(one.conditions.get(name) for name in one.varying[1:])
        first.setdefault((one.winner, one.workload, one.operation, rest), one)
    chosen = list(first.values())[:MOST_DECISIVE_SHOWN]
    others = [one for one in wins if not any(one is other for other in chosen)]
    return chosen + others[: MOST_DECISIVE_SHOWN - len(chosen)]


def _finding(comparison: Comparison) -> Finding:
    work, text = work_text(comparison), finding(comparison)
    return Finding(
        work=work[:1].upper() + work[1:],
        text=text[:1].upper() + text[1:] if text.startswith(("only ", "no ")) else text,
        evidence=comparison.evidence[:MOST_EVIDENCE_SHOWN],
        caution=comparison.caution,
    )


def matrix_of(analysis: Analysis, slots: Mapping[str, int]) -> Matrix:
    """The matrix of all comparisons; `slots` gives each system its colour."""
    networks = list(dict.fromkeys(one.network for one in analysis.networks))
    clocks = {one.clock for one in analysis.networks}
    groups: dict[str, dict[str, dict[str, MatrixCell]]] = {}
    for one in (one for network in analysis.networks for one in network.comparisons):
        verb = operation_text(one.operation) or one.workload
        title = f"{verb[:1].upper()}{verb[1:]}, {one.workload}"
        title += f", {one.clock} clock" if len(clocks) > 1 else ""
        rows = groups.setdefault(title, {})
        words = (
            conditions_text(one.conditions, _named(one.conditions, one.varying)) or "all conditions"
        )
        rows.setdefault(words, {})[one.network] = _matrix_cell(one, slots)
    return Matrix(
        networks=networks,
        groups=[
            MatrixGroup(
                title=title,
                rows=[
                    MatrixRow(conditions=words, cells=[cells.get(name) for name in networks])
                    for words, cells in rows.items()
                ],
            )
            for title, rows in groups.items()
        ],
        bars=sum(len(rows) for rows in groups.values()) <= MOST_BARS_ROWS,
        longest_name=max((len(system_text(label)) for label in slots), default=0),
    )


def _named(conditions: Conditions, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in conditions]


def _matrix_cell(comparison: Comparison, slots: Mapping[str, int]) -> MatrixCell:
    standings = comparison.standings
    best = standings[0].value if standings else 0.0
    baselines = [_rate_of(one, comparison) for one in comparison.baselines]
    winner, note, slot = _winner(comparison)
    return MatrixCell(
        winner=winner,
        slot=slots[slot] if slot else None,
        note=note,
        level=sorted(slots[one.system] for one in standings if one.level_with_best),
        unusable=[
            (system_text(name), why.partition(":")[0]) for name, why in comparison.unusable.items()
        ],
        bars=[
            Bar(
                system=system_text(one.system),
                slot=slots[one.system],
                rate=rate_text(one.value, comparison.metric),
                share=one.value / best if best else 0.0,
                best=one.level_with_best,
            )
            for one in standings
        ],
        told="; ".join([_rate_of(one, comparison) for one in standings] + baselines),
    )


def _winner(comparison: Comparison) -> tuple[str, str, str | None]:
    """Who is named, the note beside it, and the system whose colour the cell takes."""
    standings = comparison.standings
    match comparison.outcome:
        case "wins":
            return (
                system_text(standings[0].system),
                factor_text(comparison.factor or 1.0),
                standings[0].system,
            )
        case "level":
            return "", "level", None
        case "alone":
            return system_text(standings[0].system), "alone", standings[0].system
        case "none":
            return "", "no result", None


def _rate_of(standing: Standing, comparison: Comparison) -> str:
    return f"{system_text(standing.system)} {rate_text(standing.value, comparison.metric)}"
