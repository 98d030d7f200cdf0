"""Hints at why, drawn from measured data alone: round trips per operation, how full the link was,
what else crossed it, what was sent again. Each is a statement of fact; none names a cause that the
records do not show.
"""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.link import FULL_LINK_SHARE, payload_limit_bytes_per_s
from wavetank.analysis.rows import THROUGHPUT, CellRow, Metric
from wavetank.analysis.wording import (
    byte_rate_text,
    duration_text,
    listed,
    percent_text,
    significant,
    system_text,
)

TELLING_ROUND_TRIPS = 0.9
BUSY_LINK_SHARE = 0.5
TELLING_AMPLIFICATION = 1.5
TELLING_RETRANSMISSIONS = 0.002


def evidence_of(rows: Sequence[CellRow], metric: Metric) -> list[str]:
    """Sentences about `rows`, the usable contenders of one comparison, the most telling first."""
    found = [_round_trips(rows)]
    if metric == THROUGHPUT:
        found += [_beyond_link(rows), _full_link(rows)]
    found.append(_retransmissions(rows))
    if metric == THROUGHPUT:
        found += [_amplification(rows), "" if any(found) else _link_share(rows)]
    found.append(_failures(rows))
    return [one for one in found if one]


def caution_about(rows: Sequence[CellRow]) -> str:
    """Which of `rows` had no steady state, too short or never settled; empty where all is well.

    A workload of one operation has none by its nature, and is not cautioned against.
    """
    short = [row for row in rows if row.steady is False and row.operations != row.repeats_ok]
    if not short:
        return ""
    parts = [f"{_name(row)} ({_counted(row.operations or 0)})" for row in short]
    return f"No steady state, so the whole phase counts: {listed(parts)}."


def _counted(operations: int) -> str:
    return "1 operation" if operations == 1 else f"{operations:,} operations".replace(",", " ")


def _round_trips(rows: Sequence[CellRow]) -> str:
    """Only where waiting, not the rate of the link, makes the latency."""
    waiting = [row for row in rows if _is_waiting(row)]
    if not any((row.round_trips_p50 or 0) >= TELLING_ROUND_TRIPS for row in waiting):
        return ""
    parts = [f"{_trips(row.round_trips_p50 or 0)} on {_name(row)}" for row in waiting]
    measured = waiting[0].network_measured
    rtt = duration_text(measured.rtt_ns_median) if measured else ""
    return f"Round trips in the median operation: {listed(parts)} (measured RTT {rtt})."


def _trips(count: float) -> str:
    return f"{count:.1f}" if count >= 0.1 else f"{count:.2f}"


def _is_waiting(row: CellRow) -> bool:
    rtt_ns = row.network_declared.rtt_ns
    if row.round_trips_p50 is None or not rtt_ns or (row.link_utilisation or 0) > BUSY_LINK_SHARE:
        return False
    limit = payload_limit_bytes_per_s(row.network_declared)
    payload = (row.payload_bytes or 0) / (row.operations or 1)
    return limit is None or payload / limit * 1e9 < rtt_ns / 2


def _full_link(rows: Sequence[CellRow]) -> str:
    full = [row for row in rows if FULL_LINK_SHARE <= (row.link_utilisation or 0) <= 1.02]
    limit = payload_limit_bytes_per_s(rows[0].network_declared) if rows else None
    if limit is None or not full:
        return ""
    verb = "fills" if len(full) == 1 else "fill"
    return f"{_names(full)} {verb} the link (payload limit {byte_rate_text(limit)})."


def _link_share(rows: Sequence[CellRow]) -> str:
    used = [(row.link_utilisation, row) for row in rows if row.link_utilisation is not None]
    parts = [f"{percent_text(share)} on {_name(row)}" for share, row in used]
    return f"Share of the link's payload limit used: {listed(parts)}." if parts else ""


def _beyond_link(rows: Sequence[CellRow]) -> str:
    """Faster than the link: the data cannot have been on the server when the call returned."""
    beyond = [row for row in rows if (row.link_utilisation or 0) > 1.02]
    parts = [
        f"{_name(row)} ran at {significant(row.link_utilisation or 0)} times what the link can "
        f"carry while {percent_text(min(row.amplification or 0, 1))} of its bytes crossed it"
        for row in beyond
        if row.amplification is not None
    ]
    return f"Caching on the client: {listed(parts)}." if parts else ""


def _amplification(rows: Sequence[CellRow]) -> str:
    if not any((row.amplification or 0) >= TELLING_AMPLIFICATION for row in rows):
        return ""
    parts = [f"{row.amplification:.1f} on {_name(row)}" for row in rows if row.amplification]
    return f"Bytes on the link for each byte of payload: {listed(parts)}."


def _retransmissions(rows: Sequence[CellRow]) -> str:
    parts = [
        f"{percent_text(share)} on {_name(row)}"
        for row in rows
        if (share := (row.retransmitted_packets or 0) / (row.link_packets or 1))
        >= TELLING_RETRANSMISSIONS
    ]
    return f"Packets that TCP sent again: {listed(parts)}." if parts else ""


def _failures(rows: Sequence[CellRow]) -> str:
    parts = [f"{row.failed_operations} on {_name(row)}" for row in rows if row.failed_operations]
    return f"Operations that failed and are left out: {listed(parts)}." if parts else ""


def _name(row: CellRow) -> str:
    return system_text(row.system)


def _names(rows: Sequence[CellRow]) -> str:
    return listed([_name(row) for row in rows])
