"""Runs made up for tests: realistic records with real histograms, from a small model of storage.

A system is a number of round trips per operation and a share of the link's rate. Everything is
drawn from one seed, so a sample run is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import msgspec
import numpy as np
from hdrh.histogram import HdrHistogram

from wavetank.runs.records import (
    DirectionMeasured,
    Environment,
    LinkDirection,
    LinkRecord,
    NetworkMeasured,
    OperationRecord,
    PhaseRecord,
    Plan,
    PlannedTrial,
    Series,
    TrialRecord,
    WallRecord,
)
from wavetank.study.model import (
    Cell,
    Disk,
    IndependentLoss,
    Network,
    SystemChoice,
    WorkloadChoice,
)

MS = 1_000_000
MOST_BINS = 2048

IDEAL = Network(name="ideal-100", rate_bit_per_s=100_000_000)
REALISTIC = Network(
    name="realistic",
    rate_bit_per_s=100_000_000,
    rtt_ns=50 * MS,
    jitter_ns=10 * MS,
    loss=IndependentLoss(0.001),
)
LATENCY = Network(name="latency-50", rate_bit_per_s=100_000_000, rtt_ns=50 * MS)
GIGABIT = Network(name="ideal-1000", rate_bit_per_s=1_000_000_000)
RAM = Disk(name="ram", size_bytes=4 << 30)

# Round trips per operation when reading and writing; share of the link one stream reaches.
BEHAVIOUR = {
    "local": (0.0, 0.0, 1.0),
    "nfs3": (3.0, 4.0, 0.97),
    "nfs4.2": (2.0, 4.0, 0.98),
    "iscsi": (1.0, 0.05, 0.96),
    "nvme": (0.7, 0.04, 0.98),
    "swift": (2.0, 3.0, 0.9),
}


class Sample(msgspec.Struct, frozen=True):
    """All that a run directory holds."""

    plan: Plan
    environment: Environment
    trials: list[TrialRecord]
    walls: list[WallRecord]


def cell(
    system: str = "nfs4.2",
    network: Network = REALISTIC,
    operation: str = "read",
    file_size_bytes: int = 4096,
    threads: int = 1,
    *,
    seed: int = 1,
    clock: str = "virtual",
    options: dict[str, str | int | float | bool] | None = None,
    access: str = "sync",
) -> Cell:
    return Cell(
        system=SystemChoice(system, options or {}),
        network=network,
        disk=RAM,
        workload=WorkloadChoice(
            "batch",
            {
                "operation": operation,
                "file_size_bytes": file_size_bytes,
                "threads": threads,
                "access": access,
                "unit_bytes": file_size_bytes,
                "set_bytes": 2 << 30,
                "duration_ns": 90_000_000_000,
            },
        ),
        clock=clock,  # type: ignore[arg-type]
        cache_state="cold-client-warm-server",
        seed=seed,
    )


def histogram(latencies_ns: Iterable[float]) -> str:
    built = HdrHistogram(1, 3600 * 10**9, 3)
    for value in latencies_ns:
        built.record_value(max(1, int(value)))
    return str(built.encode().decode("ascii"))


def phase(
    latencies_ns: Sequence[float],
    ends_ns: Sequence[float],
    operation: str,
    size_bytes: int,
    threads: int = 1,
    failed: int = 0,
) -> PhaseRecord:
    """A measured phase from each operation's latency and moment of completion."""
    elapsed = int(max(ends_ns)) + 1
    bin_ns = MS
    while elapsed > MOST_BINS * bin_ns:
        bin_ns *= 2
    bins = np.bincount((np.asarray(ends_ns) // bin_ns).astype(int), minlength=elapsed // bin_ns + 1)
    primary = OperationRecord(
        operation=operation,
        count=len(latencies_ns),
        failed=failed,
        bytes=len(latencies_ns) * size_bytes,
        errors={"EIO": failed} if failed else {},
        latency_histogram=histogram(latencies_ns),
        latency_ns_max=int(max(latencies_ns)),
    )
    return PhaseRecord(
        phase="measure",
        backend="posix",
        threads=threads,
        elapsed_ns=elapsed,
        busy_until_ns=int(min(elapsed, sorted(ends_ns)[-threads])),
        ended_by="set",
        operations=[primary],
        series=Series(
            bin_ns=bin_ns,
            operations=[int(count) for count in bins],
            bytes=[int(count) * size_bytes for count in bins],
        ),
        verification=None,
        user_cpu_ns=1_000_000,
        system_cpu_ns=5_000_000,
    )


def measured_phase(asked: Cell, count: int, rng: np.random.Generator) -> PhaseRecord:
    """What the small model makes of `asked`: `count` operations by its threads."""
    settings, network = asked.workload.parameters, asked.network
    operation, size = str(settings["operation"]), int(settings["file_size_bytes"])
    threads = int(settings["threads"])
    reading, writing, share = BEHAVIOUR[asked.system.name]
    trips = reading if operation == "read" else writing
    streams = max(1, int(asked.system.options.get("nconnect", 1)))
    lossy = 0.12 * streams if network.loss else 1.0
    rate = (network.rate_bit_per_s or 10**10) / 8 * 0.955 * share * min(1.0, lossy)
    if asked.system.name == "local":
        rate, trips = 1.6e9, 0.0
    transfer = size / rate * 1e9
    base = 60_000 + trips * (network.rtt_ns + 150_000)
    spread = rng.lognormal(0, 0.03 + (0.12 if network.jitter_ns else 0), count)
    tails = np.where(rng.random(count) < (0.01 if network.loss else 0.001), 3.0, 1.0)
    alone = (base + transfer) * spread * tails
    crowding = max(1.0, threads * transfer / float(alone.mean()))
    latencies = alone * crowding
    latencies[: count // 20] *= 1.8
    ends = np.concatenate([np.cumsum(latencies[worker::threads]) for worker in range(threads)])
    return phase(latencies.tolist(), ends.tolist(), operation, size, threads)


def network_measured(asked: Network, rng: np.random.Generator) -> NetworkMeasured:
    loss = asked.loss.probability / 2 if isinstance(asked.loss, IndependentLoss) else 0.0
    rtt = asked.rtt_ns + 38_000 + float(rng.normal(0, 0.004)) * asked.rtt_ns

    def direction() -> DirectionMeasured:
        return DirectionMeasured(
            rate_bit_per_s=(asked.rate_bit_per_s or 0) * float(rng.uniform(0.995, 1.0)),
            loss_probability=float(rng.binomial(4000, loss)) / 4000,
            reorder_probability=0.0,
            packets_sent=4000,
            delay_ns_mean=rtt / 2,
            delay_ns_stddev=asked.jitter_ns / 2 * float(rng.uniform(0.95, 1.05)),
        )

    return NetworkMeasured(
        rtt_ns_median=rtt,
        rtt_ns_min=max(rtt - 2 * asked.jitter_ns, 30_000.0),
        rtt_ns_stddev=asked.jitter_ns * 0.7,
        to_server=direction(),
        to_client=direction(),
        violations=[],
    )


def trial(planned: PlannedTrial, rng: np.random.Generator, count: int = 300) -> TrialRecord:
    """An ok trial of `planned`."""
    measured = measured_phase(planned.cell, count, rng)
    payload = measured.operations[0].bytes
    packets = payload // 1448 + 12 * count
    forward = LinkDirection(bytes=payload // 20 + 300 * count, packets=packets // 2, dropped=0)
    backward = LinkDirection(
        bytes=int(payload * 1.05) + 600 * count,
        packets=packets,
        dropped=int(packets * 0.0005) if planned.cell.network.loss else 0,
    )
    return TrialRecord(
        cell=planned.cell.digest,
        repeat=planned.repeat,
        status="ok",
        simulated_ns=measured.elapsed_ns + 2_000_000_000,
        phases=[measured],
        link=LinkRecord(to_server=forward, to_client=backward),
        network_measured=network_measured(planned.cell.network, rng),
        tcp={
            "client_segments_retransmitted": packets // 2000 if planned.cell.network.loss else 0,
            "server_segments_retransmitted": packets // 1800 if planned.cell.network.loss else 0,
        },
    )


def plan_of(cells: Iterable[Cell], repeats: int = 1) -> Plan:
    """Each cell `repeats` times, the seed raised by one each time."""
    planned = [
        PlannedTrial(cell=msgspec.structs.replace(one, seed=one.seed + repeat), repeat=repeat)
        for one in cells
        for repeat in range(repeats)
    ]
    return Plan(
        question="Which of NFS and iSCSI suits many small files over a long link?",
        command=["wavetank", "compare", "--systems", "local,nfs4.2,iscsi"],
        trials=planned,
        batches=[[index] for index in range(len(planned))],
        trial_deadline_s=600.0,
    )


def environment() -> Environment:
    return Environment(
        wavetank_version="0.1.0",
        kernel_release="6.12.117",
        kernel_digest="3f0c9a1e5b7d2846",
        engine_version="0.1.0",
        engine_ceiling_operations_per_s=412_000.0,
        isolation="user namespace, read-only view of the host, no capabilities",
        versions={"nfs-utils": "2.6.2", "open-iscsi": "2.1.8", "targetcli-fb": "2.1.53"},
        host={"cpu": "AMD EPYC 7B13", "cores": "2", "kernel": "6.1.0-44-amd64"},
    )


Spoil = Callable[[int, TrialRecord], TrialRecord | None]


def run(
    cells: Sequence[Cell],
    repeats: int = 1,
    count: int = 300,
    spoil: Spoil = lambda index, record: record,
) -> Sample:
    """A whole run; `spoil` may change a trial's record or, by None, lose it."""
    rng = np.random.default_rng(7)
    plan = plan_of(cells, repeats)
    trials, walls = [], []
    for index, planned in enumerate(plan.trials):
        record = spoil(index, trial(planned, rng, count))
        if record is None:
            continue
        trials.append(record)
        walls.append(
            WallRecord(
                cell=record.cell,
                repeat=record.repeat,
                guest=f"g{index // 8:04d}",
                wall_s=0.3 + record.simulated_ns / 4e10,
                boot_wall_s=0.9,
                ended_at="2026-01-15T10:00:00Z",
                worker=index % 2,
            )
        )
    return Sample(plan, environment(), trials, walls)


def grid(
    systems: Sequence[str] = ("local", "nfs4.2", "iscsi"),
    networks: Sequence[Network] = (IDEAL, REALISTIC),
    operations: Sequence[str] = ("read", "write"),
    sizes: Sequence[int] = (4096, 1 << 20),
    threads: Sequence[int] = (1, 8),
    accesses: Sequence[str] = ("sync",),
) -> list[Cell]:
    return [
        cell(system, network, operation, size, workers, access=access)
        for system, network, operation, size, workers, access in product(
            systems, networks, operations, sizes, threads, accesses
        )
    ]
