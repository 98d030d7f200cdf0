"""Judging one trial: is it usable, and if so at what rate did it run.

A trial whose record says ok is still turned down when it did not measure: no measured phase, no
completed operation, content that does not match, a network out of tolerance. What is turned down
yields no number.
"""

from __future__ import annotations

import msgspec

from wavetank.analysis.rows import RowStatus, TrialOutcome
from wavetank.analysis.steady import NS_PER_S, SteadyRate, steady_rate
from wavetank.runs.records import PhaseRecord, PlannedTrial, TrialRecord, WallRecord
from wavetank.study.model import Cell

MEASURED_PHASE = "measure"


class JudgedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One planned trial with what became of it. `phase` and `rate` only where status is ok."""

    cell: Cell
    parts: list[str]
    outcome: TrialOutcome
    record: TrialRecord | None
    phase: PhaseRecord | None = None
    rate: SteadyRate | None = None


def judge(
    planned: PlannedTrial, record: TrialRecord | None, wall: WallRecord | None
) -> JudgedTrial:
    """What became of `planned`; `record` and `wall` are None where there is none."""
    status, reason = _verdict_on(record)
    phase = measured_phase(record) if record is not None and status == "ok" else None
    rate = steady_rate(phase) if phase is not None else None
    outcome = TrialOutcome(
        digest=planned.cell.digest,
        repeat=planned.repeat,
        seed=planned.cell.seed,
        status=status,
        reason=reason,
        operations_per_s=rate.operations_per_s if rate else None,
        throughput_bytes_per_s=rate.bytes_per_s if rate and phase and _payload(phase) else None,
        steady=rate.steady if rate else None,
        window_start_s=rate.start_ns / NS_PER_S if rate else None,
        window_end_s=rate.end_ns / NS_PER_S if rate else None,
        simulated_s=record.simulated_ns / NS_PER_S if record and status == "ok" else None,
        wall_s=wall.wall_s if wall and status == "ok" else None,
        guest=wall.guest if wall else None,
        steady_reason=rate.reason if rate else None,
        network_measured=record.network_measured if record else None,
    )
    return JudgedTrial(
        cell=planned.cell,
        parts=planned.parts,
        outcome=outcome,
        record=record,
        phase=phase,
        rate=rate,
    )


def _verdict_on(record: TrialRecord | None) -> tuple[RowStatus, str | None]:
    """The status a trial deserves; a record that claims to be ok must also have measured."""
    if record is None:
        return "missing", "not run yet"
    if record.status != "ok":
        return record.status, record.reason
    if record.network_measured is not None and record.network_measured.violations:
        return "void", "; ".join(record.network_measured.violations)
    phase = measured_phase(record)
    if phase is None:
        return "failed", f"the record has no phase '{MEASURED_PHASE}' with an operation"
    fault = _fault_of(phase)
    return ("failed", fault) if fault else ("ok", None)


def _fault_of(phase: PhaseRecord) -> str | None:
    primary = phase.operations[0]
    if primary.count == 0:
        return f"no operation completed ({primary.failed} failed)"
    if phase.verification is not None and phase.verification.mismatched_operations:
        count = phase.verification.mismatched_operations
        return f"{count} operations read back other content than was written"
    return None


def measured_phase(record: TrialRecord) -> PhaseRecord | None:
    """The phase that counts, if it is there and has a primary operation."""
    for phase in record.phases:
        if phase.phase == MEASURED_PHASE and phase.operations:
            return phase
    return None


def _payload(phase: PhaseRecord) -> int:
    return phase.operations[0].bytes
