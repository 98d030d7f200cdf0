"""The answer in words: one sentence per comparison, one headline per network.

Sentences state medians and factors that the comparison holds, and nothing that it does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from wavetank.analysis.comparisons import LEVEL_WITHIN, Comparison, Standing
from wavetank.analysis.facets import order_of
from wavetank.analysis.intervals import Interval
from wavetank.analysis.rows import THROUGHPUT, Metric
from wavetank.analysis.wording import (
    byte_rate_text,
    conditions_text,
    factor_text,
    listed,
    operation_rate_text,
    operation_text,
    percent_text,
    system_text,
)
from wavetank.study.model import NOT_EMULATED, Clock

MOST_NAMED = 4
"""A longer list of systems is no answer; it is said in sum, and the overview has the names."""


class NetworkVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """All comparisons of one network on one clock, and what they come to."""

    network: str
    clock: Clock
    headline: str
    comparisons: list[Comparison]


def network_verdicts(comparisons: Sequence[Comparison]) -> list[NetworkVerdict]:
    """One verdict for each network and clock in the order they first appear, each with its
    comparisons by workload, operation and conditions.
    """
    groups: dict[tuple[str, Clock], list[Comparison]] = {}
    for one in _by_work(comparisons):
        groups.setdefault((one.network, one.clock), []).append(one)
    return [
        NetworkVerdict(
            network=network, clock=clock, headline=_headline(group), comparisons=list(group)
        )
        for (network, clock), group in groups.items()
    ]


def _by_work(comparisons: Sequence[Comparison]) -> list[Comparison]:
    networks = list(dict.fromkeys(one.network for one in comparisons))
    works = list(dict.fromkeys((one.workload, one.operation) for one in comparisons))
    return sorted(
        comparisons,
        key=lambda one: (
            networks.index(one.network),
            works.index((one.workload, one.operation)),
            order_of(one.conditions, one.varying),
        ),
    )


def sentence(comparison: Comparison) -> str:
    """`On realistic, writing 4 KiB files, 1 thread: iSCSI is 9.8x NFS 4.2 (... against ...).`"""
    return f"On {comparison.network}, {work_text(comparison)}: {finding(comparison)}."


def work_text(comparison: Comparison) -> str:
    """What was done: `writing 4 KiB files, 1 thread`."""
    verb = operation_text(comparison.operation) or comparison.workload
    conditions = conditions_text(comparison.conditions, comparison.varying)
    if comparison.varying and comparison.varying[0] == "file_size_bytes":
        return f"{verb} {conditions}"
    return f"{verb}, {conditions}" if conditions else verb


def finding(comparison: Comparison) -> str:
    """Who wins and by how much, without a full stop."""
    if comparison.outcome == "none":
        reasons = [f"{system_text(who)} {why}" for who, why in comparison.unusable.items()]
        return f"no usable result ({'; '.join(reasons)})"
    if comparison.outcome == "alone":
        return _alone(comparison)
    if comparison.outcome == "level":
        return _level(comparison)
    return _win(comparison)


def _alone(comparison: Comparison) -> str:
    only = comparison.standings[0]
    if comparison.network in NOT_EMULATED:
        return _rate(only, comparison.metric)
    parts = [_rate(only, comparison.metric)]
    parts += [
        f"{system_text(name)} {why.partition(':')[0]}" for name, why in comparison.unusable.items()
    ]
    return f"only {system_text(only.system)} has a usable result ({'; '.join(parts)})"


def _level(comparison: Comparison) -> str:
    metric = comparison.metric
    level = [one for one in comparison.standings if one.level_with_best]
    behind = [one for one in comparison.standings if not one.level_with_best]
    names = listed([system_text(one.system) for one in level])
    last = level[-1]
    text = f"{names} are level"
    if _rate(level[0], metric) == _rate(last, metric):
        text += f" ({_rate(last, metric)} each)"
    else:
        spread = percent_text(1 - last.value / level[0].value)
        text += f", within {spread} ({_rate(level[0], metric)} against {_rate(last, metric)})"
    if last.behind is not None and last.behind.ratio >= LEVEL_WITHIN:
        text += "; the repeats do not tell them apart"
    if behind:
        text += f", and {listed([_times(one) for one in behind])}"
    return text


def _win(comparison: Comparison) -> str:
    """The runner-up with rates and interval; the others by their factor alone."""
    standings, metric = comparison.standings, comparison.metric
    winner, second = standings[0], standings[1]
    details = f"{_rate(winner, metric)} against {_rate(second, metric)}"
    if second.behind is not None and second.behind.interval is not None:
        details += _interval(second.behind.interval)
    parts = [f"{_times(second)} ({details})", *(_times(one) for one in standings[2:])]
    verb = "is" if len(parts) == 1 else "leads:"
    return f"{system_text(winner.system)} {verb} {listed(parts)}"


def _interval(interval: Interval) -> str:
    """Two decimals below 10, where the first alone would often show no width."""
    digits = 2 if interval.high < 9.95 else 0
    low, high = f"{interval.low:.{digits}f}x", f"{interval.high:.{digits}f}x"
    return "" if low == high else f"; 95 % interval {low} to {high}"


def _times(standing: Standing) -> str:
    ratio = standing.behind.ratio if standing.behind else 1.0
    return f"{factor_text(ratio)} {system_text(standing.system)}"


def rate_text(value: float, metric: Metric) -> str:
    """A rate in the unit of its metric."""
    return byte_rate_text(value) if metric == THROUGHPUT else operation_rate_text(value)


def _rate(standing: Standing, metric: Metric) -> str:
    return rate_text(standing.value, metric)


def _headline(comparisons: Sequence[Comparison]) -> str:
    """The comparisons of one network in a sentence or two."""
    decided = [one for one in comparisons if one.outcome in {"wins", "level"}]
    if not decided:
        if all(one.network in NOT_EMULATED for one in comparisons):
            return "Measured as it is; wavetank diff sets it beside another."
        if any(one.outcome == "alone" for one in comparisons):
            return "Only one system has usable results: nothing to compare."
        return "No usable result."
    whole = _tally(decided)
    if whole is not None:
        return _capital(whole) + _left_out(comparisons, decided)
    by_operation: dict[str, list[Comparison]] = {}
    for one in decided:
        by_operation.setdefault(one.operation, []).append(one)
    clauses = [
        _capital(f"{operation_text(name)}: {_tally(part) or _shares(part)}")
        for name, part in by_operation.items()
    ]
    return ". ".join(clauses) + _left_out(comparisons, decided)


def _capital(text: str) -> str:
    """Upper case to begin with, but never in a name: iSCSI stays iSCSI."""
    return text if text.startswith("iSCSI") else text[:1].upper() + text[1:]


def _left_out(comparisons: Sequence[Comparison], decided: Sequence[Comparison]) -> str:
    count = len(comparisons) - len(decided)
    if not count:
        return "."
    return f". {count} comparison{'' if count == 1 else 's'} could not be made."


def _tally(decided: Sequence[Comparison]) -> str | None:
    """In words where one system is never behind, or none ever ahead; None otherwise."""
    winners = {one.winner for one in decided if one.winner is not None}
    if not winners:
        return _all_level(decided)
    winner = winners.pop()
    if winners or not all(_is_ahead(one, winner) for one in decided):
        return None
    wins = [one for one in decided if one.winner == winner]
    name, span = system_text(winner), _span(wins)
    if len(decided) == 1:
        return f"{name} wins by {span}"
    if len(wins) == len(decided):
        return f"{name} wins throughout, by {span}"
    if len(wins) * 4 <= len(decided):
        level = f"level in {len(decided) - len(wins)} of {len(decided)}"
        return f"{level}; {name} wins {'the other' if len(wins) == 1 else 'the rest'}, by {span}"
    rest = "the other is" if len(decided) - len(wins) == 1 else "the rest are"
    return f"{name} wins {len(wins)} of {len(decided)}, by {span}; {rest} level"


def _all_level(decided: Sequence[Comparison]) -> str:
    throughout = " throughout" if len(decided) > 1 else ""
    everyone = _systems(decided)
    behind = [name for name in everyone if not all(_is_ahead(one, name) for one in decided)]
    level = [name for name in everyone if name not in behind]
    if len(level) < 2:
        return f"no single winner: the best systems are level{throughout}"
    if not behind:
        names = listed([system_text(name) for name in level])
        return f"{names if len(level) <= MOST_NAMED else 'all systems'} are level{throughout}"
    return f"all but {listed([system_text(name) for name in behind])} are level{throughout}"


def _systems(decided: Sequence[Comparison]) -> list[str]:
    """All that were compared, in one order for every network."""
    return sorted({standing.system for one in decided for standing in one.standings})


def _is_ahead(comparison: Comparison, system: str) -> bool:
    return any(one.system == system and one.level_with_best for one in comparison.standings)


def _shares(decided: Sequence[Comparison]) -> str:
    """`iSCSI wins 5 of 12 by 1.3x to 4.0x, NFS 4.2 3, 4 are level`."""
    counts = Counter(one.winner for one in decided)
    level = counts.pop(None, 0)
    parts: list[str] = []
    for winner, count in counts.most_common():
        if winner is None:
            continue
        if not parts:
            span = _span([one for one in decided if one.winner == winner])
            parts.append(f"{system_text(winner)} wins {count} of {len(decided)} by {span}")
        else:
            parts.append(f"{system_text(winner)} wins {count}")
    if level:
        parts.append(f"{level} {'is' if level == 1 else 'are'} level")
    return ", ".join(parts)


def _span(wins: Sequence[Comparison]) -> str:
    """Smallest to largest factor over the next system that is not level."""
    factors = sorted(one.factor for one in wins if one.factor is not None)
    if not factors:
        return "an unknown factor"
    low, high = factor_text(factors[0]), factor_text(factors[-1])
    return high if low == high else f"{low} to {high}"
