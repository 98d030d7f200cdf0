"""One trial on a user's object storage: objects put, measured, removed.

The same jobs as in a guest, over the user's own network and under the real clock. What is read
was put just before, by the same requests: whatever the service caches, it may have.
"""

from __future__ import annotations

import time

import msgspec

from wavetank import workloads
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host_engine import Engine, EngineFailed, EngineOverdue
from wavetank.conduct.on_store_place import OwnPrefix, TrialObjects
from wavetank.conduct.on_store_plan import workload_cell
from wavetank.runs.records import PhaseRecord, TrialRecord, TrialStatus
from wavetank.workloads.object_job import ObjectJob

PREPARE_THREADS = 8


def run_trial(
    trial: GuestTrial, place: OwnPrefix, engine: Engine, deadline_s: float
) -> TrialRecord:
    """One trial within `deadline_s` seconds; what fails it alone is in its record.

    Raises NotRemoved when objects are left, EngineStopped after Ctrl-C.
    """
    cell = workload_cell(trial)
    workload = workloads.on_objects(cell.workload.name)
    end_s = time.monotonic() + deadline_s
    with place.trial(trial.index) as objects:
        try:
            prepared = workload.prepare(cell)
            if prepared is not None:
                _require_whole(_do(_prepared_in_parallel(prepared), objects, engine, end_s))
            start_ns = time.monotonic_ns()
            phases = _do(workload.measure(cell), objects, engine, end_s)
            elapsed_ns = time.monotonic_ns() - start_ns
        except EngineOverdue:
            return _lost(trial, "timeout", f"no end within {deadline_s:g} s (wall clock)")
        except EngineFailed as error:
            return _lost(trial, "failed", str(error))
    return TrialRecord(
        cell=trial.cell.digest,
        repeat=trial.repeat,
        status="ok",
        simulated_ns=elapsed_ns,
        phases=phases,
        effective={"place": place.address.url, "endpoint": place.address.endpoint},
    )


def _prepared_in_parallel(job: ObjectJob) -> ObjectJob:
    """Nobody measures this: over a long path one connection would take its time."""
    threads = min(PREPARE_THREADS, job.set.objects)
    phase = msgspec.structs.replace(job.phases[0], threads=threads)
    return msgspec.structs.replace(job, phases=[phase])


def _do(job: ObjectJob, objects: TrialObjects, engine: Engine, end_s: float) -> list[PhaseRecord]:
    """The job under the trial's prefix; how much it wrote is known afterwards."""
    objects.may_hold(job)
    phases = engine.do(msgspec.structs.replace(job, object=objects.store), end_s)
    primary = phases[0].operations[0]
    # Keys are taken in order, so that what was begun is the beginning of the set.
    objects.holds(job, primary.count + primary.failed + phases[0].cut_off)
    return phases


def _require_whole(phases: list[PhaseRecord]) -> None:
    lost = {name: count for phase in phases for name, count in phase.operations[0].errors.items()}
    if lost:
        told = ", ".join(f"{count} with {name}" for name, count in lost.items())
        raise EngineFailed(f"the set could not be put: objects failed, {told}")


def _lost(trial: GuestTrial, status: TrialStatus, reason: str) -> TrialRecord:
    return TrialRecord(cell=trial.cell.digest, repeat=trial.repeat, status=status, reason=reason)
