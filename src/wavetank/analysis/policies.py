"""How each form of access reads and writes, derived from measurement (H14 table 4.2 states it).

Over the path with the longest round trip among those without loss, by access unit:

    buffered       written faster than the link can carry, and less than half of it was on the
                   link when the last call returned
    write-through  each call waits for the server
    read-through   the same when reading
    write-back     calls do not wait, and the data crossed the link
    read-ahead     the same when reading

A call that waits for the server gets through at most once per round trip. So with latency the
smallest unit tells: at most 1.5 calls per round trip is through, four or more is back or ahead.
Without latency the rise over the units has to tell (a factor of 64 or more apart): at least 1.5
times is through, less than 1.3 times back or ahead. Between the two it is `unclear`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from wavetank.analysis.facets import conditions
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import (
    byte_rate_text,
    factor_text,
    percent_text,
    significant,
    size_text,
)

Policy = Literal["buffered", "write-through", "read-through", "write-back", "read-ahead", "unclear"]

WAITING_UP_TO, NOT_WAITING_FROM = 1.5, 4.0
"""Calls per round trip."""

RISES_FROM = 1.5
LEVEL_BELOW = 1.3
LEAST_SPAN = 64
BEYOND_LINK = 1.02
STILL_IN_MEMORY = 0.5

PUBLISHED: dict[tuple[str, str, str], Policy] = {
    ("nfs", "direct", "write"): "write-through",
    ("nfs", "direct", "read"): "read-through",
    ("nfs", "sync", "write"): "write-through",
    ("nfs", "sync", "read"): "read-ahead",
    ("nfs", "default", "write"): "write-back",
    ("nfs", "default", "read"): "read-ahead",
    ("iscsi", "direct", "write"): "write-through",
    ("iscsi", "direct", "read"): "read-through",
    ("iscsi", "sync", "write"): "write-through",
    ("iscsi", "sync", "read"): "read-ahead",
    ("iscsi", "default", "write"): "buffered",
    ("iscsi", "default", "read"): "read-ahead",
}
"""H14 table 4.2, whose cells span forms of access."""


class AccessPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The policy of one system and form of access, what H14 found, and why ours is said."""

    system: str
    access: str
    operation: str
    network: str
    policy: Policy
    published: Policy | None
    because: str
    digests: list[str]


def access_policies(rows: Sequence[CellRow]) -> list[AccessPolicy]:
    """The table, in row order; systems without enough units are not in it."""
    groups: dict[tuple[str, str, str], dict[str, list[CellRow]]] = {}
    for row in rows:
        if row.workload != "access-unit" or row.status != "ok" or not _tells(row):
            continue
        key = row.system, str(conditions(row).get("access")), row.operation
        groups.setdefault(key, {}).setdefault(row.network, []).append(row)
    found = []
    for networks in groups.values():
        longest = max(networks.values(), key=lambda part: part[0].network_declared.rtt_ns)
        policy = _policy(longest)
        if policy is not None:
            found.append(policy)
    return found


def _tells(row: CellRow) -> bool:
    declared = row.network_declared
    quiet = declared.loss is None and not declared.jitter_ns
    return quiet and not row.baseline and row.throughput_bytes_per_s is not None


def _policy(rows: Sequence[CellRow]) -> AccessPolicy | None:
    by_unit = {_unit(row): row for row in sorted(rows, key=_unit)}
    units = list(by_unit)
    if len(units) < 3 or units[-1] < LEAST_SPAN * units[0]:
        return None
    small, large = by_unit[units[0]], by_unit[units[-1]]
    policy, because = _judged(small, large)
    family = "nfs" if small.system.startswith("nfs") else small.system.partition(":")[0]
    access = str(small.parameters.get("access"))
    return AccessPolicy(
        system=small.system,
        access=access,
        operation=small.operation,
        network=small.network,
        policy=policy,
        published=PUBLISHED.get((family, access, small.operation)),
        because=because,
        digests=[row.digest for row in by_unit.values()],
    )


def _judged(small: CellRow, large: CellRow) -> tuple[Policy, str]:
    writing = small.operation == "write"
    used, crossed = large.link_utilisation, large.amplification
    if (
        writing
        and used is not None
        and crossed is not None
        and used > BEYOND_LINK
        and crossed < STILL_IN_MEMORY
    ):
        return "buffered", (
            f"{factor_text(used)} what the link carries, with {percent_text(crossed)} of the bytes "
            "on the link when the last call returned"
        )
    slow, fast = small.throughput_bytes_per_s or 0.0, large.throughput_bytes_per_s or 0.0
    rise = fast / slow if slow else 1.0
    because = (
        f"{byte_rate_text(slow)} by {size_text(_unit(small))}, "
        f"{byte_rate_text(fast)} by {size_text(_unit(large))}: {factor_text(rise)}"
    )
    trips = _calls_per_round_trip(small)
    if trips is not None:
        because += f"; {significant(trips)} calls per round trip by {size_text(_unit(small))}"
    if rise >= RISES_FROM if trips is None else trips <= WAITING_UP_TO:
        return ("write-through" if writing else "read-through"), because
    if 1 / LEVEL_BELOW < rise < LEVEL_BELOW if trips is None else trips >= NOT_WAITING_FROM:
        return ("write-back" if writing else "read-ahead"), because
    return "unclear", because


def _calls_per_round_trip(row: CellRow) -> float | None:
    """How many calls one worker got through in one round trip; None without latency."""
    if not row.network_declared.rtt_ns or not row.throughput_bytes_per_s:
        return None
    measured = row.network_measured
    rtt_ns = measured.rtt_ns_median if measured else row.network_declared.rtt_ns
    return row.throughput_bytes_per_s / _unit(row) * rtt_ns / 1e9


def _unit(row: CellRow) -> float:
    value = row.parameters.get("unit_bytes", 0)
    return float(value) if isinstance(value, int | float) else 0.0
