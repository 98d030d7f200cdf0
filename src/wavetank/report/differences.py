"""Two runs compared, in a terminal and as JSON: what changed past the threshold first, then what
is unsure, then the rest in a line. Piped, the same as plain aligned text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console

from wavetank.analysis.differences import Difference, RunDifference
from wavetank.analysis.verdicts import rate_text
from wavetank.analysis.wording import (
    conditions_text,
    listed,
    operation_text,
    percent_text,
    significant,
    system_text,
)
from wavetank.report.terminal import Grid, print_grid, room_of, say

MOST_LEVEL_SHOWN = 40
DOCUMENT_SCHEMA = 1
_SHOWN_FIRST = ("lost", "slower", "faster", "unsure", "gained", "no numbers", "level")


def print_differences(console: Console, found: RunDifference) -> None:
    """Prints what differs between two runs, and whether it is past the threshold."""
    say(console, f"{found.after} against {found.before}", "bold")
    for told in found.unlike:
        say(console, f"Forced although the environments are unlike: {told}.", "bold yellow")
    for told in found.told:
        say(console, f"Also unlike, but not in the way: {told}.")
    say(console, summary(found))
    shown = sorted(found.differences, key=_place)
    level = [one for one in shown if one.verdict == "level"]
    if len(level) > MOST_LEVEL_SHOWN:
        shown = [one for one in shown if one.verdict != "level"]
    if shown:
        print_grid(console, _grid(found, shown, room_of(console)))
    if len(level) > MOST_LEVEL_SHOWN:
        say(console, f"{len(level)} cells within {_threshold(found)} are not listed.")
    for one in shown:
        if one.reason:
            say(console, f"{_cell_text(found, one)}: {one.reason}.")


def _place(one: Difference) -> tuple[int, float]:
    """By verdict, and within one the largest change first."""
    change = abs(math.log(one.ratio.ratio)) if one.ratio and one.ratio.ratio > 0 else 0.0
    return _SHOWN_FIRST.index(one.verdict), -change


def summary(found: RunDifference) -> str:
    """`2 of 24 cells past 5 %: 1 slower, 1 faster; 22 within it.`"""
    counts = {name: sum(one.verdict == name for one in found.differences) for name in _SHOWN_FIRST}
    past = [f"{counts[name]} {name}" for name in ("slower", "faster", "lost") if counts[name]]
    total = len(found.differences)
    text = f"{len(found.changed)} of {total} cells past {_threshold(found)}"
    text += f": {listed(past)}" if past else ""
    rest = {
        "unsure": "past it but within the spread of the repeats",
        "level": "within it",
        "gained": "with a number only after",
        "no numbers": "without a number in either run",
    }
    others = [f"{counts[name]} {words}" for name, words in rest.items() if counts[name]]
    text += f"; {listed(others)}" if others else ""
    alone = [
        f"{count} only in {name}"
        for name, count in ((found.before, found.only_before), (found.after, found.only_after))
        if count
    ]
    return f"{text}. Cells not compared: {listed(alone)}." if alone else f"{text}."


def differences_document(found: RunDifference) -> dict[str, Any]:
    """The same as JSON: every difference with its ratio, interval and verdict."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return {
        "schema": DOCUMENT_SCHEMA,
        "summary": summary(found),
        "changed": len(found.changed),
        "unsure": len(found.unsure),
        **plain,
    }


def _threshold(found: RunDifference) -> str:
    return percent_text(found.threshold)


def _grid(found: RunDifference, shown: Sequence[Difference], room: int | None) -> Grid:
    """All columns where they fit; without the rates where they do not."""
    header = ["Cell", "before", "after", "ratio", "95 % interval", "verdict"]
    lines = [
        [
            _cell_text(found, one),
            _rate(one.before, one),
            _rate(one.after, one),
            f"{one.ratio.ratio:.3f}" if one.ratio else "-",
            _interval(one),
            one.verdict,
        ]
        for one in shown
    ]
    best = {(place, 5) for place, one in enumerate(shown) if one.verdict == "faster"}
    worst = {(place, 5) for place, one in enumerate(shown) if one.verdict in {"slower", "lost"}}
    whole = Grid(title="", header=header, lines=lines, best=best, worst=worst)
    if room is None or whole.width <= room:
        return whole
    kept = (0, 3, 4, 5)
    return Grid(
        title="",
        header=[header[i] for i in kept],
        lines=[[line[i] for i in kept] for line in lines],
        best={(place, 3) for place, _ in best},
        worst={(place, 3) for place, _ in worst},
    )


def _cell_text(found: RunDifference, one: Difference) -> str:
    names = [name for name in found.varying if name in one.conditions]
    work = f"{operation_text(one.operation) or one.workload} "
    work += conditions_text(one.conditions, names)
    return f"{system_text(one.system)}, {one.network}, {work.strip()}"


def _rate(value: float | None, one: Difference) -> str:
    return "-" if value is None else rate_text(value, one.metric)


def _interval(one: Difference) -> str:
    if one.ratio is None or one.ratio.interval is None:
        return "one repeat" if one.ratio else "-"
    interval = one.ratio.interval
    paired = ", paired" if one.ratio.paired else ""
    return f"{significant(interval.low)} to {significant(interval.high)}{paired}"
