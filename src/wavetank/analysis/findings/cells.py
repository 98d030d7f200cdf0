"""Asking for cells by what they are: kind of system, nature of the network, access, size.

A claim speaks of "NFS", "the ideal network", "small files"; a run has labels. Systems with
several connections, sessions or another scheduler than the default are variants, and only the
claims about them see them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, log

from wavetank.analysis.facets import conditions
from wavetank.analysis.findings.verdict import Check
from wavetank.analysis.labels import Scalar
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import operation_text, size_text, system_text

KIB, MIB = 1024, 1024 * 1024
SMALL, LARGE = 4 * KIB, 16 * MIB
DEFAULT_SCHEDULER = "mq-deadline"
_TOGETHER = ("file_size_bytes", "unit_bytes", "set_bytes", "duration_ns")
"""What changes with the size of a file without being asked for."""


def family(row: CellRow) -> str:
    """`nfs` whatever its version, `iscsi`, `swift`, ..."""
    name = row.system.partition(":")[0]
    return "nfs" if name.startswith("nfs") else name


def nature(row: CellRow) -> str:
    """`ideal`, `latency`, `loss` or `realistic`: what the network does, whatever it is called."""
    declared = row.network_declared
    if declared.loss is not None:
        return "realistic" if declared.rtt_ns else "loss"
    if declared.jitter_ns:
        return "jitter"
    return "latency" if declared.rtt_ns else "ideal"


def plain_only(rows: Sequence[CellRow]) -> list[CellRow]:
    """Cells of one connection, one session, and the default scheduler where several were tried."""
    tried = {row.options["scheduler"] for row in rows if "scheduler" in row.options}
    return [
        row
        for row in rows
        if row.options.get("nconnect", 1) == 1
        and row.options.get("sessions", 1) == 1
        and (
            DEFAULT_SCHEDULER not in tried
            or row.options.get("scheduler", DEFAULT_SCHEDULER) == DEFAULT_SCHEDULER
        )
    ]


_FACETS: Mapping[str, Callable[[CellRow], object]] = {
    "family": family,
    "nature": nature,
    "rate": lambda row: row.network_declared.rate_bit_per_s,
    "workload": lambda row: row.workload,
    "operation": lambda row: row.operation,
    "network": lambda row: row.network,
    "system": lambda row: row.system,
}


def pick(rows: Sequence[CellRow], **wanted: object) -> list[CellRow]:
    """Rows with a rate whose facets and parameters are as wanted; a tuple names alternatives."""
    return [
        row
        for row in rows
        if not row.baseline
        and rate(row) > 0
        and all(_matches(row, name, value) for name, value in wanted.items())
    ]


def _matches(row: CellRow, name: str, value: object) -> bool:
    facet = _FACETS.get(name)
    found = facet(row) if facet else row.parameters.get(name)
    return found in value if isinstance(value, tuple) else found == value


def rate(row: CellRow) -> float:
    return row.rate(row.metric) or 0.0


def number(row: CellRow, name: str) -> float:
    value = row.parameters.get(name, 0)
    return float(value) if isinstance(value, int | float) else 0.0


def series(rows: Sequence[CellRow], along: str) -> list[list[CellRow]]:
    """Rows that differ in `along` only (and what goes with it), each list sorted by it."""
    ignored = {along, *(_TOGETHER if along == "file_size_bytes" else ())}
    return _grouped(rows, ignored, ("system", "network"), lambda row: number(row, along))


def pairs(
    rows: Sequence[CellRow],
    above: Callable[[CellRow], bool],
    below: Callable[[CellRow], bool],
    ignoring: Sequence[str],
) -> list[tuple[CellRow, CellRow]]:
    """Every (above, below) of cells alike in all but `ignoring`: names of conditions, `system`
    or `network`.
    """
    kept = tuple(name for name in ("system", "network") if name not in ignoring)
    found = []
    for group in _grouped(rows, set(ignoring), kept):
        tops = [row for row in group if above(row)]
        bottoms = [row for row in group if below(row)]
        found += [(top, bottom) for top in tops for bottom in bottoms]
    return found


def _grouped(
    rows: Sequence[CellRow],
    ignored: set[str],
    kept: Sequence[str],
    order: Callable[[CellRow], float] | None = None,
) -> list[list[CellRow]]:
    groups: dict[tuple[object, ...], list[CellRow]] = {}
    for row in rows:
        shared: list[tuple[str, Scalar]] = sorted(
            (name, value) for name, value in conditions(row).items() if name not in ignored
        )
        names = tuple(getattr(row, name) for name in kept)
        key = (row.clock, row.workload, row.operation, *names, tuple(shared))
        groups.setdefault(key, []).append(row)
    if order is None:
        return list(groups.values())
    return [sorted(group, key=order) for group in groups.values()]


def mean_ratio(ratios: Sequence[float]) -> float:
    """Geometric mean: twice and half come to one."""
    return exp(sum(log(one) for one in ratios) / len(ratios))


def told(row: CellRow, *parts: str) -> str:
    """`NFS 4.2, direct, reading, latency-50, 4 KiB`: what the reader needs of a cell."""
    access = row.parameters.get("access")
    words = [system_text(row.system)]
    words += [str(access)] if access else []
    words += [operation_text(row.operation), row.network, *parts]
    return ", ".join(words)


def size_of(row: CellRow, name: str = "file_size_bytes") -> str:
    return size_text(number(row, name))


def check(text: str, holds: bool, rows: Sequence[CellRow]) -> Check:
    return Check(text, holds, list(dict.fromkeys(row.digest for row in rows)))
