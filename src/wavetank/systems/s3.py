"""`s3`: an S3 server on the modelled disk, in the server's namespace.

A server is one entry of `_SERVERS`: a program, and how it is told where to listen and what
directory to serve. All so far keep objects as plain files, a directory for each bucket, so that a
set is filled without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import filesystem, object_programs, object_start, syscall_cost
from wavetank.systems.bed import SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint

PORT = 9000
ACCESS_KEY, SECRET_KEY = "wavetank", "wavetank-secret"  # of the lab: no secret at all
CONTAINER = "wavetank"


class Server(msgspec.Struct, frozen=True):
    """An S3 server: its program, and its arguments for a directory to serve."""

    program: str
    arguments: Callable[[Path], list[str]]


def _versitygw(root: Path) -> list[str]:
    # Without keep-alive, which is its default, every request waits for a connection of its own.
    options = ["--quiet", "--keep-alive", "--access", ACCESS_KEY, "--secret", SECRET_KEY]
    return [*options, "--region", "us-east-1", "--port", f":{PORT}", "posix", str(root)]


def _rclone(root: Path) -> list[str]:
    keys = ["--auth-key", f"{ACCESS_KEY},{SECRET_KEY}"]
    return ["serve", "s3", *keys, "--addr", f":{PORT}", "--config", "/dev/null", str(root)]


_SERVERS = {
    "versitygw": Server("versitygw", _versitygw),
    "rclone": Server("rclone", _rclone),
}

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
