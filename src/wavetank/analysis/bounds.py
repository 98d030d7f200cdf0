"""Which parameters only bound how long a cell is measured, and are no condition of its rate.

A study lets a fast path run for 6 s and a slow one for 20, or gives 64 threads a larger set than
one, so that each is measured long enough and no longer. Such cells are compared all the same.
Where one system was asked for with both, the difference is what the run is about, and it stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from wavetank.analysis.rows import CellRow
from wavetank.study.model import canonical_json

BOUNDS = ("duration_ns", "set_bytes")


def with_bounds(rows: Sequence[CellRow]) -> list[CellRow]:
    """The rows, each knowing which of its parameters only bound the measurement in this run."""
    names = frozenset(name for name in BOUNDS if not _is_asked_about(rows, name))
    return [msgspec.structs.replace(row, bounds=names) for row in rows]


def _is_asked_about(rows: Sequence[CellRow], name: str) -> bool:
    """Whether cells alike in all else differ in it."""
    values: dict[bytes, set[object]] = defaultdict(set)
    for row in rows:
        values[_all_else(row)].add(row.parameters.get(name))
    return any(len(found) > 1 for found in values.values())


def _all_else(row: CellRow) -> bytes:
    parameters = {key: value for key, value in row.parameters.items() if key not in BOUNDS}
    return canonical_json(
        [
            [row.system, row.network, row.workload, row.operation, row.clock],
            [row.disk, row.cache_state, row.syscall_ns],
            [row.client_disk, row.client_memory_bytes, row.client_processors],
            parameters,
        ]
    )
