"""Reasons not to believe a trial: what was counted contradicts what the cell declares.

Data that must have crossed the link or come from the disk is counted there as well; where the
counts disagree the trial is void, however good its numbers look. Pure functions.
"""

from __future__ import annotations

from wavetank import systems
from wavetank.conduct import object_plausibility
from wavetank.lab.guest.disks import is_memory
from wavetank.runs.records import LinkRecord, PhaseRecord, StateProof
from wavetank.study.model import Cell

# A warm server may still read some metadata from its disk.
WARM_SHARE = 0.1
WARM_SLACK_BYTES = 1 << 20


def doubt(
    cell: Cell, phases: list[PhaseRecord], crossed: LinkRecord, proof: StateProof
) -> str | None:
    """Why the trial can't be what it was declared to be, or None."""
    if systems.serves(cell.system.name) == "objects":
        return object_plausibility.doubt(cell, phases, crossed, proof)
    return _link_doubt(cell, phases, crossed) or _cache_doubt(cell, phases, proof)


def _link_doubt(cell: Cell, phases: list[PhaseRecord], crossed: LinkRecord) -> str | None:
    """Buffered access and warm clients may well be served without the link; no other is."""
    must_cross = (
        systems.needs_network(cell.system.name)
        and cell.workload.parameters.get("access") in ("sync", "direct")
        and cell.cache_state != "warm"
    )
    payload = _payload(phases)
    carried = max(crossed.to_server.bytes, crossed.to_client.bytes)
    if must_cross and carried < payload:
        return f"only {carried} bytes crossed the link for {payload} bytes of data"
    return None


def _cache_doubt(cell: Cell, phases: list[PhaseRecord], proof: StateProof) -> str | None:
    """The disk tells whether the server (or the local machine) had the set in memory."""
    if is_memory(cell.disk) or phases[0].operations[0].operation != "read":
        return None
    payload, from_disk = _payload(phases), proof.disk_read_bytes
    cached = systems.get(cell.system.name).server_caches(cell.system.options)
    warm = cell.cache_state == "warm" or (cached and cell.cache_state != "cold")
    if warm and from_disk > WARM_SHARE * payload + WARM_SLACK_BYTES:
        return f"the cache was not warm: {from_disk} of {payload} bytes came from the disk"
    if cell.cache_state == "cold" and from_disk < payload:
        return f"the cache was not cold: only {from_disk} of {payload} bytes came from the disk"
    return None


def _payload(phases: list[PhaseRecord]) -> int:
    return sum(phase.operations[0].bytes for phase in phases)
