"""JuiceFS: files are blocks in objects, which only it can read; names and attributes are metadata
in a database of their own.

The database is Redis in the server's namespace, as JuiceFS is deployed where more than one client
shares its files: every look-up and every change of a name is a round trip. `meta=sqlite3` keeps it
in a file of the client's: metadata costs no network then, and no second client could mount.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.lab.guest import programs
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import object_programs, object_start
from wavetank.systems.bed import CLIENT_ROOT, SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.fuse import mounted
from wavetank.systems.object_client import Client, count, set_aside

VOLUME = "files"
REDIS_PORT = 6379
FILLING = Path("/run/wavetank-filling")
BLOCK_LEAST_BYTES, BLOCK_MOST_BYTES = 64 << 10, 16 << 20
BUFFER_LEAST_BYTES = 32 << 20


def _block(text: str) -> int:
    size = quantity.parse_size(text)
    if not BLOCK_LEAST_BYTES <= size <= BLOCK_MOST_BYTES or size & (size - 1):
        raise UsageError(f"'{text}' is not a power of two from 64KiB to 16MiB.")
    return size


def _whole_mib(text: str) -> int:
    size = quantity.parse_size(text)
    if size % (1 << 20):
        raise UsageError(f"'{text}' is not whole MiB.")
    return size


def _buffer(text: str) -> int:
    size = _whole_mib(text)
    if size < BUFFER_LEAST_BYTES:
        raise UsageError(f"'{text}' is less than 32MiB.")
    return size


def _prefetch(text: str) -> int:
    return quantity.parse_count(text, 0)


def _cache(text: str) -> str:
    # Kept as words: 0 bytes of a setting mean that somebody else chooses (`words.is_automatic`).
    return quantity.size_text(_whole_mib(text))


PARAMETERS = (
    Parameter(
        "meta",
        "meta",
        "redis",
        one_of("redis", "sqlite3"),
        "where metadata is: redis on the server, or sqlite3 in a file of the client's",
    ),
    Parameter(
        "meta-sync",
        "meta_sync",
        "no",
        one_of("no", "everysec", "always"),
        "when Redis has metadata on the server's disk: its appendfsync; no, as it comes: never",
        only_with=("meta", "redis"),
    ),
    Parameter("block", "block_bytes", "4MiB", _block, "largest object a file is cut into"),
    Parameter("buffer", "buffer_bytes", "300MiB", _buffer, "memory for reading and writing"),
    Parameter(
        "cache",
        "cache",
        "100GiB",
        _cache,
        "local copies of blocks, at most; 0: none, and no prefetch",
    ),
    Parameter("prefetch", "prefetch", "1", _prefetch, "blocks fetched ahead of random reads"),
    Parameter("uploads", "uploads", "20", count, "connections that put blocks"),
    Parameter("downloads", "downloads", "200", count, "connections that get blocks"),
    Parameter(
        "writeback",
        "writeback",
        "no",
        quantity.parse_yes,
        "yes: a close answers from the local copy, blocks are put later",
    ),
    Parameter(
        "attr-cache",
        "attr_cache_ns",
        "1s",
        quantity.parse_duration,
        "how long the kernel believes attributes and names",
    ),
    Parameter(
        "open-cache",
        "open_cache_ns",
        "0",
        quantity.parse_duration,
        "how long a file may be opened again without asking; 0: every open asks",
    ),
)


def command(_endpoint: Endpoint, settings: Settings, folder: Path) -> list[str]:
    """The client's mount in the foreground."""
    return mount_command(settings, folder, CLIENT_ROOT)


def mount_command(settings: Settings, folder: Path, directory: Path) -> list[str]:
    """A mount of the volume at `directory`; its cache is in `folder`."""
    kept_s = f"{int(settings['attr_cache_ns']) / 1e9:.3f}s"
    options = {
        "cache-dir": str(folder / "cache"),
        "cache-size": str(_cache_bytes(settings) >> 20),
        "buffer-size": str(int(settings["buffer_bytes"]) >> 20),
        "prefetch": str(settings["prefetch"]),
        "max-uploads": str(settings["uploads"]),
        "max-downloads": str(settings["downloads"]),
        "attr-cache": kept_s,
        "entry-cache": kept_s,
        "dir-entry-cache": kept_s,
        "open-cache": f"{int(settings['open_cache_ns']) / 1e9:.3f}s",
        # It would put a dump of all metadata among the objects, soon after the mount.
        "backup-meta": "0",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    words += ["--no-usage-report", "--no-syslog"]
    if settings["writeback"]:
        words.append("--writeback")
    return ["juicefs", "mount", *words, _metadata(settings, folder), str(directory)]


def format_command(endpoint: Endpoint, settings: Settings, folder: Path) -> list[str]:
    """Makes the volume in the endpoint's container."""
    bucket = f"{endpoint.url}/{endpoint.container}"
    if endpoint.dialect == "swift":
        # The container is the first part of the host (pkg/object/swift.go).
        bucket = f"http://{endpoint.container}.{urlsplit(endpoint.url).netloc}"
    options = ["--storage", endpoint.dialect, "--bucket", bucket]
    options += ["--access-key", endpoint.user, "--secret-key", endpoint.key]
    # In KiB. What is removed is removed: no background job moves it later.
    options += ["--block-size", str(int(settings["block_bytes"]) >> 10), "--trash-days", "0"]
    return ["juicefs", "format", *options, _metadata(settings, folder), VOLUME]


def _cache_bytes(settings: Settings) -> int:
    return quantity.parse_size(str(settings["cache"]))


def _metadata(settings: Settings, folder: Path) -> str:
    if settings["meta"] == "redis":
        return f"redis://{SERVER_ADDRESS}:{REDIS_PORT}/1"
    return f"sqlite3://{folder / 'metadata.db'}"


def redis_command(settings: Settings, directory: Path) -> list[str]:
    """Redis that keeps in `directory` what it keeps."""
    listen = ["--bind", SERVER_ADDRESS, "--port", str(REDIS_PORT), "--protected-mode", "no"]
    how = str(settings["meta_sync"])
    kept = ["--appendonly", "no"] if how == "no" else ["--appendonly", "yes", "--appendfsync", how]
    # Snapshots come every hour at the earliest, and would fall into long trials alone.
    return ["redis-server", *listen, "--dir", str(directory), "--save", "", *kept]


@contextmanager
def _filled(bed: Bed, endpoint: Endpoint, settings: Settings, folder: Path) -> Iterator[None]:
    """Metadata engine and volume; the set through a mount inside the server's namespace."""
    with ExitStack() as stack:
        server = bed.topology.server
        if settings["meta"] == "redis":
            directory = SERVER_ROOT / "redis"
            directory.mkdir()
            redis = stack.enter_context(Daemon(redis_command(settings, directory), server))
            with server.entered():
                object_start.wait_for_port(redis, REDIS_PORT)
        program, *words = format_command(endpoint, settings, folder)
        programs.run([object_programs.find(program), *words], server)
        _put_set(bed, settings, folder)
        os.sync()
        bed.notes["metadata"] = str(settings["meta"])
        yield


def _put_set(bed: Bed, settings: Settings, folder: Path) -> None:
    with set_aside(bed) as directory:
        if not any(directory.iterdir()):
            return
        # Nothing of the set is to be on the client's side when it begins.
        without_cache = settings | {"writeback": False, "cache": "0B"}
        with mounted(mount_command(without_cache, folder, FILLING), FILLING, bed.topology.server):
            shutil.copytree(directory, FILLING, dirs_exist_ok=True)


def _check(settings: Settings) -> None:
    if settings["writeback"] and not _cache_bytes(settings):
        raise UsageError("writeback=yes needs a local copy to answer from; take a larger cache.")


def _programs(settings: Settings) -> tuple[str, ...]:
    redis = ("redis-server",) if settings["meta"] == "redis" else ()
    return ("juicefs", "fusermount3", *redis)


CLIENT = Client("juicefs", "JuiceFS", _programs, PARAMETERS, command, filled=_filled, check=_check)
