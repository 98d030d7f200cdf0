"""From a request, as a user words it, to the plan: every cell resolved, every batch fixed.

A batch is one guest's work: trials that share system, disk, clock, cost of a system call and
seed, at most `BATCH_TRIALS` of them. The plan alone decides it, never the number of workers, so
results do not depend on how many guests run side by side. Repeat r of a cell runs with the
cell's seed plus r. A study is planned part by part; a cell that two parts ask for runs once, and
says so in its trials. Under the real clock the order is drawn from the seed, so that slow drift of
the machine falls on all systems alike; under the virtual clock there is no drift to spread.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence

import msgspec

from wavetank import quantity, systems, workloads
from wavetank.conduct import client_files, fitting
from wavetank.errors import UsageError
from wavetank.runs.records import Plan, PlannedTrial
from wavetank.study import clients, disks, networks
from wavetank.study.model import (
    AS_IT_IS,
    LOOPBACK,
    CacheState,
    Cell,
    Client,
    Clock,
    Disk,
    Network,
    SystemChoice,
    WorkloadChoice,
    canonical_json,
)
from wavetank.study.study import Part, Place, Study

BATCH_TRIALS = 8
TRIAL_DEADLINE_S = 900.0
DISK_BYTES_LEAST = 512 * 2**20
DISK_ROOM_FACTOR = 1.25
DISK_ROOM_BYTES = 128 * 2**20
FILE_OPERATIONS_BY_DEFAULT = ("write", "read")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for, still in words. `parameters` is a grid: every combination runs."""

    systems: list[str]
    networks: list[str]
    workload: str
    parameters: dict[str, list[str]] = {}
    client_disks: list[str] = []
    client_memory: list[str] = []
    client_processors: list[str] = []
    place: Place = "lab"
    disk: str = "ssd"
    clock: Clock = "virtual"
    cache_state: CacheState = "cold-client-warm-server"
    seed: int = 1
    repeats: int = 1
    syscall_ns: int = 0
    trial_deadline_s: float = TRIAL_DEADLINE_S
    packet_digest: bool = False
    question: str = ""
    command: list[str] = []


def make_plan(request: Request) -> Plan:
    """Every trial of the request, in the order in which it is to run.

    Raises `UsageError` with one sentence for anything that can't be meant.
    """
    if request.repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {request.repeats}.")
    cells = _cells(request)
    trials = [
        PlannedTrial(cell=cell, repeat=repeat)
        for repeat in range(request.repeats)
        for cell in cells
    ]
    return Plan(
        question=request.question or _question(request),
        command=request.command,
        trials=trials,
        batches=_batches(trials, _order(request.clock, request.seed)),
        trial_deadline_s=request.trial_deadline_s,
        packet_digest=request.packet_digest,
    )


def plan_study(study: Study, command: list[str]) -> Plan:
    """Every trial of the study, with the whole study in the plan.

    Raises `UsageError` with one sentence for anything that can't be meant.
    """
    cells: dict[str, Cell] = {}
    parts: dict[str, list[str]] = {}
    for part in study.parts:
        for cell in _cells(_part_request(study, part)):
            cells[cell.digest] = cell
            parts.setdefault(cell.digest, []).append(part.name)
    trials = [
        PlannedTrial(cell=cell, repeat=repeat, parts=parts[digest])
        for repeat in range(study.repeats)
        for digest, cell in cells.items()
        if repeat < _repeats(study, cell)
    ]
    batches = (
        rounds(trials, random.Random(study.seed))
        if study.place == "host"
        else _batches(trials, _order(study.clock, study.seed))
    )
    return Plan(
        question=study.question,
        command=command,
        trials=trials,
        batches=batches,
        trial_deadline_s=study.trial_deadline_s,
        study=study,
    )


def check_grid(workload: str, grid: Mapping[str, list[str]]) -> None:
    """Raises `UsageError` unless every point of the grid can be meant."""
    _workload_choices(workload, grid)


def acts_by_chance(network: Network) -> bool:
    """Whether another seed gives another course of events on this network."""
    return bool(network.loss or network.jitter_ns or network.reorder_probability)


def _part_request(study: Study, part: Part) -> Request:
    return Request(
        systems=part.systems,
        networks=part.networks,
        workload=part.workload,
        parameters=part.parameters,
        client_disks=part.client_disks,
        client_memory=part.client_memory,
        client_processors=part.client_processors,
        place=study.place,
        disk=study.disk,
        clock=study.clock,
        cache_state=study.cache_state,
        seed=study.seed,
        syscall_ns=study.syscall_ns,
    )


def _repeats(study: Study, cell: Cell) -> int:
    """Under the real clock no two executions are alike, whatever the network."""
    crosses = systems.needs_network(cell.system.name)
    if study.clock == "real" or (crosses and acts_by_chance(cell.network)):
        return study.repeats
    return study.repeats_without_chance


def _order(clock: Clock, seed: int) -> random.Random | None:
    """What the order is drawn from, where it is drawn."""
    return random.Random(seed) if clock == "real" else None


def parse_system(text: str) -> SystemChoice:
    """`nfs4.2:nconnect=8:rsize=64KiB` with every setting resolved."""
    name, raw = stated_system(text)
    return SystemChoice(name=name, options=systems.resolve(name, raw))


def stated_system(text: str) -> tuple[str, dict[str, str]]:
    """The name and the options that `text` states, still in words."""
    name, *options = [part.strip() for part in text.split(":")]
    raw: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"system '{text}': '{option}' is not written KEY=VALUE.")
        if key in raw:
            raise UsageError(f"system '{text}': '{key}' is stated twice.")
        raw[key] = value
    return name, raw


def sized_disk(disk: Disk, whole_set_bytes: int) -> Disk:
    """The disk with room for the whole set: a quarter and 128 MiB more, rounded up to a power of
    two so that cells of different sets share disks, and guests. Untouched blocks cost no memory.
    """
    if disk.size_bytes:
        return disk
    wanted = math.ceil(whole_set_bytes * DISK_ROOM_FACTOR) + DISK_ROOM_BYTES
    size_bytes = 1 << (max(wanted, DISK_BYTES_LEAST) - 1).bit_length()
    return msgspec.structs.replace(disk, size_bytes=size_bytes)


def _cells(request: Request) -> list[Cell]:
    """The grid in natural order: system, network, parameters, operation; each cell once."""
    choices = [parse_system(text) for text in request.systems]
    for choice in choices:
        fitting.require(choice, request.workload, request.cache_state)
        fitting.require_place(request.place, choice, request.workload)
    paths = _paths(request)
    if not choices or not paths:
        raise UsageError("nothing to compare: name at least one system and one network.")
    work = _workload_choices(request.workload, request.parameters)
    for choice in choices:
        fitting.require_protocol(choice, work)
    machines = clients.of_words(
        request.client_disks, request.client_memory, request.client_processors
    )
    for client in machines:
        fitting.require_client(client, request.place, work)
    disk = disks.parse(request.disk)
    cells = [
        _cell(request, system, network, disk, choice, client)
        for system in choices
        for network in paths
        for client in machines
        for choice in work
    ]
    return list({cell.digest: cell for cell in cells}.values())


def _paths(request: Request) -> list[Network]:
    if request.place == "host":
        return [Network(name=LOOPBACK)]
    return [network for text in request.networks for network in networks.expand(text)]


def _cell(
    request: Request,
    system: SystemChoice,
    network: Network,
    disk: Disk,
    work: WorkloadChoice,
    client: Client | msgspec.UnsetType,
) -> Cell:
    workload = workloads.get(work.name)
    cell = Cell(
        system=system,
        network=network,
        disk=sized_disk(disk, workload.whole_set_bytes(work.parameters)),
        workload=work,
        clock=request.clock,
        cache_state=request.cache_state,
        seed=request.seed,
        syscall_ns=request.syscall_ns,
        client=client,
    )
    if request.place == "host":
        return msgspec.structs.replace(cell, disk=Disk(name=AS_IT_IS, size_bytes=0))
    if isinstance(client, Client) and client.disk is not None:
        cell = msgspec.structs.replace(cell, client=_with_sized_disk(cell, client))
    _require_room(cell.disk, workload.footprint_bytes(cell))
    return cell


def _with_sized_disk(cell: Cell, client: Client) -> Client:
    """The client with room on its disk for the files of this cell. Raises UsageError."""
    disk, needed = client.disk, client_files.footprint_bytes(cell)
    assert disk is not None
    disk = sized_disk(disk, needed)
    if disk.size_bytes < needed:
        raise UsageError(
            f"client-disk '{disks.notation(disk)}' is too small for the client's files, which "
            f"take {_mebibytes(needed)}; leave its size out."
        )
    return msgspec.structs.replace(client, disk=disk)


def _require_room(disk: Disk, footprint_bytes: int) -> None:
    if disk.size_bytes < footprint_bytes:
        raise UsageError(
            f"disk '{disks.notation(disk)}' is too small for the file set, which takes "
            f"{_mebibytes(footprint_bytes)}; leave its size out or take a smaller set-size."
        )


def _workload_choices(name: str, parameters: Mapping[str, list[str]]) -> list[WorkloadChoice]:
    workload = workloads.get(name)
    grid = {name: texts for name, texts in parameters.items() if texts}
    if any(parameter.name == "operation" for parameter in workload.parameters):
        # Last, so that writing and reading the same set stand side by side.
        operations = grid.pop("operation", list(_operations_by_default(name, grid)))
        grid["operation"] = operations
    return [
        WorkloadChoice(
            name=workload.name, parameters=workload.resolve(dict(zip(grid, point, strict=True)))
        )
        for point in itertools.product(*grid.values())
    ]


def _operations_by_default(name: str, grid: Mapping[str, list[str]]) -> Sequence[str]:
    """What is done where nothing is said: to write and to read, or to mix where a mix is stated."""
    if workloads.works_on(name) == "files":
        return FILE_OPERATIONS_BY_DEFAULT
    return ("mix",) if "mix" in grid else workloads.on_objects(name).operations


def _batches(trials: list[PlannedTrial], order: random.Random | None) -> list[list[int]]:
    indices = list(range(len(trials)))
    if order is not None:
        order.shuffle(indices)
    groups: dict[bytes, list[int]] = {}
    for index in indices:
        groups.setdefault(_guest_key(trials[index]), []).append(index)
    batches = [batch for group in groups.values() for batch in _evenly(group)]
    if order is not None:
        order.shuffle(batches)
    return batches


def _guest_key(trial: PlannedTrial) -> bytes:
    """Equal for trials that may share a guest."""
    cell = trial.cell
    return canonical_json(
        [cell.system, cell.disk, cell.clock, cell.syscall_ns, cell.seed + trial.repeat]
    )


def rounds(trials: list[PlannedTrial], order: random.Random) -> list[list[int]]:
    """Batches of one trial each, round by round."""
    by_repeat: dict[int, list[int]] = {}
    for index, planned in enumerate(trials):
        by_repeat.setdefault(planned.repeat, []).append(index)
    for indices in by_repeat.values():
        order.shuffle(indices)
    return [[index] for indices in by_repeat.values() for index in indices]


def _evenly(group: list[int]) -> list[list[int]]:
    """The group in the fewest batches of at most `BATCH_TRIALS`, none longer than need be."""
    count = math.ceil(len(group) / BATCH_TRIALS)
    size = math.ceil(len(group) / count)
    return [group[start : start + size] for start in range(0, len(group), size)]


def _question(request: Request) -> str:
    names, paths = ", ".join(request.systems), ", ".join(request.networks)
    if len(request.systems) == 1:
        return f"How does {names} do in {request.workload} over {paths}?"
    return f"How do {names} compare in {request.workload} over {paths}?"


def _mebibytes(size_bytes: int) -> str:
    return quantity.size_text(math.ceil(size_bytes / 2**20) * 2**20)
