"""How long a plan will take, before anything of it runs.

Simulated time: the least that path or disk allow. A trial can't end before its bytes have passed
the link at the declared rate (on a path with loss: at Mathis' rate, MSS / RTT * sqrt(1.5 / p)) and
before each call that must wait for the other side has had one round trip, shared by the threads;
without a path, the disk's rate and time per request stand in. A duration cuts that off. Wall time:
what is then done, times what a unit of it took on the 2-core machine this was measured on
(docs/howto/run.md); by the real clock, what is simulated. Neither knows the system under test, so a
slow protocol simulates longer, and a machine may be twice as fast: an order, not a promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from wavetank import systems, workloads
from wavetank.runs.records import Plan
from wavetank.study.model import LOOPBACK, Cell, Disk, IndependentLoss, Network
from wavetank.systems import syscall_cost
from wavetank.workloads.job import EngineJob
from wavetank.workloads.object_job import ObjectJob

PACKET_BYTES = 1448
FRAME_BYTES = 1514
# A reader in the background asks for this much at a time (Linux' default read-ahead).
READ_AHEAD_BYTES = 128 * 1024
# Losses that coincide with nothing are repaired in about this time where there is no RTT.
LEAST_RTT_S = 0.001


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Wall seconds for a unit of work in a guest; measured, see docs/howto/run.md."""

    trial_s: float
    file_made_s: float
    byte_made_s: float
    item_s: float
    call_s: float
    packet_s: float


class RestCost(msgspec.Struct, frozen=True, kw_only=True):
    """Of one object server: system calls of a request, client and server together; wall seconds
    of a byte moved, and until the server is up and known.
    """

    calls: int
    byte_s: float
    start_s: float


REST = {
    "s3": RestCost(calls=60, byte_s=80e-9, start_s=2.0),
    "swift": RestCost(calls=350, byte_s=250e-9, start_s=10.0),
}
LOCAL = Cost(
    trial_s=0.3, file_made_s=150e-6, byte_made_s=1e-9, item_s=2e-4, call_s=3e-5, packet_s=0.0
)
NETWORKED = Cost(
    trial_s=0.6, file_made_s=150e-6, byte_made_s=1e-9, item_s=4e-4, call_s=150e-6, packet_s=15e-6
)
BOOT_S = 1.0
# On the host, beside what a batch takes: sets made and removed, what is in flight at the end.
LOOPBACK_FACTOR = 1.4
CALL_S = 40e-6


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Of one trial, or of several one after another."""

    simulated_s: float
    wall_s: float


def of_trial(cell: Cell) -> Estimate:
    """What one trial of this cell takes."""
    if workloads.works_on(cell.workload.name) == "objects":
        return _of_requests(cell)
    workload = workloads.on_files(cell.workload.name)
    prepare, measure = workload.prepare(cell), workload.measure(cell)
    crosses = systems.needs_network(cell.system.name)
    cost = NETWORKED if crosses else LOCAL
    whole_s = _over_path_s(measure, cell.network) if crosses else _on_disk_s(measure, cell.disk)
    limit_s = (measure.phases[0].duration_ns or math.inf) / 1e9
    simulated_s = min(whole_s, limit_s)
    share = simulated_s / whole_s if whole_s else 1.0
    work_s = share * (
        _items(measure) * cost.item_s
        + _calls(measure) * cost.call_s
        + _bytes(measure) / PACKET_BYTES * cost.packet_s
    )
    wall_s = cost.trial_s + _measured_wall_s(cell, simulated_s, work_s)
    if prepare is not None:
        wall_s += prepare.set.files * cost.file_made_s + _bytes(prepare) * cost.byte_made_s
    return Estimate(simulated_s=simulated_s, wall_s=wall_s)


def _of_requests(cell: Cell) -> Estimate:
    """A trial over REST: the duration, and the requests that rate, round trips, a declared service
    time and the declared cost of system calls let through in it.
    """
    workload = workloads.on_objects(cell.workload.name)
    prepare, measure = workload.prepare(cell), workload.measure(cell)
    if cell.network.name == LOOPBACK:
        return _on_loopback(measure)
    phase, size_bytes = measure.phases[0], measure.set.object_size_bytes
    moves = phase.action in ("put", "get", "mix")
    simulated_s = (phase.duration_ns or 0) / 1e9
    server = _server(cell)
    cost = REST[server]
    least_s = [cost.calls * syscall_cost.of_cell(cell) / 1e9]
    rate_bytes_per_s = _rate_bytes_per_s(cell.network) if moves else 0.0
    if rate_bytes_per_s:
        least_s.append(size_bytes * FRAME_BYTES / PACKET_BYTES / rate_bytes_per_s)
    waits_ns = cell.network.rtt_ns + int(cell.system.options.get("service_time_ns", 0))
    least_s.append(waits_ns / 1e9 / (phase.threads * phase.part_threads))
    requests = simulated_s / max(*least_s, 1e-4)
    if not phase.repeat:
        requests = min(requests, measure.set.objects)
        simulated_s = min(simulated_s, requests * max(*least_s, 1e-4))
    call_s = cost.calls * CALL_S
    work_s = requests * (call_s + (size_bytes * cost.byte_s if moves else 0.0))
    wall_s = cost.start_s + _measured_wall_s(cell, simulated_s, work_s)
    if prepare is not None:
        # As files, or by requests from inside the server's namespace.
        as_files = server == "s3"
        made_s = NETWORKED.file_made_s if as_files else call_s
        byte_made_s = NETWORKED.byte_made_s if as_files else cost.byte_s
        wall_s += prepare.set.objects * (made_s + size_bytes * byte_made_s)
    return Estimate(simulated_s=simulated_s, wall_s=wall_s)


def _measured_wall_s(cell: Cell, simulated_s: float, work_s: float) -> float:
    """By the real clock what is measured takes what it takes, however little work gets done."""
    return simulated_s if cell.clock == "real" else work_s


def _server(cell: Cell) -> str:
    """Which of `REST` serves: Swift does so in both protocols."""
    is_swift = "swift" in (cell.system.name, cell.system.options.get("server"))
    return "swift" if is_swift else "s3"


def _on_loopback(measure: ObjectJob) -> Estimate:
    simulated_s = (measure.phases[0].duration_ns or 0) / 1e9
    return Estimate(simulated_s=simulated_s, wall_s=simulated_s * LOOPBACK_FACTOR)


def of_plan(plan: Plan, indices: Sequence[int], workers: int) -> Estimate:
    """What these trials of the plan take, so many guests side by side."""
    wanted = set(indices)
    by_batch = []
    simulated_s = 0.0
    for batch in plan.batches:
        trials = [of_trial(plan.trials[index].cell) for index in batch if index in wanted]
        if trials:
            simulated_s += sum(trial.simulated_s for trial in trials)
            by_batch.append(BOOT_S + sum(trial.wall_s for trial in trials))
    total_s = sum(by_batch)
    wall_s = max([total_s / workers, *by_batch]) if by_batch else 0.0
    return Estimate(simulated_s=simulated_s, wall_s=wall_s)


def _items(job: EngineJob) -> int:
    """Files opened and closed; accesses to one that is open are calls and no more."""
    return job.set.files if job.phases[0].item == "file" else 1


def _calls(job: EngineJob) -> int:
    unit_bytes = job.phases[0].unit_bytes
    return job.set.files * math.ceil(job.set.file_size_bytes / unit_bytes)


def _bytes(job: EngineJob) -> int:
    return job.set.files * job.set.file_size_bytes


def _on_disk_s(job: EngineJob, disk: Disk) -> float:
    """The least time in which the disk can do the whole job; a cache may do better."""
    carried_s = _bytes(job) / disk.rate_bytes_per_s if disk.rate_bytes_per_s else 0.0
    together = min(job.phases[0].threads, disk.queue_depth)
    return max(carried_s, _waits(job) * disk.completion_ns / 1e9 / together)


def _over_path_s(job: EngineJob, network: Network) -> float:
    """The least time in which the whole job can pass the network."""
    rate_bytes_per_s = _rate_bytes_per_s(network)
    wire_bytes = _bytes(job) * FRAME_BYTES / PACKET_BYTES
    waits = _waits(job) * network.rtt_ns / 1e9 / job.phases[0].threads
    return max(wire_bytes / rate_bytes_per_s if rate_bytes_per_s else 0.0, waits)


def _waits(job: EngineJob) -> int:
    """Calls that last a round trip: all of them, or as many as read-ahead leaves."""
    phase = job.phases[0]
    ahead = phase.access != "direct" and phase.action == "read" and phase.order == "sequential"
    behind = phase.access == "default" and phase.action == "write"
    if behind:
        return job.set.files
    if ahead:
        return job.set.files * math.ceil(job.set.file_size_bytes / READ_AHEAD_BYTES)
    return _calls(job)


def _rate_bytes_per_s(network: Network) -> float:
    """The declared rate, or what loss leaves of it; 0 where nothing limits."""
    rate = (network.rate_bit_per_s or 0) / 8
    loss = network.loss
    if loss is None:
        return rate
    # The loss is of the round trip; half of it meets the data.
    probability = loss.probability / 2 if isinstance(loss, IndependentLoss) else loss.mean
    rtt_s = max(network.rtt_ns / 1e9, LEAST_RTT_S)
    mathis = PACKET_BYTES / rtt_s * math.sqrt(1.5 / probability) if probability else rate
    return min(rate, mathis) if rate else mathis
