"""`s3+s3fs`, `s3+rclone`, `swift+juicefs`: object storage through the mounts people use today.

The server of `s3` or `swift`, and on the client a FUSE program that makes a directory of it over
the emulated path. Every trial has a client of its own, started afresh with an empty cache folder:
a cold client. What is not said in the settings is the program's own default.

A new mount is one new file like `client_s3fs`, named in `_CLIENTS`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank.errors import UsageError
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems import client_juicefs, client_rclone, client_s3fs
from wavetank.systems.bed import CLIENT_ROOT, SERVER_ROOT, Bed
from wavetank.systems.endpoint import ObjectServer
from wavetank.systems.fuse import mounted
from wavetank.systems.object_client import Client

_CLIENTS = {
    one.program: one for one in (client_s3fs.CLIENT, client_rclone.CLIENT, client_juicefs.CLIENT)
}


class Mounted(msgspec.Struct, frozen=True):
    """An object server through a FUSE client; the system's face (`systems.System`)."""

    server: ObjectServer
    client: Client

    @property
    def name(self) -> str:
        """s3+s3fs .. swift+rclone"""
        return f"{self.server.name}+{self.client.program}"

    @property
    def summary(self) -> str:
        """One line."""
        kind = {"s3": "an S3 server", "swift": "OpenStack Swift"}[self.server.name]
        return f"{kind} mounted by {self.client.label} (FUSE)"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The server's settings, then the client's."""
        return (*self.server.parameters, *self.client.parameters)

    @property
    def programs(self) -> tuple[str, ...]:
        """Those of the settings by default."""
        settings = {one.key: one.parse(one.default) for one in self.parameters}
        return self.programs_for(settings)

    needs_network: bool = True

    def programs_for(self, settings: Settings) -> tuple[str, ...]:
        """The server's and the client's, each once."""
        both = (*self.server.programs_for(settings), *self.client.programs(settings))
        return tuple(dict.fromkeys(both))

    def server_caches(self, settings: Settings, /) -> bool:
        """As the server does."""
        return self.server.server_caches(settings)

    def check(self, settings: Settings) -> None:
        """The server's rules, the client's, and pairs that are known to fail."""
        self.server.check(settings)
        self.client.check(settings)
        server = str(settings.get("server"))
        if server in self.client.fails_on:
            raise UsageError(
                f"{self.name}:server={server}: {self.client.label} fails there: "
                f"{self.client.fails_on[server]}; take {self.server.name}+rclone or another server."
            )

    @contextmanager
    def up(self, bed: Bed, settings: Settings) -> Iterator[Path]:
        """The server filled without the network, the client mounted afresh."""
        with (
            self.server.endpoint(bed, settings) as endpoint,
            _folder() as folder,
            self.client.filled(bed, endpoint, settings, folder),
        ):
            if bed.server_is_warm and self.server.server_caches(settings):
                read_all(SERVER_ROOT)
            with mounted(self.client.command(endpoint, settings, folder), CLIENT_ROOT):
                bed.notes["client"] = self.client.program
                yield CLIENT_ROOT


@contextmanager
def _folder() -> Iterator[Path]:
    """The client's files of one trial. A fixed name: programs are started with it."""
    folder = Path("/run/wavetank-mount")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def read_all(directory: Path) -> None:
    """Files into the page cache, for servers that told the kernel to forget what they wrote."""
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


def mounts_of(server: ObjectServer, *clients: str) -> tuple[Mounted, ...]:
    """The server through each of these clients."""
    return tuple(Mounted(server, _CLIENTS[client]) for client in clients)
