"""How many files lie on a client's declared disk, and what they take of it.

An upload reads each of its objects' files once, so there are as many as objects that a trial can
put. Downloads take names in turn: as many as can be got, but no more than twice the client's memory
needs, for what is written again must be on the disk by then and not dirty still.
"""

from __future__ import annotations

from wavetank import workloads
from wavetank.study.model import Cell, Client
from wavetank.workloads.object_set import reachable_objects
from wavetank.workloads.reach import set_footprint_bytes

MEMORIES = 2


def has_disk(cell: Cell) -> bool:
    """Whether objects are read from and written to files of the client's."""
    return isinstance(cell.client, Client) and cell.client.disk is not None


def count(cell: Cell) -> int:
    """Files on the client's disk in this cell."""
    assert isinstance(cell.client, Client)
    job = workloads.on_objects(cell.workload.name).measure(cell)
    if job.phases[0].action == "put":
        return job.set.objects
    memory_bytes = cell.client.memory_bytes or 0
    turned = -(-MEMORIES * memory_bytes // job.set.object_size_bytes)
    return min(reachable_objects(cell), max(turned, job.phases[0].threads + 1))


def footprint_bytes(cell: Cell) -> int:
    """What they take on a file system."""
    size_bytes = workloads.on_objects(cell.workload.name).measure(cell).set.object_size_bytes
    return set_footprint_bytes(count(cell), size_bytes)
