"""Rows: what a run says about each cell and operation, repeats joined, unusable trials kept.

A `CellRow` is the public JSON contract (docs/reference/formats.md): names here are not changed
lightly. A trial that is void, failed, timed out or missing keeps its place with status and
reason, and no number of it is ever reported. `build_rows` is the only way in.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wavetank.analysis.intervals import Interval, Repeat
from wavetank.runs.records import NetworkMeasured, TrialStatus
from wavetank.study.model import CacheState, Clock, Network, Settings

RowStatus = TrialStatus | Literal["missing"]
Metric = Literal["throughput_bytes_per_s", "operations_per_s"]


class TrialOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One repeat of a row. Numbers are None unless the status is ok.

    `outlier`: its rate stands far off the others' (analysis/outliers.py); it counts all the same.
    """

    digest: str
    repeat: int
    seed: int
    status: RowStatus
    reason: str | None
    operations_per_s: float | None
    throughput_bytes_per_s: float | None
    steady: bool | None
    window_start_s: float | None
    window_end_s: float | None
    simulated_s: float | None
    wall_s: float | None
    guest: str | None
    steady_reason: str | None = None
    outlier: bool = False
    network_measured: NetworkMeasured | None = None


class OtherOperation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation that the primary one is made of or accompanied by (open, fsync, ...)."""

    operation: str
    operations: int
    failed_operations: int
    latency_ns_p50: int
    latency_ns_p99: int
    latency_ns_max: int


class CellRow(msgspec.Struct, frozen=True, kw_only=True):
    """One cell and operation over all its repeats.

    Rates are medians over the ok repeats, of each repeat's steady part; percentiles come from
    their merged histograms (whole phase); counts, bytes, `simulated_s` and `wall_s` are sums.
    `elapsed_s` is the median duration of the measured phase. `seed` and `digest` are those of
    the first repeat. `amplification`: bytes on the link, both
    ways, per byte of payload. `round_trips_p50`: median latency over the measured RTT.
    `requests`: NFS calls, SCSI or NVMe commands; None where a system has no such count.
    `retries`: requests over REST that were repeated; None for work on files.
    `link_utilisation`: throughput over the payload limit of the declared rate. `parts`: those of
    the study that asked for the cell. `bounds`: parameters that only bound how long it was measured
    (`analysis.bounds`). `durability`: the class that was probed of an object server.
    `client_disk`, `client_memory_bytes`, `client_processors`: of the client, as declared.
    `overall_bytes_per_s`: payload over the whole of the measured phase, warm-up included.
    `processors_used`: processor time of the load engine over the phase's; None where it is free.
    """

    system: str
    network: str
    workload: str
    operation: str
    parameters: Settings
    clock: Clock
    seed: int
    status: RowStatus
    operations: int | None = None
    operations_per_s: float | None = None
    throughput_bytes_per_s: float | None = None
    latency_ns_p50: int | None = None
    latency_ns_p90: int | None = None
    latency_ns_p99: int | None = None
    latency_ns_p999: int | None = None
    latency_ns_max: int | None = None
    elapsed_s: float | None = None
    link_bytes: int | None = None
    link_packets: int | None = None
    requests: int | None = None
    retries: int | None = None
    simulated_s: float | None = None
    wall_s: float | None = None
    digest: str
    repeats: int
    repeats_ok: int
    reason: str | None
    options: Settings
    disk: str
    cache_state: CacheState
    syscall_ns: int
    baseline: bool
    operations_interval: Interval | None = None
    throughput_interval: Interval | None = None
    payload_bytes: int | None = None
    failed_operations: int | None = None
    errors: dict[str, int] = {}
    dropped_packets: int | None = None
    retransmitted_packets: int | None = None
    amplification: float | None = None
    round_trips_p50: float | None = None
    link_utilisation: float | None = None
    steady: bool | None = None
    steady_reason: str | None = None
    other_operations: list[OtherOperation] = []
    parts: list[str] = []
    bounds: frozenset[str] = frozenset()
    durability: str | None = None
    client_disk: str | None = None
    client_memory_bytes: int | None = None
    client_processors: float | None = None
    overall_bytes_per_s: float | None = None
    processors_used: float | None = None
    latency_ns_mean: float | None = None
    trials: list[TrialOutcome]
    network_declared: Network
    network_measured: NetworkMeasured | None = None

    @property
    def metric(self) -> Metric:
        """What the row is ranked by: payload per second, or operations where there is none."""
        return "operations_per_s" if self.throughput_bytes_per_s is None else THROUGHPUT

    def rate(self, metric: Metric) -> float | None:
        if metric == THROUGHPUT:
            return self.throughput_bytes_per_s
        return self.operations_per_s

    def interval(self, metric: Metric) -> Interval | None:
        return self.throughput_interval if metric == THROUGHPUT else self.operations_interval

    def rate_by_repeat(self, metric: Metric) -> dict[Repeat, float]:
        """Rates of the ok repeats by seed and index."""
        rates = {}
        for trial in self.trials:
            byte_rate = trial.throughput_bytes_per_s
            rate = byte_rate if metric == THROUGHPUT else trial.operations_per_s
            if rate is not None:
                rates[trial.seed, trial.repeat] = rate
        return rates

    @property
    def speed_up(self) -> float | None:
        """Simulated seconds per wall second."""
        if not self.simulated_s or not self.wall_s:
            return None
        return self.simulated_s / self.wall_s


THROUGHPUT: Metric = "throughput_bytes_per_s"
