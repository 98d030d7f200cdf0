"""A study: one question put to systems and networks, what to plot, and what was published.

Written as TOML (docs/reference/study-file.md, read by `study_file`), kept whole in the plan, so
that a report needs nothing but the run directory. Here every name is resolved: parameters of
plots and published values are the settings' keys ("file_size_bytes", never "file-size"), values
are in base units, and a published network is called what the cells' network is called.
Only what a part asks for stays in the user's words, which planning turns into cells.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wavetank.study.model import CacheState, Clock, Settings

# What a trial yields, or analysis derives; docs/reference/study-file.md says what each means.
Quantity = Literal[
    "throughput_bytes_per_s",
    "overall_bytes_per_s",
    "processors_used",
    "operations_per_s",
    "elapsed_s",
    "latency_ns_mean",
    "latency_ns_p50",
    "latency_ns_p99",
    "link_bytes",
    "link_packets",
    "requests",
    "amplification",
    "fixed_overhead_bytes",
    "journal_bytes",
    "metadata_bytes_per_file",
]
Relation = Literal["equal", "about", "below", "above"]
Scale = Literal["log", "linear"]
PlotKind = Literal["lines", "bars"]
Model = Literal["single-read", "single-write", "batch-write", "batch-write-threads"]

Place = Literal["lab", "host"]

# What an axis, a series or a panel may be beside a parameter of the workload. "system" is the
# system with its options, "rtt_ns" the declared RTT of the network; the client's are as declared.
CLIENT_FACETS = ("client_disk", "client_memory_bytes", "client_processors")
FACETS = ("system", "network", "operation", "part", "rtt_ns", *CLIENT_FACETS)


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where in the literature: `paper` by its short name (H14), `place` as "figure 4.5"."""

    paper: str
    place: str


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A grid of cells: every system over every network at every point of `parameters`.

    All in the words of the command line: `nfs4.2:nconnect=8`, `realistic/cc=bbr`, and for each
    parameter by its name as the user writes it ("file-size") the texts of its values; so too the
    client's disks, memory and processors (`study.clients`), each an axis of the grid.
    """

    name: str
    systems: list[str]
    networks: list[str]
    workload: str
    parameters: dict[str, list[str]] = {}
    client_disks: list[str] = []
    client_memory: list[str] = []
    client_processors: list[str] = []


class Plot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One figure. `x`, `series` and `panels` are parameter keys or one of `FACETS`.

    `series`: cells that differ in any of these are different lines. `panels`: small multiples,
    one for each combination. `where`: only cells whose facet or parameter has one of these
    values (an empty dict: all). `model`: the curve of O15 equations 1 to 3 fitted to the points.
    """

    title: str
    x: str
    y: Quantity = "throughput_bytes_per_s"
    kind: PlotKind = "lines"
    series: list[str] = msgspec.field(default_factory=lambda: ["system"])
    panels: list[str] = msgspec.field(default_factory=lambda: ["network"])
    parts: list[str] = []
    where: dict[str, list[str | int | float | bool]] = {}
    x_scale: Scale = "log"
    y_scale: Scale = "log"
    model: Model | None = None


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that a paper's text or table gives, to stand beside ours.

    It is about the cells that match all that is stated: `part` and `network` unless empty, the
    system's name with at least `options`, the workload's settings with at least `parameters`
    ("operation" is among them). `value` is in the unit of `quantity`; `unit` is the paper's,
    in which `printed` is the number, so that a report can show it as it was printed.
    `relation`: "below" 4 MiB/s says no more than that. `client_disk` (its notation),
    `client_memory_bytes` and `client_processors`, where stated, are the cell's.
    """

    system: str
    quantity: Quantity
    value: float
    printed: float
    unit: str
    source: Source
    relation: Relation = "equal"
    options: Settings = {}
    client_disk: str = ""
    client_memory_bytes: int | None = None
    client_processors: float | None = None
    network: str = ""
    part: str = ""
    parameters: Settings = {}
    note: str = ""


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole study. `id` is "PAPER/PLACE" for the ready ones, a file's stem for others.

    `repeats` is for networks on which chance acts (loss, jitter, reordering);
    `repeats_without_chance` for all others, where another seed changes next to nothing.
    `findings`: ids of the claims the study can judge. `notes`: what was taken where the paper is
    silent or the lab differs, a sentence each. `place`: in guests of the lab, or on this machine
    itself, with a server of its own on the loopback.
    """

    id: str
    title: str
    question: str
    source: Source | None = None
    place: Place = "lab"
    clock: Clock = "virtual"
    seed: int = 1
    repeats: int = 1
    repeats_without_chance: int = 1
    disk: str = "ssd"
    cache_state: CacheState = "cold-client-warm-server"
    syscall_ns: int = 0
    trial_deadline_s: float = 900.0
    parts: list[Part]
    plots: list[Plot] = []
    findings: list[str] = []
    published: list[Published] = []
    notes: list[str] = []
