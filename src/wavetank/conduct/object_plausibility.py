"""Reasons not to believe a trial on objects: over REST every byte must cross the link, once.

The client keeps nothing and compresses nothing, so that what was put must have gone to the
server, and what was got come from it: no less than the objects' bytes, and not much more than
they, their headers, packets, acknowledgements and what was sent again. Pure functions.
"""

from __future__ import annotations

from wavetank import systems, workloads
from wavetank.lab.guest.disks import is_memory
from wavetank.runs.records import (
    LinkDirection,
    LinkRecord,
    OperationRecord,
    PhaseRecord,
    StateProof,
)
from wavetank.study.model import Cell

# As for files (`plausibility`).
WARM_SHARE = 0.1
WARM_SLACK_BYTES = 1 << 20
# Packet headers are 5 % of a full packet; what loss has sent again may be as much as the data.
MOST_BY_PAYLOAD = 2.2
# Lines and headers of a request with its answer, and a handshake; a page of a
# listing has up to 1000 entries of half a kilobyte.
MOST_BY_REQUEST_BYTES = 16 << 10
MOST_BY_PAGE_BYTES = 1 << 20
# What one way carries is acknowledged the other way: 66 bytes for a full packet at the most.
ACKNOWLEDGING_SHARE = 0.06


def doubt(
    cell: Cell, phases: list[PhaseRecord], crossed: LinkRecord, proof: StateProof
) -> str | None:
    """Why the trial can't be what it was declared to be, or None."""
    if not phases or not phases[0].operations:
        return "the load engine left no record"
    return _link_doubt(phases[0], crossed) or _cache_doubt(cell, phases[0], proof)


def _link_doubt(phase: PhaseRecord, crossed: LinkRecord) -> str | None:
    kinds = {one.operation: one for one in phase.operations}
    ways: list[tuple[str, str, LinkDirection, LinkDirection]] = [
        ("put", "to the server", crossed.to_server, crossed.to_client),
        ("get", "to the client", crossed.to_client, crossed.to_server),
    ]
    for kind, way, direction, other in ways:
        payload = kinds[kind].bytes if kind in kinds else 0
        # Objects in flight at the end crossed as well; which kind they were only one kind tells.
        payload_most = payload + phase.cut_off_bytes
        payload_least = payload_most if phase.operations[0].operation == kind else payload
        if direction.bytes < payload_least:
            return f"only {direction.bytes} bytes crossed {way} for {payload_least} bytes of data"
        most = payload_most * MOST_BY_PAYLOAD + _beside_bytes(phase)
        most += other.bytes * ACKNOWLEDGING_SHARE
        if direction.bytes > most and not _lost(phase):
            return f"{direction.bytes} bytes crossed {way} for {payload_most} bytes of data"
    return None


def _beside_bytes(phase: PhaseRecord) -> float:
    """The most that is no object's content, one way."""
    requests = phase.operations[0].count + phase.cut_off + phase.threads
    requests += sum(one.count for one in phase.operations if one.operation == "part")
    lists = any(one.operation == "list" for one in phase.operations)
    return requests * (MOST_BY_PAGE_BYTES if lists else MOST_BY_REQUEST_BYTES)


def _lost(phase: PhaseRecord) -> bool:
    """What failed or was repeated carried bytes that nobody counted."""
    return bool(phase.retries) or any(one.failed for one in phase.operations)


def _cache_doubt(cell: Cell, phase: PhaseRecord, proof: StateProof) -> str | None:
    """The disk tells whether the server had the set in memory."""
    primary: OperationRecord = phase.operations[0]
    if is_memory(cell.disk) or primary.operation != "get":
        return None
    from_disk = proof.disk_read_bytes
    caches = systems.get(cell.system.name).server_caches(cell.system.options)
    if caches and cell.cache_state != "cold":
        if from_disk > WARM_SHARE * primary.bytes + WARM_SLACK_BYTES:
            return f"the cache was not warm: {from_disk} of {primary.bytes} bytes came from disk"
        return None
    # The set is taken in a random order of its objects, each once before any comes again.
    objects = workloads.on_objects(cell.workload.name).measure(cell).set
    least = min(primary.bytes, objects.objects * objects.object_size_bytes)
    if cell.cache_state == "cold" and from_disk < least:
        return f"the cache was not cold: only {from_disk} of {least} bytes came from the disk"
    return None
