"""How much of a file set a trial can reach, and what that takes of the disk.

A set of 524 288 files costs minutes to fill, and over a slow path hardly any of it is touched
before the duration ends. So no more is made than the path could possibly carry:

    by rate:        rate x duration / file size, and 5 % more
    by round trips: threads x duration / RTT, twice (jitter shortens some), where a file must
                    wait for the network at least once

each plus one file per thread. Neither holds where nothing has to cross the path: a warm client,
a write that may stay in the client's memory (access default). A system without a path does the
same set as the others on that network, under the virtual clock, where a larger sample tells
nothing new and only costs wall time; under the real clock it does the whole set.
A trial that does come to the end of its set says so (`ended_by: set`).
"""

from __future__ import annotations

import math

from wavetank import systems
from wavetank.study.model import Cell
from wavetank.workloads.job import FILES_PER_DIRECTORY

BLOCK_BYTES = 4096
INODE_AND_ENTRY_BYTES = 1024
RATE_MARGIN = 1.05
ROUND_TRIP_MARGIN = 2.0


def reachable_files(cell: Cell, files: int, file_size_bytes: int, duration_ns: int) -> int:
    """How many of `files` a trial of `cell` can touch within `duration_ns`."""
    if not _is_bounded(cell):
        return files
    threads = int(cell.workload.parameters.get("threads", 1))
    bounds = [float(files)]
    network = cell.network
    if network.rate_bit_per_s is not None:
        carried_bytes = network.rate_bit_per_s / 8 * duration_ns / 1e9
        bounds.append(carried_bytes / file_size_bytes * RATE_MARGIN + threads)
    if network.rtt_ns:
        bounds.append(threads * duration_ns / network.rtt_ns * ROUND_TRIP_MARGIN + threads)
    return min(files, math.ceil(min(bounds)))


def set_footprint_bytes(files: int, file_size_bytes: int) -> int:
    """Room on a file system for the set: whole blocks, an inode and a name each."""
    blocks_bytes = -(-file_size_bytes // BLOCK_BYTES) * BLOCK_BYTES
    directories = -(-files // FILES_PER_DIRECTORY)
    return files * (blocks_bytes + INODE_AND_ENTRY_BYTES) + directories * BLOCK_BYTES


def _is_bounded(cell: Cell) -> bool:
    if cell.cache_state == "warm":
        return False
    if cell.clock == "real" and not systems.needs_network(cell.system.name):
        return False
    parameters = cell.workload.parameters
    return not (parameters["operation"] == "write" and parameters["access"] == "default")
