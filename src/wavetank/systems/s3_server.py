"""An S3 server of the lab: what a file like `s3_versitygw` has to say of its own.

Most are one program that serves a directory whose folders are its buckets (`plain_files`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import msgspec

from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems import object_programs, object_start
from wavetank.systems.bed import SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint

PORT = 9000
ACCESS_KEY, SECRET_KEY = "wavetank", "wavetank-secret"  # of the lab: no secret at all
BUCKET = "wavetank"


class Served(msgspec.Struct, frozen=True):
    """An endpoint whose bucket is still to be made, and what must listen before that."""

    endpoint: Endpoint
    listening: list[tuple[object_start.Server, int]]


def always(_settings: Settings) -> bool:
    """A server that reads its files through the page cache."""
    return True


class Server(msgspec.Struct, frozen=True):
    """`serving` starts it on the file system at SERVER_ROOT, in the guest, and takes it down.
    `parameters` are settings that only this server has.
    """

    name: str
    programs: tuple[str, ...]
    serving: Callable[[Bed, Settings], AbstractContextManager[Served]]
    parameters: tuple[Parameter, ...] = ()
    caches: Callable[[Settings], bool] = always


def plain_files(program: str, arguments: Callable[[Path], list[str]]) -> Server:
    """A program that keeps objects as plain files; `arguments` of it, for their directory."""

    @contextmanager
    def serving(bed: Bed, _settings: Settings) -> Iterator[Served]:
        endpoint = Endpoint(
            dialect="s3",
            url=f"http://{SERVER_ADDRESS}:{PORT}",
            container=BUCKET,
            user=ACCESS_KEY,
            key=SECRET_KEY,
            tree=SERVER_ROOT / BUCKET,
        )
        command = [object_programs.find(program), *arguments(SERVER_ROOT)]
        with Daemon(command, bed.topology.server) as daemon:
            yield Served(endpoint, [(daemon, PORT)])

    return Server(program, (program,), serving)
