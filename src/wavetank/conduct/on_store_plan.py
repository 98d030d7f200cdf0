"""The plan of a measurement on a user's own object storage: the lab's workloads by REST, as it is.

Planned as for the lab's server of the same protocol under the real clock, and moved to the system
`endpoint`, the network `as-it-is` and the disk `as-it-is`. A cell does not know which endpoint it
is measured at, so that `wavetank diff` can compare two.
"""

from __future__ import annotations

import random

import msgspec

from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host_plan import PATH_DISK, PATH_NETWORK, STORE_SYSTEM
from wavetank.conduct.planning import Request, make_plan, rounds
from wavetank.runs.records import Plan, PlannedTrial
from wavetank.study.model import Cell, Clock, SystemChoice
from wavetank.systems.endpoint import Dialect

_STAND_IN_NETWORK = "ideal-1000"
_CLOCK: Clock = "real"


class StoreRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, still in words."""

    protocol: Dialect
    workload: str
    parameters: dict[str, list[str]] = {}
    seed: int = 1
    repeats: int = 1
    trial_deadline_s: float = 900.0
    question: str
    command: list[str] = []


def make_store_plan(request: StoreRequest) -> Plan:
    """Every trial of the request, in rounds. Raises `UsageError` for what can't be meant."""
    plan = make_plan(
        Request(
            systems=[request.protocol],
            networks=[_STAND_IN_NETWORK],
            workload=request.workload,
            parameters=request.parameters,
            clock=_CLOCK,
            seed=request.seed,
            repeats=request.repeats,
            trial_deadline_s=request.trial_deadline_s,
            question=request.question,
            command=request.command,
        )
    )
    trials = [_moved(planned, request.protocol) for planned in plan.trials]
    return msgspec.structs.replace(
        plan, trials=trials, batches=rounds(trials, random.Random(request.seed))
    )


def _moved(planned: PlannedTrial, protocol: Dialect) -> PlannedTrial:
    system = SystemChoice(name=STORE_SYSTEM, options={"protocol": protocol})
    cell = msgspec.structs.replace(
        planned.cell, system=system, network=PATH_NETWORK, disk=PATH_DISK
    )
    return msgspec.structs.replace(planned, cell=cell)


def is_store_plan(plan: Plan) -> bool:
    """Whether the plan is of a user's endpoint."""
    return all(planned.cell.system.name == STORE_SYSTEM for planned in plan.trials)


def workload_cell(trial: GuestTrial) -> Cell:
    """The cell that workloads make their jobs from: with this repeat's seed, and a system they
    know. No network bounds the set: what a put may write is the set's bytes.
    """
    protocol = str(trial.cell.system.options["protocol"])
    return msgspec.structs.replace(
        trial.seeded_cell, system=SystemChoice(name=protocol, options={})
    )
