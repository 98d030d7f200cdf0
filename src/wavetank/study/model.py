"""What is asked: networks, disks, systems, workloads, and the cell that joins them.

A cell is one point of a study; its digest names it everywhere (run directory, report, diff).
All records here are frozen, carry their unit in the name, and have one JSON form, which
docs/reference/formats.md describes. Names are resolved before a cell is made: two cells with
the same digest ask for exactly the same thing.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Settings = dict[str, str | int | float | bool]
Clock = Literal["virtual", "real"]
CacheState = Literal["cold-client-warm-server", "cold", "warm"]


AS_IT_IS = "as-it-is"
"""The name of a network and a disk that are not emulated but the user's own, and not declared."""

LOOPBACK = "loopback"
"""The name of the network of studies on the host itself: its own loopback, as it is."""

NOT_EMULATED = (AS_IT_IS, LOOPBACK)


class IndependentLoss(msgspec.Struct, frozen=True, tag="independent", tag_field="model"):
    """Each packet is lost on its own.

    `probability` is that of the round trip: half of it is applied in each direction.
    """

    probability: float


class GilbertElliottLoss(msgspec.Struct, frozen=True, tag="gilbert-elliott", tag_field="model"):
    """Bursty loss: a two-state Markov chain stepped per packet (tc-netem(8), `loss gemodel`).

    Applied with these parameters in each direction. Probabilities per packet.
    """

    to_bad: float
    to_good: float
    loss_in_bad: float = 1.0
    loss_in_good: float = 0.0

    @property
    def mean(self) -> float:
        """Long-run loss probability of one direction (stationary distribution of the chain)."""
        in_bad = self.to_bad / (self.to_bad + self.to_good)
        return in_bad * self.loss_in_bad + (1 - in_bad) * self.loss_in_good


Loss = IndependentLoss | GilbertElliottLoss


class Queue(msgspec.Struct, frozen=True):
    """The bottleneck's buffer, beyond what is in flight: `packets`, or a multiple of the BDP.

    With neither, one BDP but at least 1000 packets, netem's own default.
    """

    packets: int | None = None
    bdp: float | None = None


class Tcp(msgspec.Struct, frozen=True):
    """TCP settings of client and server. Defaults: H14 listing 3.2."""

    congestion_control: str = "cubic"
    rmem_bytes: tuple[int, int, int] = (1048576, 4194304, 16777216)
    wmem_bytes: tuple[int, int, int] = (1048576, 4194304, 16777216)
    metrics_save: bool = False


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One path client - router - server. Quantities are of the round trip: each direction gets
    half of `rtt_ns`, of `jitter_ns` and of an independent loss, and all of the rate.

    `coalesce_ns`: how long the network cards of both hosts gather packets before they interrupt.
    Not stated, it is not in the record either, whose digest is older than it.
    """

    name: str
    rate_bit_per_s: int | None = None
    rtt_ns: int = 0
    jitter_ns: int = 0
    jitter_distribution: Literal["uniform", "normal", "pareto", "paretonormal"] = "normal"
    loss: Loss | None = None
    reorder_probability: float = 0.0
    queue: Queue = Queue()
    mtu_bytes: int = 1500
    tcp: Tcp = Tcp()
    coalesce_ns: int | msgspec.UnsetType = msgspec.UNSET


class Disk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A modelled disk: what a request costs. `completion_ns` 0 with no rate is plain memory.

    `rate_bytes_per_s` is of both ways together. Rates of reading and of writing apart are for a
    client's disk only; not stated, they are not in the record either.
    """

    name: str
    size_bytes: int
    completion_ns: int = 0
    rate_bytes_per_s: int | None = None
    queue_depth: int = 64
    write_cache: bool = False
    read_rate_bytes_per_s: int | msgspec.UnsetType = msgspec.UNSET
    write_rate_bytes_per_s: int | msgspec.UnsetType = msgspec.UNSET


class Client(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the client's machine has, where that is declared (C16 table I); None: not limited.

    `disk` and `memory_bytes` go together, in the lab: objects are read from and written to files
    on that disk, and the client's processes and their page cache share that memory. `processors`
    is of the host: the processor time that the client may take, 1.0 being one of them.
    """

    disk: Disk | None = None
    memory_bytes: int | None = None
    processors: float | None = None


class SystemChoice(msgspec.Struct, frozen=True):
    """A storage system and all of its settings, defaults filled in by `systems/`."""

    name: str
    options: Settings


class WorkloadChoice(msgspec.Struct, frozen=True):
    """A workload and all of its parameters, defaults filled in by `workloads/`."""

    name: str
    parameters: Settings


class Cell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One point of a study. `syscall_ns` is the declared virtual cost of a guest system call.
    `client`: not declared, it is not in the record either, whose digest is older than it.
    """

    system: SystemChoice
    network: Network
    disk: Disk
    workload: WorkloadChoice
    clock: Clock
    cache_state: CacheState
    seed: int
    syscall_ns: int = 0
    client: Client | msgspec.UnsetType = msgspec.UNSET

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 of the cell's canonical JSON."""
        return hashlib.sha256(canonical_json(self)).hexdigest()[:16]


def canonical_json(value: object) -> bytes:
    """The one JSON form of a record: keys sorted, no blanks. Equal values give equal bytes."""
    return msgspec.json.encode(value, order="sorted")
