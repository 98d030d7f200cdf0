"""What stands behind the numbers: networks declared and measured, trials and their cost, the
environment, and what the numbers can't tell. Words for the page and the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import msgspec

from wavetank.analysis import CellRow
from wavetank.analysis.facets import conditions, varying
from wavetank.analysis.wording import (
    bit_rate_text,
    conditions_text,
    duration_text,
    network_text,
    operation_text,
    percent_text,
    significant,
    span_text,
    system_text,
)
from wavetank.runs.records import (
    DirectionMeasured,
    Environment,
    NetworkMeasured,
    Plan,
    TrialRecord,
    WallRecord,
)
from wavetank.study.model import NOT_EMULATED

AS_IT_IS_TEXT = "as it is"


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The run in one line. Times are sums over trials that ran, usable or not."""

    cells: int
    trials: int
    ok: int
    simulated: str
    wall: str
    speed_up: str


class Measured(msgspec.Struct, frozen=True):
    """A measured value in words, and its span or its base."""

    value: str
    detail: str = ""


class NetworkLine(msgspec.Struct, frozen=True, kw_only=True):
    """One network: as declared, and the median (least to most) of what was measured."""

    network: str
    declared: str
    queue: str
    tcp: str
    probes: int
    rtt: Measured
    rate: Measured
    loss: Measured
    reordering: Measured
    jitter: Measured


class Unusable(msgspec.Struct, frozen=True, kw_only=True):
    """A trial that yields no number, and why."""

    cell: str
    repeat: int
    status: str
    reason: str
    guest: str | None


def totals_of(
    plan: Plan, rows: Sequence[CellRow], trials: Sequence[TrialRecord], walls: Sequence[WallRecord]
) -> Totals:
    simulated_s = sum(trial.simulated_ns for trial in trials) / 1e9
    wall_s = sum(wall.wall_s for wall in walls)
    return Totals(
        cells=len(rows),
        trials=len(plan.trials),
        ok=sum(row.repeats_ok for row in rows),
        simulated=span_text(simulated_s),
        wall=span_text(wall_s),
        speed_up=f"{significant(simulated_s / wall_s)}x" if wall_s and simulated_s else "",
    )


def network_lines(rows: Sequence[CellRow], trials: Sequence[TrialRecord]) -> list[NetworkLine]:
    """One line for each network, from every trial that probed it, void ones too."""
    networks: dict[str, CellRow] = {}
    by_digest: dict[str, str] = {}
    for row in rows:
        networks.setdefault(row.network, row)
        by_digest.update({trial.digest: row.network for trial in row.trials})
    probes: dict[str, list[NetworkMeasured]] = {}
    for trial in trials:
        if trial.network_measured is not None and trial.cell in by_digest:
            probes.setdefault(by_digest[trial.cell], []).append(trial.network_measured)
    return [_network_line(name, row, probes.get(name, [])) for name, row in networks.items()]


def _network_line(name: str, row: CellRow, probes: Sequence[NetworkMeasured]) -> NetworkLine:
    declared = row.network_declared
    ways = [way for probe in probes for way in (probe.to_server, probe.to_client)]
    rates = [way.rate_bit_per_s for way in ways if way.rate_bit_per_s is not None]
    queue = declared.queue
    if declared.name in NOT_EMULATED:
        queue_text = AS_IT_IS_TEXT
    elif queue.packets is not None:
        queue_text = f"{queue.packets} packets"
    else:
        queue_text = (
            f"{significant(queue.bdp)} BDP" if queue.bdp else "1 BDP, at least 1000 packets"
        )
    return NetworkLine(
        network=name,
        declared=network_text(declared),
        queue=queue_text,
        tcp=AS_IT_IS_TEXT if declared.name in NOT_EMULATED else declared.tcp.congestion_control,
        probes=len(probes),
        rtt=_spread([probe.rtt_ns_median for probe in probes], duration_text),
        rate=_spread(rates, bit_rate_text),
        loss=_share(ways, "loss_probability"),
        reordering=_share(ways, "reorder_probability"),
        jitter=_spread([probe.rtt_ns_stddev for probe in probes], duration_text),
    )


def _spread(values: Sequence[float], text: Callable[[float], str]) -> Measured:
    """`50.1 ms`, `49.8 ms to 50.4 ms`; the span only where there is one."""
    if not values:
        return Measured("not measured")
    middle, least, most = (text(one) for one in (median(values), min(values), max(values)))
    return Measured(middle, "" if least == most else f"{least} to {most}")


def _share(ways: Sequence[DirectionMeasured], field: str) -> Measured:
    """Pooled over all probes: rare events need all the packets there are."""
    sent = sum(way.packets_sent for way in ways)
    if not sent:
        return Measured("not measured")
    seen = sum(float(getattr(way, field)) * way.packets_sent for way in ways)
    return Measured(percent_text(seen / sent), f"of {sent:,} packets".replace(",", " "))


def unusable_trials(rows: Sequence[CellRow]) -> list[Unusable]:
    """Every trial without a number, in row order."""
    varied = varying(rows)
    return [
        Unusable(
            cell=_cell_text(row, varied),
            repeat=trial.repeat,
            status=trial.status,
            reason=trial.reason or "no reason given",
            guest=trial.guest,
        )
        for row in rows
        for trial in row.trials
        if trial.status != "ok"
    ]


def _cell_text(row: CellRow, varied: Sequence[str]) -> str:
    found = conditions(row)
    words = conditions_text(found, [name for name in varied if name in found])
    work = f"{operation_text(row.operation) or row.workload} {words}".strip()
    return f"{system_text(row.system)} on {row.network}, {work}"


def caveats(rows: Sequence[CellRow]) -> list[str]:
    """What these numbers can't tell, from what the run did; general limits are in the manual."""
    told = []
    if any(row.clock == "virtual" for row in rows):
        told.append(
            "Virtual clock: the CPU is free. Checksums, copies and server code cost no time, so "
            "what a processor limits (fast links without delay, many small operations on a local "
            "disk) looks faster here than on hardware. Waiting for the network and the link's rate "
            "are not affected."
        )
        if any(row.baseline for row in rows):
            told.append(
                "The local disk under the virtual clock costs what its model declares and nothing "
                "else. Rates beyond any hardware say only that it is not the bottleneck."
            )
    costs = sorted({row.syscall_ns for row in rows if row.syscall_ns})
    if costs:
        declared = ", ".join(duration_text(cost) for cost in costs)
        told.append(f"Each system call of the guest is charged a declared {declared}.")
    if any(row.network_declared.name in NOT_EMULATED for row in rows):
        told.append(
            "Measured outside the lab: CPU, disk, network and whatever else ran on this machine "
            "and its servers counts. The cache of a server is out of reach, and holds what was "
            "just written."
        )
    else:
        told += _caveats_of_the_lab(rows)
    if any(row.parameters.get("rate_per_s") for row in rows):
        told.append(
            "Open loop: operations are offered on a schedule, and latency counts from the moment "
            "each was due, not from the moment a busy worker got round to it."
        )
    odd = sum(trial.outlier for row in rows for trial in row.trials)
    if odd:
        told.append(
            f"{odd} repeat{' stands' if odd == 1 else 's stand'} far off the others of "
            f"{'its' if odd == 1 else 'their'} cell: ringed in the figures, and counted all the "
            "same."
        )
    if all(row.repeats == 1 for row in rows):
        told.append(
            "Each cell ran once: there are no intervals; a difference below 5 % is called level."
        )
    if any(row.steady is False for row in rows):
        told.append(
            "Hollow marks and † are trials too short for a steady state: their rate is over the "
            "whole phase, warm-up included."
        )
    return told


def _caveats_of_the_lab(rows: Sequence[CellRow]) -> list[str]:
    told = []
    if any(row.clock == "real" for row in rows):
        told.append(
            "Real clock: the CPU counts, and it is this host's, shared by client, router and "
            "server of one guest."
        )
    told.append(
        "One guest is one core: client, router and server run on it in turn, and nothing runs in "
        "parallel except the waiting."
    )
    disks = ", ".join(sorted({row.disk for row in rows}))
    told.append(
        f"Disks are models ({disks}): size, latency and rate are declared; seeks, caches of the "
        "drive and wear are not there."
    )
    return told


def environment_lines(environment: Environment) -> list[tuple[str, str]]:
    """Name and value, in the order a reader asks for them."""
    # Outside the lab there is no guest: the kernel is this machine's.
    outside = environment.isolation.startswith("none: ")
    ceiling = environment.engine_ceiling_operations_per_s
    lines = [
        ("Wavetank", environment.wavetank_version),
        ("Kernel" if outside else "Guest kernel", environment.kernel_release),
        ("Kernel digest", environment.kernel_digest),
        ("Load engine", environment.engine_version),
        (
            "Engine's own ceiling",
            f"{significant(ceiling)} operations/s" if ceiling else "not measured",
        ),
        ("Isolation", environment.isolation),
    ]
    lines += [(name, version) for name, version in environment.versions.items()]
    return lines + [(f"Host {name}", value) for name, value in environment.host.items()]
