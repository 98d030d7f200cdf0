"""Records become rows: repeats of a cell are found, judged usable or not, and joined.

Trials of one cell that differ in the seed alone are its repeats. Of several records of one trial
(a resumed run) the last stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import msgspec
import numpy as np

from wavetank.analysis.bounds import with_bounds
from wavetank.analysis.histograms import LatencyHistogram, decode_histogram, merge_histograms
from wavetank.analysis.intervals import median_interval
from wavetank.analysis.judging import JudgedTrial, judge
from wavetank.analysis.labels import Labels, label_cells
from wavetank.analysis.link import payload_limit_bytes_per_s
from wavetank.analysis.outliers import with_outliers
from wavetank.analysis.rows import CellRow, OtherOperation, RowStatus
from wavetank.analysis.steady import NS_PER_S, whole_rate
from wavetank.runs.records import (
    LinkRecord,
    NetworkMeasured,
    OperationRecord,
    PhaseRecord,
    Plan,
    TrialRecord,
    WallRecord,
)
from wavetank.study import disks
from wavetank.study.model import Cell, Client, canonical_json

BASELINE_SYSTEM = "local"
RETRANSMISSIONS = "segments_retransmitted"
"""The end of the counter's name; client and server have one each."""

TrialKey = tuple[str, int]


def build_rows(
    plan: Plan,
    trials: Sequence[TrialRecord],
    walls: Sequence[WallRecord],
    rng: np.random.Generator,
    labels: Labels | None = None,
) -> list[CellRow]:
    """One row for each cell of `plan`, in the plan's order. `rng` draws the bootstrap; `labels`
    name systems, networks and disks, by what tells them apart in this plan unless given.
    """
    records: dict[TrialKey, TrialRecord] = {(one.cell, one.repeat): one for one in trials}
    wall_by_trial: dict[TrialKey, WallRecord] = {(one.cell, one.repeat): one for one in walls}
    if labels is None:
        labels = label_cells(planned.cell for planned in plan.trials)
    groups: dict[bytes, list[JudgedTrial]] = {}
    for planned in plan.trials:
        key = planned.cell.digest, planned.repeat
        repeat = judge(planned, records.get(key), wall_by_trial.get(key))
        groups.setdefault(_unseeded(planned.cell), []).append(repeat)
    return with_bounds([_join(repeats, labels, rng) for repeats in groups.values()])


def row_keys(plan: Plan, *, ignore_clock: bool = False) -> list[bytes]:
    """What each row of `build_rows` asks for, seed apart, in its order: equal keys in two plans
    ask for the same.
    """
    keys = dict.fromkeys(_unseeded(planned.cell) for planned in plan.trials)
    if not ignore_clock:
        return list(keys)
    cells = (msgspec.json.decode(key, type=Cell) for key in keys)
    return [canonical_json(msgspec.structs.replace(cell, clock="virtual")) for cell in cells]


def _unseeded(cell: Cell) -> bytes:
    return canonical_json(msgspec.structs.replace(cell, seed=0))


def _join(repeats: Sequence[JudgedTrial], labels: Labels, rng: np.random.Generator) -> CellRow:
    usable = [one for one in repeats if one.outcome.status == "ok"]
    first = repeats[0].cell
    status, reason = _joined_status(repeats, len(usable))
    operation = first.workload.parameters.get("operation", "")
    if not operation and usable and usable[0].phase is not None:
        operation = usable[0].phase.operations[0].operation
    row = CellRow(
        system=labels.of(first.system),
        network=labels.of(first.network),
        workload=first.workload.name,
        operation=str(operation),
        parameters=first.workload.parameters,
        clock=first.clock,
        seed=first.seed,
        status=status,
        digest=first.digest,
        repeats=len(repeats),
        repeats_ok=len(usable),
        reason=reason,
        options=first.system.options,
        disk=labels.of(first.disk),
        cache_state=first.cache_state,
        syscall_ns=first.syscall_ns,
        baseline=first.system.name == BASELINE_SYSTEM,
        parts=list(dict.fromkeys(part for one in repeats for part in one.parts)),
        durability=_durability(usable),
        **_client(first),
        trials=with_outliers([one.outcome for one in repeats]),
        network_declared=first.network,
        network_measured=_network_measured(repeats),
    )
    return _with_numbers(row, usable, rng) if usable else row


def _client(cell: Cell) -> dict[str, Any]:
    """What is declared of the client; its disk by the notation that asks for it, size apart."""
    client = cell.client
    if not isinstance(client, Client):
        return {}
    disk = client.disk
    return {
        "client_disk": disk and disks.notation(msgspec.structs.replace(disk, size_bytes=0)),
        "client_memory_bytes": client.memory_bytes,
        "client_processors": client.processors,
    }


def _durability(usable: Sequence[JudgedTrial]) -> str | None:
    """As the first usable repeat found it."""
    record = usable[0].record if usable else None
    return record.effective.get("durability") if record is not None else None


def _joined_status(repeats: Sequence[JudgedTrial], usable: int) -> tuple[RowStatus, str | None]:
    """Ok as soon as one repeat is; what was left out is told in the reason either way."""
    left_out = [one.outcome for one in repeats if one.outcome.status != "ok"]
    if not left_out:
        return "ok", None
    told = [one for one in left_out if one.status != "missing"] or left_out
    reason = f"{told[0].status}: {told[0].reason or 'no reason given'}"
    if usable:
        return "ok", f"{len(left_out)} of {len(repeats)} repeats left out, {reason}"
    return told[0].status, told[0].reason


def _network_measured(repeats: Sequence[JudgedTrial]) -> NetworkMeasured | None:
    """As the first ok repeat found it; of an unusable row, as the first that measured at all."""
    by_merit = sorted(repeats, key=lambda one: one.outcome.status != "ok")
    for repeat in by_merit:
        if repeat.record is not None and repeat.record.network_measured is not None:
            return repeat.record.network_measured
    return None


def _with_numbers(row: CellRow, usable: Sequence[JudgedTrial], rng: np.random.Generator) -> CellRow:
    phases = [one.phase for one in usable if one.phase is not None]
    rates = [one.rate for one in usable if one.rate is not None]
    primaries = [phase.operations[0] for phase in phases]
    payload = sum(primary.bytes for primary in primaries)
    operation_rates = [rate.operations_per_s for rate in rates]
    byte_rates = [rate.bytes_per_s for rate in rates] if payload else []
    overall = [whole_rate(phase).bytes_per_s for phase in phases]
    shares = [_processors_used(phase) for phase in phases if row.clock == "real"]
    errors: dict[str, int] = {}
    for primary in primaries:
        for name, count in primary.errors.items():
            errors[name] = errors.get(name, 0) + count
    walls = [one.outcome.wall_s for one in usable if one.outcome.wall_s is not None]
    row = msgspec.structs.replace(
        row,
        operations=sum(primary.count for primary in primaries),
        operations_per_s=median(operation_rates),
        throughput_bytes_per_s=median(byte_rates) if byte_rates else None,
        operations_interval=median_interval(operation_rates, rng),
        throughput_interval=median_interval(byte_rates, rng),
        elapsed_s=median(phase.elapsed_ns for phase in phases) / NS_PER_S,
        overall_bytes_per_s=median(overall) if payload else None,
        processors_used=median(shares) if shares else None,
        payload_bytes=payload,
        failed_operations=sum(primary.failed for primary in primaries),
        errors=errors,
        retries=_retries(phases),
        simulated_s=sum(one.outcome.simulated_s or 0.0 for one in usable),
        wall_s=sum(walls) if walls else None,
        steady=all(rate.steady for rate in rates),
        steady_reason=next((rate.reason for rate in rates if not rate.steady), None),
        other_operations=_other_operations([phase.operations[1:] for phase in phases]),
    )
    return _with_link(_with_latency(row, primaries), usable)


def _processors_used(phase: PhaseRecord) -> float:
    """The engine's processor time goes on until what was in flight at the end is done: half of
    what that took counts, as for a request that was cut at any moment.
    """
    done = phase.operations[0].count + phase.operations[0].failed
    begun = done + phase.cut_off
    share = (done + phase.cut_off / 2) / begun if begun else 1.0
    return (phase.user_cpu_ns + phase.system_cpu_ns) * share / max(phase.elapsed_ns, 1)


def _with_latency(row: CellRow, primaries: Sequence[OperationRecord]) -> CellRow:
    merged = _merged(primaries)
    largest = max(primary.latency_ns_max for primary in primaries)
    p50, p90, p99, p999 = (min(merged.percentile_ns(p), largest) for p in (50, 90, 99, 99.9))
    measured = None if row.baseline else row.network_measured
    rtt_ns = measured.rtt_ns_median if measured else 0.0
    return msgspec.structs.replace(
        row,
        latency_ns_p50=p50,
        latency_ns_p90=p90,
        latency_ns_p99=p99,
        latency_ns_p999=p999,
        latency_ns_max=largest,
        latency_ns_mean=min(merged.mean_ns(), largest),
        round_trips_p50=p50 / rtt_ns if rtt_ns > 0 else None,
    )


def _with_link(row: CellRow, usable: Sequence[JudgedTrial]) -> CellRow:
    """What crossed the link; ratios to it say nothing of the baseline, which does not use it."""
    links = [one.record.link for one in usable if one.record and one.record.link]
    if len(links) < len(usable):
        return row
    link_bytes = sum(_both_ways(link, "bytes") for link in links)
    limit = payload_limit_bytes_per_s(row.network_declared)
    rate = None if row.baseline else row.throughput_bytes_per_s
    moved = None if row.baseline else _moved_bytes(row, usable)
    return msgspec.structs.replace(
        row,
        link_bytes=link_bytes,
        link_packets=sum(_both_ways(link, "packets") for link in links),
        requests=_requests(usable),
        dropped_packets=sum(_both_ways(link, "dropped") for link in links),
        retransmitted_packets=_retransmissions([one.record for one in usable if one.record]),
        amplification=link_bytes / moved if moved else None,
        link_utilisation=rate / limit if rate is not None and limit else None,
    )


def _moved_bytes(row: CellRow, usable: Sequence[JudgedTrial]) -> int:
    """Payload that used the link: what counts, and what was in flight when the clock stopped it."""
    phases = (phase for one in usable if one.record for phase in one.record.phases)
    return (row.payload_bytes or 0) + sum(phase.cut_off_bytes for phase in phases)


def _both_ways(link: LinkRecord, field: str) -> int:
    return int(getattr(link.to_server, field)) + int(getattr(link.to_client, field))


def _retries(phases: Sequence[PhaseRecord]) -> int | None:
    """None where nothing can be repeated: files."""
    counted = [phase.retries for phase in phases]
    known = [count for count in counted if count is not msgspec.UNSET]
    return sum(known) if known else None


def _requests(usable: Sequence[JudgedTrial]) -> int | None:
    """None unless every repeat was counted: runs of earlier versions were not."""
    counted = [one.record.requests for one in usable if one.record]
    known = [count for count in counted if count is not msgspec.UNSET]
    return sum(known) if known and len(known) == len(usable) else None


def _retransmissions(records: Sequence[TrialRecord]) -> int | None:
    found = [
        count
        for record in records
        for name, count in record.tcp.items()
        if name.endswith(RETRANSMISSIONS)
    ]
    return sum(found) if found else None


def _merged(operations: Sequence[OperationRecord]) -> LatencyHistogram:
    return merge_histograms([decode_histogram(one.latency_histogram) for one in operations])


def _other_operations(phases: Sequence[Sequence[OperationRecord]]) -> list[OtherOperation]:
    by_name: dict[str, list[OperationRecord]] = {}
    for operations in phases:
        for one in operations:
            by_name.setdefault(one.operation, []).append(one)
    return [_other_operation(name, parts) for name, parts in by_name.items()]


def _other_operation(name: str, parts: Sequence[OperationRecord]) -> OtherOperation:
    merged = _merged(parts)
    largest = max(part.latency_ns_max for part in parts)
    return OtherOperation(
        operation=name,
        operations=sum(part.count for part in parts),
        failed_operations=sum(part.failed for part in parts),
        latency_ns_p50=min(merged.percentile_ns(50), largest),
        latency_ns_p99=min(merged.percentile_ns(99), largest),
        latency_ns_max=largest,
    )
