"""A sample run on objects: that on files, moved to REST with the times of its requests."""

from __future__ import annotations

import msgspec
from sample_runs import IDEAL, REALISTIC, Sample, grid, run

from wavetank.runs.records import OperationRecord, PhaseRecord, PlannedTrial, TrialRecord
from wavetank.study.model import Cell, SystemChoice, WorkloadChoice

OPERATIONS = {"read": "get", "write": "put"}
RETRIES = 3


def object_run() -> Sample:
    """PUT and GET of three sizes by 1, 8 and 64 connections on two systems and two networks."""
    made = run(
        grid(
            ("nfs4.2", "swift"),
            (IDEAL, REALISTIC),
            sizes=(4096, 1 << 20, 16 << 20),
            threads=(1, 8, 64),
        ),
        count=80,
    )
    moved = [_planned(one) for one in made.plan.trials]
    digests = {
        old.cell.digest: new.cell.digest for old, new in zip(made.plan.trials, moved, strict=True)
    }
    return Sample(
        plan=msgspec.structs.replace(made.plan, trials=moved),
        environment=made.environment,
        trials=[_record(one, digests[one.cell]) for one in made.trials],
        walls=[msgspec.structs.replace(one, cell=digests[one.cell]) for one in made.walls],
    )


def _planned(planned: PlannedTrial) -> PlannedTrial:
    return msgspec.structs.replace(planned, cell=_cell(planned.cell))


def _cell(cell: Cell) -> Cell:
    files = cell.workload.parameters
    name = "swift" if cell.system.name == "swift" else "s3"
    parameters = {
        "operation": OPERATIONS[str(files["operation"])],
        "object_size_bytes": files["file_size_bytes"],
        "parallel": files["threads"],
    }
    return msgspec.structs.replace(
        cell,
        system=SystemChoice(name=name, options={}),
        workload=WorkloadChoice(name="object", parameters=parameters),
    )


def _record(record: TrialRecord, digest: str) -> TrialRecord:
    phases = [_phase(phase) for phase in record.phases]
    return msgspec.structs.replace(record, cell=digest, phases=phases)


def _phase(phase: PhaseRecord) -> PhaseRecord:
    whole = phase.operations[0]
    primary = msgspec.structs.replace(whole, operation=OPERATIONS[whole.operation])
    return msgspec.structs.replace(
        phase,
        backend="object",
        operations=[primary, _named(whole, "first_byte"), _named(whole, "last_byte")],
        retries=RETRIES,
    )


def _named(whole: OperationRecord, name: str) -> OperationRecord:
    return msgspec.structs.replace(whole, operation=name, bytes=0)
