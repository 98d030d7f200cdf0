"""Shapes that several claims ask for: rising, level, ahead, a knee; each as a check with numbers.

Tolerances are stated here once. A step back of less than 10 % does not spoil a rise; a lead of
less than 5 % is level, as everywhere in the analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from wavetank.analysis.comparisons import LEVEL_WITHIN
from wavetank.analysis.findings.cells import check, mean_ratio, number, rate, told
from wavetank.analysis.findings.verdict import Check
from wavetank.analysis.rows import CellRow
from wavetank.analysis.verdicts import rate_text
from wavetank.analysis.wording import factor_text, size_text, system_text, value_text

STEP_BACK = 0.9
LEAST_RISE = LEVEL_WITHIN
LEAST_POINTS = 3
KNEE_SHARE = 0.9


def rate_words(row: CellRow) -> str:
    return rate_text(rate(row), row.metric)


def rises(points: Sequence[CellRow], along: str) -> Check | None:
    """The rate at the end is above that at the beginning, beyond what is level, and never steps
    back.
    """
    if len(points) < LEAST_POINTS:
        return None
    first, last = points[0], points[-1]
    rates = [rate(row) for row in points]
    back = min(later / earlier for earlier, later in pairwise(rates))
    gain = rates[-1] / rates[0]
    text = f"{told(first)}: {_span(first, last, along)}, {factor_text(gain)}"
    if back < STEP_BACK:
        text += f"; a step back to {back:.2f} of the one before"
    return check(text, gain >= LEAST_RISE and back >= STEP_BACK, points)


def is_level(points: Sequence[CellRow], along: str, within: float) -> Check | None:
    """Largest over smallest rate stays below `within`."""
    if len(points) < LEAST_POINTS:
        return None
    rates = [rate(row) for row in points]
    spread = max(rates) / min(rates)
    text = f"{told(points[0])}: {_span(points[0], points[-1], along)}, largest over smallest "
    return check(text + factor_text(spread), spread < within, points)


def _span(first: CellRow, last: CellRow, along: str) -> str:
    ends = [
        f"{rate_words(row)} at {value_text(along, number(row, along))}"
        + (" threads" if along == "threads" else "")
        for row in (first, last)
    ]
    return " to ".join(ends)


def leads(found: Sequence[tuple[CellRow, CellRow]], least: float = 1.0) -> list[Check]:
    """Whether the first of each pair is ahead by `least`, one check per network and access.

    Ahead over all their pairs in the geometric mean, and nowhere behind by more than is level.
    """
    groups: dict[tuple[str, str, str, str], list[tuple[CellRow, CellRow]]] = {}
    for above, below in found:
        access = str(above.parameters.get("access", ""))
        key = above.network, above.operation, access, above.system + below.system
        groups.setdefault(key, []).append((above, below))
    return [_lead(group, least) for group in groups.values()]


def _lead(group: Sequence[tuple[CellRow, CellRow]], least: float) -> Check:
    ratios = [rate(above) / rate(below) for above, below in group]
    mean, low, high = mean_ratio(ratios), min(ratios), max(ratios)
    above, below = group[0]
    other = (
        str(below.parameters.get("access"))
        if below.system == above.system and below.network == above.network
        else system_text(below.system)
        if below.system != above.system
        else below.network
    )
    text = f"{told(above)}: {factor_text(mean)} {other}"
    if len(group) > 1:
        text += f" in the mean of {len(group)} cells ({factor_text(low)} to {factor_text(high)})"
    else:
        text += f" ({rate_words(above)} against {rate_words(below)})"
    return check(
        text,
        mean > least and low >= min(least, 1 / LEVEL_WITHIN),
        [row for pair in group for row in pair],
    )


def knee(points: Sequence[CellRow], along: str) -> float:
    """Where the rate first reaches nine tenths of its largest."""
    most = max(rate(row) for row in points)
    return next(number(row, along) for row in points if rate(row) >= KNEE_SHARE * most)


def sizes_told(points: Sequence[CellRow], name: str = "file_size_bytes") -> str:
    """`4 KiB to 16 MiB`."""
    low, high = (size_text(number(row, name)) for row in (points[0], points[-1]))
    return low if low == high else f"{low} to {high}"


def some(checks: Sequence[Check | None]) -> list[Check]:
    return [one for one in checks if one is not None]
