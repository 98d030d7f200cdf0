"""`s3+s3fs`, `s3+rclone`, `swift+rclone`: object storage through the mounts people use today.

The server of `s3` or `swift`, and on the client a FUSE program that makes a directory of it over
the emulated path. Every trial has a client of its own, started afresh with an empty cache folder:
a cold client. What is not said in the settings is the program's own default.

A new mount is one new entry of `_CLIENTS`.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.lab.errors import LabError
from wavetank.lab.guest.programs import Daemon
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import filesystem, object_programs, object_requests
from wavetank.systems.bed import CLIENT_ROOT, SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint, ObjectServer

MOUNTED_WITHIN_S = 60.0
LOOK_EVERY_S = 0.02
S3FS_PART_LEAST_BYTES = 5 << 20


def _count(text: str) -> int:
    return quantity.parse_count(text, 1)


def _part(text: str) -> int:
    size = quantity.parse_size(text)
    if size < S3FS_PART_LEAST_BYTES or size % (1 << 20):
        raise UsageError(f"'{text}' is not whole MiB, 5MiB at least (the least part S3 takes).")
    return size


def _write_back(text: str) -> int:
    return quantity.parse_duration(text)


def _s3fs(endpoint: Endpoint, settings: Settings, folder: Path) -> list[str]:
    passwords = folder / "passwords"
    passwords.write_text(f"{endpoint.user}:{endpoint.key}\n")
    passwords.chmod(0o600)
    options = [
        f"url={endpoint.url}",
        f"endpoint={endpoint.region}",
        "use_path_request_style",
        f"passwd_file={passwords}",
        f"tmpdir={folder}",
        f"parallel_count={settings['parallel']}",
        f"multipart_size={int(settings['part_bytes']) >> 20}",
        f"stat_cache_expire={settings['stat_cache_s']}",
    ]
    if settings["local_cache"]:
        options.append(f"use_cache={folder / 'cache'}")
    joined = ",".join(options)
    return ["s3fs", endpoint.container, str(CLIENT_ROOT), "-f", "-o", joined]


def _rclone(endpoint: Endpoint, settings: Settings, folder: Path) -> list[str]:
    (folder / "rclone.conf").write_text(_rclone_remote(endpoint))
    arguments = ["rclone", "mount", f"store:{endpoint.container}", str(CLIENT_ROOT)]
    arguments += ["--config", str(folder / "rclone.conf"), "--cache-dir", str(folder / "cache")]
    arguments += ["--vfs-cache-mode", str(settings["cache_mode"])]
    arguments += ["--vfs-write-back", f"{int(settings['write_back_ns']) / 1e9:.3f}s"]
    arguments += ["--transfers", str(settings["parallel"])]
    return [*arguments, "--vfs-read-chunk-size", f"{settings['read_chunk_bytes']}B"]


def _rclone_remote(endpoint: Endpoint) -> str:
    """The endpoint in the words of rclone's configuration."""
    if endpoint.dialect == "swift":
        lines = ["type = swift", f"user = {endpoint.user}", f"key = {endpoint.key}"]
        lines += [f"auth = {endpoint.url}"]
    else:
        lines = ["type = s3", "provider = Other", f"endpoint = {endpoint.url}"]
        lines += [f"access_key_id = {endpoint.user}", f"secret_access_key = {endpoint.key}"]
        lines += [f"region = {endpoint.region}", "force_path_style = true"]
    return "\n".join(["[store]", *lines, ""])


class Client(msgspec.Struct, frozen=True):
    """A FUSE program: its settings, and its command line, which stays in the foreground; and the
    servers its files can't be written to.
    """

    program: str
    label: str
    programs: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    command: Callable[[Endpoint, Settings, Path], list[str]]
    fails_on: tuple[str, ...] = ()


_S3FS = Client(
    "s3fs",
    "s3fs",
    ("s3fs",),
    (
        Parameter("parallel", "parallel", "5", _count, "parts in flight for one file"),
        Parameter("part", "part_bytes", "10MiB", _part, "size of a part"),
        Parameter("stat-cache", "stat_cache_s", "900", _count, "seconds metadata is believed"),
        Parameter(
            "local-cache", "local_cache", "no", quantity.parse_yes, "whether files are kept locally"
        ),
    ),
    _s3fs,
    fails_on=("rclone",),
)
_RCLONE = Client(
    "rclone",
    "rclone mount",
    ("rclone", "fusermount3"),
    (
        Parameter(
            "cache-mode",
            "cache_mode",
            "off",
            one_of("off", "minimal", "writes", "full"),
            "off streams; the others write back from a local copy after the close",
        ),
        Parameter("write-back", "write_back_ns", "5s", _write_back, "how long after the close"),
        Parameter("parallel", "parallel", "4", _count, "files uploaded at once"),
        Parameter(
            "read-chunk", "read_chunk_bytes", "128MiB", quantity.parse_size, "first range asked for"
        ),
    ),
    _rclone,
)
_CLIENTS = {"s3fs": _S3FS, "rclone": _RCLONE}


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
        return tuple(dict.fromkeys((*self.server.programs_for(settings), *self.client.programs)))

    def server_caches(self, settings: Settings, /) -> bool:
        """As the server does."""
        return self.server.server_caches(settings)

    def check(self, settings: Settings) -> None:
        """The server's rules, and pairs that are known to fail."""
        self.server.check(settings)
        if settings.get("server") in self.client.fails_on:
            raise UsageError(
                f"{self.name}:server={settings['server']}: {self.client.label} fails to write to "
                f"this server (EIO); take {self.server.name}+rclone or another server."
            )

    @contextmanager
    def up(self, bed: Bed, settings: Settings) -> Iterator[Path]:
        """The server filled without the network, the client mounted afresh."""
        with self.server.endpoint(bed, settings) as endpoint:
            fill(bed, endpoint)
            if bed.server_is_warm and self.server.server_caches(settings):
                read_all(SERVER_ROOT)
            with self._mounted(endpoint, settings) as directory:
                bed.notes["client"] = self.client.program
                yield directory

    @contextmanager
    def _mounted(self, endpoint: Endpoint, settings: Settings) -> Iterator[Path]:
        CLIENT_ROOT.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            # A fixed name: it is part of what programs are started with.
            folder = Path("/run/wavetank-mount")
            folder.mkdir()
            stack.callback(shutil.rmtree, folder)
            program, *arguments = self.client.command(endpoint, settings, folder)
            command = [object_programs.find(program), *arguments]
            daemon = stack.enter_context(Daemon(command))
            _wait_for_mount(daemon)
            stack.callback(filesystem.take_off, CLIENT_ROOT)
            yield CLIENT_ROOT


def fill(bed: Bed, endpoint: Endpoint) -> None:
    """The workload's set into the endpoint's container, without the network.

    As plain files where the server keeps such; else through the server's own interface, from
    inside its namespace.
    """
    if endpoint.tree is not None:
        bed.fill(endpoint.tree)
        os.sync()
        return
    folder = Path(mkdtemp(prefix="wavetank-set-"))
    try:
        bed.fill(folder)
        with bed.topology.server.entered():
            object_requests.put_tree(endpoint, folder)
        os.sync()
    finally:
        shutil.rmtree(folder)


def read_all(directory: Path) -> None:
    """Files into the page cache, for servers that told the kernel to forget what they wrote."""
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


def _wait_for_mount(daemon: Daemon) -> None:
    deadline = time.monotonic() + MOUNTED_WITHIN_S
    while not os.path.ismount(CLIENT_ROOT):
        daemon.require_alive()
        if time.monotonic() > deadline:
            raise LabError(f"the client mounted nothing within {MOUNTED_WITHIN_S:.0f} s")
        time.sleep(LOOK_EVERY_S)


def mounts_of(server: ObjectServer, *clients: str) -> tuple[Mounted, ...]:
    """The server through each of these clients."""
    return tuple(Mounted(server, _CLIENTS[client]) for client in clients)
