"""Programs of object storage that no distribution has: where they lie, and how they get there.

They are kept in the user's cache, beside the kernels, at versions that were tried
(`install/object.sh` puts them there). A guest sees the host's files, so that one place serves
both sides. Programs of the distribution (s3fs, memcached) are found where it puts them.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from wavetank.lab.errors import LabError
from wavetank.lab.guest import programs


class CachedProgram(msgspec.Struct, frozen=True):
    """A program in the cache: `place` is its path there, `installer` install/object.sh's word."""

    place: str
    installer: str

    @property
    def remedy(self) -> str:
        """The command that installs it."""
        return f"sh install/object.sh {self.installer}"


CACHED = {
    "versitygw": CachedProgram("bin/versitygw", "versitygw"),
    "rclone": CachedProgram("bin/rclone", "rclone"),
    "juicefs": CachedProgram("bin/juicefs", "juicefs"),
    "swift-proxy-server": CachedProgram("swift/bin/swift-proxy-server", "swift"),
}
# Of the distribution, and asked for by object storage alone.
OF_THE_DISTRIBUTION = ("s3fs", "memcached", "redis-server", "fusermount3")


def folder() -> Path:
    """`$XDG_CACHE_HOME/wavetank/programs`, by default under `~/.cache`. A guest is told it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "wavetank" / "programs"


def locate(name: str) -> str | None:
    """Full path of a program, in the cache or of the distribution; None where there is none."""
    if name in CACHED:
        path = str(folder() / CACHED[name].place)
        if os.access(path, os.X_OK):
            return path
    try:
        return programs.find_program(name)
    except LabError:
        return None


def find(name: str) -> str:
    """As `locate`; LabError with the remedy where there is none."""
    path = locate(name)
    if path is not None:
        return path
    remedy = CACHED[name].remedy if name in CACHED else "wavetank doctor"
    raise LabError(f"the program {name} is not installed. Try: {remedy}")
