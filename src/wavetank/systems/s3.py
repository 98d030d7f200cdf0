"""`s3`: an S3 server on the modelled disk, in the server's namespace.

A new server is one new file like `s3_versitygw`, named in `_SERVERS`. All so far keep objects as
plain files, a directory for each bucket, so that a set is filled without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import (
    filesystem,
    object_programs,
    object_start,
    s3_rclone,
    s3_versitygw,
    syscall_cost,
)
from wavetank.systems.bed import SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.s3_server import ACCESS_KEY, PORT, SECRET_KEY

CONTAINER = "wavetank"

_SERVERS = {one.program: one for one in (s3_versitygw.SERVER, s3_rclone.SERVER)}

PARAMETERS = (
    Parameter("server", "server", "versitygw", one_of(*_SERVERS), "which S3 server"),
    Parameter("fs", "fs", "ext4", one_of("ext4", "xfs"), "file system on the server's disk"),
    syscall_cost.PARAMETER,
)


class S3(msgspec.Struct, frozen=True):
    """The server; a face of `endpoint.ObjectServer`."""

    name: str = "s3"
    summary: str = "S3 as it is, by REST: versitygw or rclone on the server's file system"
    parameters: tuple[Parameter, ...] = PARAMETERS

    def programs_for(self, settings: Settings) -> tuple[str, ...]:
        """The chosen server."""
        return ("mkfs.ext4", _SERVERS[str(settings["server"])].program)

    def server_caches(self, _settings: Settings, /) -> bool:
        """Files are read through the page cache."""
        return True

    def check(self, settings: Settings) -> None:
        """Every combination goes."""

    @contextmanager
    def endpoint(self, bed: Bed, settings: Settings) -> Iterator[Endpoint]:
        """The server on an empty file system, with one bucket."""
        kind = str(settings["fs"])
        server = _SERVERS[str(settings["server"])]
        filesystem.make(kind, bed.device.path)
        root = SERVER_ROOT
        endpoint = Endpoint(
            dialect="s3",
            url=f"http://{SERVER_ADDRESS}:{PORT}",
            container=CONTAINER,
            user=ACCESS_KEY,
            key=SECRET_KEY,
            tree=root / CONTAINER,
        )
        with ExitStack() as stack:
            stack.enter_context(filesystem.mounted(kind, bed.device.path, root))
            command = [object_programs.find(server.program), *server.arguments(root)]
            daemon = stack.enter_context(Daemon(command, bed.topology.server))
            object_start.begin(bed, endpoint, [(daemon, PORT)])
            bed.notes["server"] = server.program
            yield endpoint


SERVER = S3()
