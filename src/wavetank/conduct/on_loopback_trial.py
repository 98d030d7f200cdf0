"""One trial on the host: a set put as plain files, measured over the loopback, removed.

The same jobs as in a guest, under the real clock. Only the load engine that measures is under the
limit of processor time that the cell declares; whether that was kept is looked at afterwards.
"""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec

from wavetank import workloads
from wavetank.conduct import object_engine
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host_engine import Engine, EngineFailed, EngineOverdue
from wavetank.conduct.on_loopback_server import LoopbackServer
from wavetank.lab.errors import LabError
from wavetank.lab.host.processor_limit import Held, ProcessorLimit
from wavetank.runs.records import PhaseRecord, TrialRecord, TrialStatus
from wavetank.study.model import Client

# A group may use what is left of the period in which it begins, and of that in which it ends.
KEPT_WITHIN, PERIODS_S = 1.1, 0.05


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What all trials share. `limit` is None where no cell asks for one."""

    server: LoopbackServer
    engine: Path
    log: Path
    interrupted: threading.Event
    limit: ProcessorLimit | None


def run_trial(trial: GuestTrial, place: Place, deadline_s: float) -> TrialRecord:
    """One trial within `deadline_s` seconds; what fails it is in its record.

    Raises EngineStopped after Ctrl-C.
    """
    folder = place.server.tree / f"t{trial.index:04}"
    folder.mkdir()
    try:
        return _run(trial, place, folder, time.monotonic() + deadline_s)
    except EngineOverdue:
        return _lost(trial, "timeout", f"no end within {deadline_s:g} s (wall clock)")
    except (EngineFailed, LabError) as error:
        return _lost(trial, "failed", str(error))
    finally:
        shutil.rmtree(folder)


def _run(trial: GuestTrial, place: Place, folder: Path, end_s: float) -> TrialRecord:
    cell = trial.seeded_cell
    workload = workloads.on_objects(cell.workload.name)
    free = Engine(place.engine, place.log, place.interrupted)
    prepared = workload.prepare(cell)
    if prepared is not None:
        object_engine.files_of(prepared, folder, lambda job: free.do(job, end_s))
    job = msgspec.structs.replace(
        workload.measure(cell), object=place.server.store(f"{folder.name}/")
    )
    processors = cell.client.processors if isinstance(cell.client, Client) else None
    with ExitStack() as stack:
        held = _held(stack, place, processors)
        engine = Engine(place.engine, place.log, place.interrupted, held)
        start_ns = time.monotonic_ns()
        phases = engine.do(job, end_s)
        elapsed_ns = time.monotonic_ns() - start_ns
        counts = held.counts() if held is not None else {}
    doubt = _doubt(phases, processors, elapsed_ns / 1e9)
    kept = {"processor_limit": place.limit.kind} if place.limit and held else {}
    return TrialRecord(
        cell=trial.cell.digest,
        repeat=trial.repeat,
        status="void" if doubt else "ok",
        reason=doubt,
        simulated_ns=elapsed_ns,
        phases=phases,
        effective={"server": "versitygw"} | kept | counts,
    )


def _held(stack: ExitStack, place: Place, processors: float | None) -> Held | None:
    if processors is None or place.limit is None:
        return None
    return stack.enter_context(place.limit.held(processors))


def _doubt(phases: list[PhaseRecord], processors: float | None, lived_s: float) -> str | None:
    """The engine counts its own processor time: over its life, which is longer than the measured
    phase by its beginning and by what was in flight at the end, it must not be more than declared.
    """
    if processors is None:
        return None
    used_s = sum(phase.user_cpu_ns + phase.system_cpu_ns for phase in phases) / 1e9
    if used_s <= processors * (lived_s * KEPT_WITHIN + PERIODS_S):
        return None
    return f"the client used {used_s / lived_s:.2f} processors where {processors:g} are declared"


def _lost(trial: GuestTrial, status: TrialStatus, reason: str) -> TrialRecord:
    return TrialRecord(cell=trial.cell.digest, repeat=trial.repeat, status=status, reason=reason)
