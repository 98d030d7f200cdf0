"""Which workloads go with which systems: files with directories, REST with object storage.

Asked while a plan is made, so that what can't be meant costs no guest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from wavetank import quantity, systems, workloads
from wavetank.errors import UsageError
from wavetank.study.model import CacheState, Client, SystemChoice, WorkloadChoice
from wavetank.study.study import Place
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


HOST_SYSTEM, HOST_SERVER = "s3", "versitygw"
CLIENT_WORKLOAD, CLIENT_OPERATIONS = "object", ("put", "get")
# Beside the objects in its hands: half as much in their sockets, and the load engine itself with
# some cache. With 16 MiB by 4, 112 MiB are too little and 120 are not.
CLIENT_BASE_BYTES = 24 * 2**20
CLIENT_HANDS_FACTOR = 1.5


def require_place(place: Place, system: SystemChoice, workload: str) -> None:
    """Raises UsageError for what can't be measured on the host itself."""
    if place == "lab":
        return
    server = system.options.get("server")
    if (system.name, server) != (HOST_SYSTEM, HOST_SERVER):
        named = f"{system.name}:server={server}" if server else system.name
        raise UsageError(
            f"on the host there is {HOST_SYSTEM} with {HOST_SERVER} alone, a server that needs no "
            f"set-up; {named} runs in the lab."
        )
    if workloads.works_on(workload) != "objects":
        raise UsageError(
            f"on the host there is object storage alone; take {workloads.names_of('objects')}, or "
            "wavetank bench for a directory."
        )


def require_client(
    client: Client | msgspec.UnsetType, place: Place, work: Sequence[WorkloadChoice]
) -> None:
    """Raises UsageError for a client that can't be had there, or does not go with the work."""
    if not isinstance(client, Client):
        return
    if client.processors is not None and place == "lab":
        raise UsageError(
            'client-processors limits a process of the host (place = "host"); in the lab client '
            "and server share one processor, which is free on the virtual clock."
        )
    if client.disk is None:
        return
    if place == "host":
        raise UsageError("client-disk is a model of the lab's; on the host the client has no disk.")
    for choice in work:
        _require_files(client, choice)


def _require_files(client: Client, choice: WorkloadChoice) -> None:
    operation = choice.parameters.get("operation")
    if choice.name != CLIENT_WORKLOAD or operation not in CLIENT_OPERATIONS:
        what = f"{choice.name}, {operation}" if operation else choice.name
        raise UsageError(
            f"client-disk goes with workload {CLIENT_WORKLOAD} and put or get, whose objects have "
            f"files at the client; {what} has none."
        )
    parallel, size_bytes = (
        int(choice.parameters[name]) for name in ("parallel", "object_size_bytes")
    )
    least = parallel * size_bytes * CLIENT_HANDS_FACTOR + CLIENT_BASE_BYTES
    if (client.memory_bytes or 0) < least:
        raise UsageError(
            f"client-memory {quantity.size_text(client.memory_bytes or 0)} can't hold {parallel} "
            f"objects of {quantity.size_text(size_bytes)} and their sockets; take at least "
            f"{math.ceil(least / 2**20)}MiB, smaller objects or fewer connections."
        )


def dialect_of(system: SystemChoice) -> Dialect:
    """What a system of objects speaks: that of its name."""
    return "swift" if system.name.startswith("swift") else "s3"
