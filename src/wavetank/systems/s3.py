"""`s3`: an S3 server on the modelled disk, in the server's namespace.

A new server is one new file like `s3_versitygw`, named in `_SERVERS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import (
    filesystem,
    object_start,
    s3_rclone,
    s3_swift,
    s3_versitygw,
    syscall_cost,
)
from wavetank.systems.bed import SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.s3_server import Server

_SERVERS = {one.name: one for one in (s3_versitygw.SERVER, s3_rclone.SERVER, s3_swift.SERVER)}

PARAMETERS = (
    Parameter("server", "server", "versitygw", one_of(*_SERVERS), "which S3 server"),
    Parameter("fs", "fs", "ext4", one_of("ext4", "xfs"), "file system on the server's disk"),
    syscall_cost.PARAMETER,
    *(
        msgspec.structs.replace(own, only_with=("server", server.name))
        for server in _SERVERS.values()
        for own in server.parameters
    ),
)


def _chosen(settings: Settings) -> Server:
    return _SERVERS[str(settings["server"])]


class S3(msgspec.Struct, frozen=True):
    """The server; a face of `endpoint.ObjectServer`."""

    name: str = "s3"
    summary: str = "S3 as it is, by REST: versitygw, rclone or Swift on the server's file system"
    parameters: tuple[Parameter, ...] = PARAMETERS

    def programs_for(self, settings: Settings) -> tuple[str, ...]:
        """The chosen server."""
        return ("mkfs.ext4", *_chosen(settings).programs)

    def server_caches(self, settings: Settings, /) -> bool:
        """As the chosen server does."""
        return _chosen(settings).caches(settings)

    def check(self, settings: Settings) -> None:
        """Every combination goes."""

    @contextmanager
    def endpoint(self, bed: Bed, settings: Settings) -> Iterator[Endpoint]:
        """The server on an empty file system, with one bucket."""
        kind = str(settings["fs"])
        server = _chosen(settings)
        filesystem.make(kind, bed.device.path)
        with (
            filesystem.mounted(kind, bed.device.path, SERVER_ROOT),
            server.serving(bed, settings) as served,
        ):
            object_start.begin(bed, served.endpoint, served.listening)
            bed.notes["server"] = server.name
            yield served.endpoint


SERVER = S3()
