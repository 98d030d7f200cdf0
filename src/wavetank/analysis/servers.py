"""What must be said of systems whose servers are programs, beside their numbers: how far an object
had got when the server answered, and what their system calls were declared to cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import duration_text

_CLASSES = {
    "each-object": "each object is on the server's disk before the answer",
    "some": "some objects, not all, are on the server's disk before the answer",
    "none": "the answer comes from the server's memory, and a crash may lose what was answered",
    "unknown": "whether the answer waits for the disk could not be seen",
}


def server_facts(rows: Sequence[CellRow]) -> list[str]:
    """Sentences: a line for each durability class among the rows, one for each cost."""
    told = []
    for word, meaning in _CLASSES.items():
        names = _systems([row for row in rows if row.durability == word])
        if names:
            told.append(f"Durability, probed: {names}: {meaning}.")
    costs = {row.options.get("syscall_ns", 0) for row in rows if row.clock == "virtual"}
    for cost in sorted(int(cost) for cost in costs if cost):
        # A cost declared for the whole run stands in place of a system's own.
        charged = [
            row for row in rows if row.options.get("syscall_ns") == cost and not row.syscall_ns
        ]
        if charged:
            each = duration_text(cost)
            told.append(f"System calls are charged a declared {each} each: {_systems(charged)}.")
    return told


def _systems(rows: Sequence[CellRow]) -> str:
    return ", ".join(dict.fromkeys(row.system for row in rows))
