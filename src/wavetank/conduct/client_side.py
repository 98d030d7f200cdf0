"""A declared client in the guest: a file system on its disk, files to upload on it, and the group
in which the load engine has the client's memory.

Everything is made before the server is up and what it caches is read: the client's file system is
unmounted and mounted again, so that nothing of it is in memory when the measurement begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank import workloads
from wavetank.conduct import client_files, object_engine
from wavetank.lab.errors import LabError
from wavetank.lab.guest import client_machine
from wavetank.lab.guest.client_machine import ControlGroup
from wavetank.lab.guest.disks import BlockDevice, attached_to_client
from wavetank.runs.records import PhaseRecord
from wavetank.study.model import Cell, Client
from wavetank.systems import filesystem
from wavetank.workloads.job import EngineJob
from wavetank.workloads.object_job import Local, ObjectJob

ROOT = Path("/mnt/client")
FILE_SYSTEM = "ext4"
GROUP = "client"

Fill = Callable[[EngineJob | ObjectJob], list[PhaseRecord]]


class ClientSide(msgspec.Struct, frozen=True):
    """The client's surroundings for the measurement."""

    device: BlockDevice
    group: ControlGroup
    local: Local

    def with_files(self, job: ObjectJob) -> ObjectJob:
        """The job, its objects read from or written to the client's files."""
        phases = [msgspec.structs.replace(phase, local=self.local) for phase in job.phases]
        return msgspec.structs.replace(job, phases=phases)

    @contextmanager
    def within_memory(self) -> Iterator[None]:
        """LabError that says so where the kernel killed the engine for the group's memory."""
        try:
            yield
        except LabError as error:
            if self.group.events().get("oom_kill"):
                raise LabError(
                    "the client's memory was not enough for the load engine, which was killed; "
                    "take a larger client-memory, smaller objects or fewer connections"
                ) from error
            raise


@contextmanager
def made(cell: Cell, fill: Fill) -> Iterator[ClientSide | None]:
    """The client that the cell declares, None where it declares no disk."""
    client = cell.client
    if not isinstance(client, Client) or client.disk is None or client.memory_bytes is None:
        yield None
        return
    job = workloads.on_objects(cell.workload.name).measure(cell)
    with attached_to_client(client.disk) as device:
        filesystem.make(FILE_SYSTEM, device.path)
        if job.phases[0].action == "put":
            with filesystem.mounted(FILE_SYSTEM, device.path, ROOT):
                object_engine.files_of(job, ROOT, fill)
        with (
            filesystem.mounted(FILE_SYSTEM, device.path, ROOT),
            client_machine.limited(GROUP, client.memory_bytes, device, client.disk) as group,
        ):
            yield ClientSide(device, group, Local(str(ROOT), client_files.count(cell)))
