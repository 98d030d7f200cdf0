"""The records of a run directory, version 1: what was measured, as it was measured.

plan.json         Plan            written once, before the first trial
environment.json  Environment     written once
trials.jsonl      TrialRecord     append-only, one line per trial, nothing of the wall clock
wall.jsonl        WallRecord      append-only, the wall clock's facts of the same trials
guests/gNNNN.log  text            console of each guest

Raw facts only: throughput, percentiles and verdicts are computed from these by `analysis/`
and can always be rebuilt. docs/reference/formats.md has a worked example.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wavetank.study.model import Cell
from wavetank.study.study import Study

SCHEMA_VERSION = 1

TrialStatus = Literal["ok", "void", "failed", "timeout"]


class OperationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of operation over the whole measured phase, warm-up included.

    `latency_histogram` is HdrHistogram's V2 compressed form in base64, values in ns, three
    significant digits. Failed operations are in `failed` and `errors` only.
    """

    operation: str
    count: int
    failed: int
    bytes: int
    errors: dict[str, int]
    latency_histogram: str
    latency_ns_max: int


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Completions of the primary operation per time bin of `bin_ns`, from the phase's start."""

    bin_ns: int
    operations: list[int]
    bytes: list[int]


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """Content read back and compared with the seeded content."""

    checked_bytes: int
    mismatched_operations: int


class PhaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One phase as the load engine reports it. `operations[0]` is the primary operation.

    `busy_until_ns`: when the first worker ran out of work (steady state ends there at the
    latest); equals `elapsed_ns` when the duration ended the phase. `cut_off`: items in flight at
    the duration's end, completed and counted nowhere else; their bytes crossed the link.
    `retries`: requests to object storage that were repeated; left out on files, which repeat
    nothing.
    """

    phase: str
    backend: str
    threads: int
    elapsed_ns: int
    busy_until_ns: int
    ended_by: Literal["set", "duration"]
    operations: list[OperationRecord]
    series: Series
    verification: Verification | None
    user_cpu_ns: int
    system_cpu_ns: int
    cut_off: int = 0
    cut_off_bytes: int = 0
    retries: int | msgspec.UnsetType = msgspec.UNSET


class LinkDirection(msgspec.Struct, frozen=True, kw_only=True):
    """Router egress in one direction during the measured phase; bytes are Ethernet frames'."""

    bytes: int
    packets: int
    dropped: int


class LinkRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The link during the measured phase. `packet_digest`: SHA-256 over every packet's time,
    direction and bytes, in order, or None where no capture was asked for.
    """

    to_server: LinkDirection
    to_client: LinkDirection
    packet_digest: str | None = None
    packets_captured: int = 0


class DirectionMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of the network as probed before the trial. `delivery_spacing_ns` is there
    where interrupts are declared to be apart.
    """

    rate_bit_per_s: float | None
    loss_probability: float
    reorder_probability: float
    packets_sent: int
    delay_ns_mean: float
    delay_ns_stddev: float
    delivery_spacing_ns: float | msgspec.UnsetType = msgspec.UNSET


class NetworkMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """The network as measured in the guest. `violations` is empty when all is in tolerance."""

    rtt_ns_median: float
    rtt_ns_min: float
    rtt_ns_stddev: float
    to_server: DirectionMeasured
    to_client: DirectionMeasured
    violations: list[str]


class StateProof(msgspec.Struct, frozen=True, kw_only=True):
    """What shows the caches were as declared: the disk's traffic and the pages cached."""

    cached_bytes_before: int
    disk_read_bytes: int
    disk_written_bytes: int
    client_mounted_fresh: bool


class TrialRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a cell. `reason` says why the status is not ok. `requests`: NFS calls, SCSI
    or NVMe commands of the client during the measured phase; left out where nobody counts them.
    """

    cell: str
    repeat: int
    status: TrialStatus
    reason: str | None = None
    simulated_ns: int = 0
    phases: list[PhaseRecord] = []
    link: LinkRecord | None = None
    network_measured: NetworkMeasured | None = None
    state_proof: StateProof | None = None
    tcp: dict[str, int] = {}
    effective: dict[str, str] = {}
    requests: int | msgspec.UnsetType = msgspec.UNSET
    schema: int = SCHEMA_VERSION


class WallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The wall clock's facts of one trial. `reused_from`: the run that it was taken over from, and
    that measured it; left out where this run did.
    """

    cell: str
    repeat: int
    guest: str
    wall_s: float
    boot_wall_s: float
    ended_at: str
    worker: int
    reused_from: str | msgspec.UnsetType = msgspec.UNSET
    schema: int = SCHEMA_VERSION


class PlannedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial of the plan. Repeat r runs with the cell's seed plus r.

    `parts`: the parts of the plan's study that ask for the cell, if it has a study.
    """

    cell: Cell
    repeat: int
    parts: list[str] = []


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What the run does. `batches` lists indices into `trials`: each batch is one guest's work,
    fixed by the plan and not by the number of workers, so that results do not depend on it.
    `study` is the whole study that the plan came from, so that a report needs no other file; in
    JSON it is `from_study`, because early plans had a `study` of another form.
    """

    question: str
    command: list[str]
    trials: list[PlannedTrial]
    batches: list[list[int]]
    trial_deadline_s: float
    packet_digest: bool = False
    study: Study | None = msgspec.field(default=None, name="from_study")
    schema: int = SCHEMA_VERSION


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Where the numbers come from. Runs with unlike environments refuse comparison.

    `versions` holds the programs whose behaviour is measured (nfs-utils, open-iscsi, ...);
    `host` what is merely told (CPU model, cores, host kernel).
    """

    wavetank_version: str
    kernel_release: str
    kernel_digest: str
    engine_version: str
    engine_ceiling_operations_per_s: float | None
    isolation: str
    versions: dict[str, str]
    host: dict[str, str]
    schema: int = SCHEMA_VERSION
