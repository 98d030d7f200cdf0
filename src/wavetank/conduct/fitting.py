"""Which workloads go with which systems: files with directories, REST with object storage.

Asked while a plan is made, so that what can't be meant costs no guest.
"""

from __future__ import annotations

from collections.abc import Sequence

from wavetank import systems, workloads
from wavetank.errors import UsageError
from wavetank.study.model import CacheState, SystemChoice, WorkloadChoice
from wavetank.systems.endpoint import Dialect


def require(system: SystemChoice, workload: str, cache_state: CacheState) -> None:
    """Raises UsageError unless the workload finds what it needs on the system."""
    served, needed = systems.serves(system.name), workloads.works_on(workload)
    if served == "objects" and needed == "files":
        raise UsageError(
            f"workload {workload} works on files and {system.name} is object storage without a "
            f"mount; {systems.mounts_text(system.name).removesuffix('.')}, or a workload on "
            f"objects: {workloads.names_of('objects')}."
        )
    if served == "files" and needed == "objects":
        raise UsageError(
            f"workload {workload} speaks REST to object storage and {system.name} is a file "
            f"system; take {systems.names_of('objects')}, or a workload on files: "
            f"{workloads.names_of('files')}."
        )
    if served == "objects" and cache_state == "warm":
        raise UsageError(
            f"cache state warm: over REST {system.name} has no client cache that could be warm; "
            "take cold-client-warm-server or cold."
        )


def require_protocol(system: SystemChoice, work: Sequence[WorkloadChoice]) -> None:
    """Raises UsageError for work on objects that the system's protocol does not have."""
    if systems.serves(system.name) == "objects":
        for choice in work:
            workloads.on_objects(choice.name).check(dialect_of(system), choice.parameters)


def dialect_of(system: SystemChoice) -> Dialect:
    """What a system of objects speaks: that of its name."""
    return "swift" if system.name.startswith("swift") else "s3"
