"""Conditions: everything beside system and network that two rows must share to be compared, and
which of them a run varies. Only varying conditions are worth words, axes and columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.labels import Scalar
from wavetank.analysis.rows import CellRow

Conditions = dict[str, Scalar]

_PREFERRED = (
    "file_size_bytes",
    "object_size_bytes",
    "unit_bytes",
    "threads",
    "parallel",
    "parts",
    "access",
)
"""Where two conditions vary in step (a unit as large as the file), the first stands for both."""


def conditions(row: CellRow) -> Conditions:
    """Parameters of the workload, disk, cache state, declared cost of a system call, and what is
    declared of the client; not what only bounds how long the cell was measured.
    """
    found: Conditions = {
        key: value
        for key, value in row.parameters.items()
        if key != "operation" and key not in row.bounds
    }
    found["disk"] = row.disk
    found["cache_state"] = row.cache_state
    found["syscall_ns"] = row.syscall_ns
    return found | declared_client(row)


def declared_client(row: CellRow) -> Conditions:
    """What is declared of the client; empty for nearly all runs, which say nothing of it."""
    found: Conditions = {
        "client_disk": row.client_disk,
        "client_memory_bytes": row.client_memory_bytes,
        "client_processors": row.client_processors,
    }
    return {name: value for name, value in found.items() if value is not None}


def comparison_key(row: CellRow) -> tuple[object, ...]:
    """Equal for rows that differ in nothing but the system (and the seed)."""
    shared = sorted(conditions(row).items())
    return row.clock, row.network, row.workload, row.operation, tuple(shared)


def varying(rows: Sequence[CellRow]) -> list[str]:
    """Names of the conditions that differ among `rows`, the most telling first.

    A condition that only ever changes together with an earlier one is left out.
    """
    found = [conditions(row) for row in rows]
    names = list(dict.fromkeys(name for one in found for name in one))
    names.sort(key=lambda name: _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED))
    kept: list[str] = []
    for name in names:
        values = [one.get(name) for one in found]
        if len(set(values)) > 1 and not any(
            _in_step(values, [one.get(other) for one in found]) for other in kept
        ):
            kept.append(name)
    return kept


def order_of(found: Conditions, names: Sequence[str]) -> tuple[tuple[bool, float, str], ...]:
    """Sorts by the named conditions: numbers by size, before words by letter."""
    return tuple(_sort_key(found.get(name)) for name in names)


def _sort_key(value: Scalar) -> tuple[bool, float, str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return False, float(value), ""
    return True, 0.0, str(value)


def _in_step(values: Sequence[Scalar], others: Sequence[Scalar]) -> bool:
    pairs = set(zip(values, others, strict=True))
    return len(pairs) == len(set(values)) == len(set(others))
