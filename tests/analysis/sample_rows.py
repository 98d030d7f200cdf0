"""Rows made up directly, for claims that are judged by rows alone."""

from __future__ import annotations

import msgspec

from wavetank.analysis.link import payload_limit_bytes_per_s
from wavetank.analysis.rows import CellRow
from wavetank.study.model import IndependentLoss, Network

KIB, MIB = 1024, 1024 * 1024
UNITS = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB]
IDEAL = Network(name="ideal-100", rate_bit_per_s=100_000_000)
LATENCY = Network(name="latency-50", rate_bit_per_s=100_000_000, rtt_ns=50_000_000)
LOSS = Network(name="loss-0.1", rate_bit_per_s=100_000_000, loss=IndependentLoss(0.001))
REALISTIC = Network(
    name="realistic",
    rate_bit_per_s=100_000_000,
    rtt_ns=50_000_000,
    jitter_ns=10_000_000,
    loss=IndependentLoss(0.001),
)


def row(
    system: str,
    network: Network,
    workload: str,
    operation: str,
    rate: float,
    *,
    amplification: float | None = 1.05,
    elapsed_s: float | None = None,
    options: dict[str, str | int | float | bool] | None = None,
    requests: int | None = None,
    **parameters: str | int | float | bool,
) -> CellRow:
    """A usable row with this rate; the digest tells it from every other."""
    asked = {"operation": operation, "access": "sync", **parameters}
    limit = payload_limit_bytes_per_s(network)
    words = [system, network.name, workload, *(f"{k}={v}" for k, v in sorted(asked.items()))]
    return CellRow(
        system=system,
        network=network.name,
        workload=workload,
        operation=operation,
        parameters=asked,
        clock="virtual",
        seed=1,
        status="ok",
        digest="/".join(words),
        repeats=1,
        repeats_ok=1,
        reason=None,
        options=options or {},
        disk="ssd",
        cache_state="cold-client-warm-server",
        syscall_ns=0,
        baseline=system == "local",
        operations=100,
        operations_per_s=rate / 4096,
        throughput_bytes_per_s=rate,
        amplification=amplification,
        elapsed_s=elapsed_s,
        requests=requests,
        link_utilisation=rate / limit if limit else None,
        trials=[],
        network_declared=network,
    )


def void(one: CellRow) -> CellRow:
    return msgspec.structs.replace(one, status="void", throughput_bytes_per_s=None)
