"""The plan of a measurement outside the lab: the same grid, on a directory as it is.

It is the plan of the local disk under the real clock, moved to the system `path`, the network
`as-it-is` and the disk `as-it-is`: names that say that nothing is emulated. A cell does not know
which directory it is measured in, so that runs on two mounts have the same cells and `wavetank
diff` can compare them. Every round (repeat) runs all cells in an order of its own, drawn from the
seed: slow drift of the machine falls on all alike.
"""

from __future__ import annotations

import random

import msgspec

from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.planning import Request, make_plan, rounds
from wavetank.runs.records import Plan, PlannedTrial
from wavetank.study.model import AS_IT_IS, Cell, Clock, Disk, Network, SystemChoice

STORE_SYSTEM = "endpoint"
"""What a user's own object storage is called; its protocol is an option."""
PATH_SYSTEM = SystemChoice(name="path", options={})
PATH_NETWORK = Network(name=AS_IT_IS)
PATH_DISK = Disk(name=AS_IT_IS, size_bytes=0)
_STAND_IN, _STAND_IN_NETWORK = "local", "ideal-1000"
_CLOCK: Clock = "real"


class HostRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, still in words; `warm`: the set is read or written once before."""

    workload: str
    parameters: dict[str, list[str]] = {}
    warm: bool = False
    seed: int = 1
    repeats: int = 1
    trial_deadline_s: float = 900.0
    question: str
    command: list[str] = []


def make_host_plan(request: HostRequest) -> Plan:
    """Every trial of the request, in rounds. Raises `UsageError` for what can't be meant."""
    plan = make_plan(
        Request(
            systems=[_STAND_IN],
            networks=[_STAND_IN_NETWORK],
            workload=request.workload,
            parameters=request.parameters,
            clock=_CLOCK,
            cache_state="warm" if request.warm else "cold",
            seed=request.seed,
            repeats=request.repeats,
            trial_deadline_s=request.trial_deadline_s,
            question=request.question,
            command=request.command,
        )
    )
    trials = [_moved(planned) for planned in plan.trials]
    batches = rounds(trials, random.Random(request.seed))
    return msgspec.structs.replace(plan, trials=trials, batches=batches)


def _moved(planned: PlannedTrial) -> PlannedTrial:
    cell = msgspec.structs.replace(
        planned.cell, system=PATH_SYSTEM, network=PATH_NETWORK, disk=PATH_DISK
    )
    return msgspec.structs.replace(planned, cell=cell)


def is_host_plan(plan: Plan) -> bool:
    """Whether the plan is of a directory, not of the lab."""
    return all(planned.cell.system == PATH_SYSTEM for planned in plan.trials)


def is_on_loopback(plan: Plan) -> bool:
    """Whether the plan is of a server of this machine's own (a study with place = "host")."""
    return plan.study is not None and plan.study.place == "host"


def is_outside_lab(plan: Plan) -> bool:
    """Whether the plan is of something of the user's: a directory or object storage."""
    names = {planned.cell.system.name for planned in plan.trials}
    return names <= {PATH_SYSTEM.name, STORE_SYSTEM}


def workload_cell(trial: GuestTrial) -> Cell:
    """The cell that workloads make their jobs from: with this repeat's seed, and a system they
    know, whose data crosses no network that bounds the set.
    """
    return msgspec.structs.replace(
        trial.seeded_cell, system=SystemChoice(name=_STAND_IN, options={})
    )
