"""How much memory a guest needs, and whether this machine has it for all that run side by side.

A guest's memory holds its disk (only blocks that were written), the server's page cache of the
set, and, where a network lies between, the client's. Over REST the client has no cache, but
objects in flight. The size follows from the plan alone: what is reclaimed, and when, is part of
the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from wavetank import systems, workloads
from wavetank.conduct import client_files
from wavetank.errors import WavetankError
from wavetank.runs.records import Plan
from wavetank.study.model import Cell, Client

GUEST_BASE_BYTES = 768 * 2**20
SOCKET_BYTES_MOST = 16 << 20  # the largest buffer a socket grows to (study.model.Tcp)
GRANULE_BYTES = 64 * 2**20
# The host keeps this much for itself and for Wavetank.
HOST_RESERVE_BYTES = 512 * 2**20


class TooLittleMemory(WavetankError):
    """The machine can't hold the guests that were asked for."""


def guest_memory_bytes(cells: Sequence[Cell]) -> int:
    """Memory of a guest that runs these cells one after another."""
    needed = max(_needed_bytes(cell) for cell in cells)
    return math.ceil((needed + GUEST_BASE_BYTES) / GRANULE_BYTES) * GRANULE_BYTES


def _needed_bytes(cell: Cell) -> int:
    footprint_bytes = workloads.get(cell.workload.name).footprint_bytes(cell)
    if systems.serves(cell.system.name) == "objects":
        return 2 * footprint_bytes + _client_bytes(cell) + _client_machine_bytes(cell)
    return footprint_bytes * (3 if systems.needs_network(cell.system.name) else 2)


def _client_machine_bytes(cell: Cell) -> int:
    """A declared client's disk, as far as it is written, and the memory it may fill."""
    if not isinstance(cell.client, Client) or cell.client.memory_bytes is None:
        return 0
    return client_files.footprint_bytes(cell) + cell.client.memory_bytes


def _client_bytes(cell: Cell) -> int:
    """Of the load engine: an object in each worker's hands both ways; and what is on its way in
    client's and server's sockets.
    """
    job = workloads.on_objects(cell.workload.name).measure(cell)
    phase, size_bytes = job.phases[0], job.set.object_size_bytes
    connections = phase.threads * phase.part_threads
    in_sockets = min(size_bytes, SOCKET_BYTES_MOST)
    return 2 * phase.threads * size_bytes + 2 * connections * in_sockets


def batch_memory_bytes(plan: Plan) -> list[int]:
    """`guest_memory_bytes` of each of the plan's batches."""
    return [
        guest_memory_bytes([plan.trials[index].cell for index in batch]) for batch in plan.batches
    ]


def available_bytes(meminfo: Path = Path("/proc/meminfo")) -> int:
    """What the host could give to new programs without swapping (proc(5), MemAvailable)."""
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise TooLittleMemory(f"{meminfo} does not say how much memory is available.")


def fitting_workers(memory_bytes: Sequence[int], workers: int, available: int) -> int:
    """The most workers, up to `workers`, whose largest guests fit into `available` together.

    Raises `TooLittleMemory` when not even one does.
    """
    room = available - HOST_RESERVE_BYTES
    largest = sorted(memory_bytes, reverse=True)
    for count in range(min(workers, len(largest)), 0, -1):
        if sum(largest[:count]) <= room:
            return count
    raise TooLittleMemory(
        f"the largest guest needs {_gibibytes(largest[0])} of memory and only "
        f"{_gibibytes(max(room, 0))} can be had; take a smaller --set-size or --file-size, "
        "or end other programs."
    )


def require_workers(memory_bytes: Sequence[int], workers: int, available: int) -> int:
    """`workers` as the user stated it; raises `TooLittleMemory` when fewer would fit."""
    fitting = fitting_workers(memory_bytes, workers, available)
    if fitting < min(workers, len(memory_bytes)):
        raise TooLittleMemory(
            f"{workers} guests side by side need more memory than the "
            f"{_gibibytes(available)} available; take --workers {fitting} or a smaller --set-size."
        )
    return workers


def _gibibytes(size_bytes: int) -> str:
    return f"{size_bytes / 2**30:.1f} GiB"
