"""The machine as it is: what a directory is mounted from, the page cache, the disk's traffic.

For measurements outside the lab. Nothing here is emulated and nothing is assumed: whether the
page cache can be emptied is tried on the very file system, and how much of a set is left in it
is asked of the kernel (mincore(2)).
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

PageCacheMethod = Literal["drop_caches", "posix_fadvise", "none"]

PAGE_CACHE_TEXT: dict[PageCacheMethod, str] = {
    "drop_caches": "emptied before each trial by drop_caches: data, names and attributes",
    "posix_fadvise": "the set's data dropped before each trial by posix_fadvise(DONTNEED); "
    "names and attributes may still be cached, because only root may drop those",
    "none": "kept: it cannot be emptied here",
}
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
SECTOR_BYTES = 512
PROBE_BYTES = 1 << 20
# Files asked for their cached pages; of a larger set an even sample.
MOST_FILES_ASKED = 256
# include/uapi/asm-generic/mman-common.h
_PROT_READ, _MAP_SHARED, _MAP_FAILED = 1, 1, ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


class Mount(msgspec.Struct, frozen=True):
    """What a directory lies on, as the kernel tells it (proc(5), mountinfo)."""

    kind: str
    source: str
    options: str
    point: str

    @property
    def text(self) -> str:
        """`nfs4 from 10.0.0.2:/export`."""
        return f"{self.kind} from {self.source}"


def mount_of(descriptor: int, mountinfo: Path = Path("/proc/self/mountinfo")) -> Mount:
    """The mount of an open file or directory; "unknown" where the kernel does not tell."""
    details = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    match = re.search(r"^mnt_id:\s*(\d+)$", details, re.MULTILINE)
    for line in mountinfo.read_text().splitlines():
        if match is not None and line.split(" ", 1)[0] == match[1]:
            return _mount(line)
    return Mount("unknown", "unknown", "", "")


def _mount(line: str) -> Mount:
    """36 35 98:0 /root /point rw,noatime tag:1 - ext4 /dev/sda rw,errors=continue"""
    place, _, rest = line.partition(" - ")
    point, own_options = place.split(" ")[4:6]
    kind, source, super_options = [*rest.split(" "), "", ""][:3]
    options = dict.fromkeys([*own_options.split(","), *super_options.split(",")])
    return Mount(kind, _plain(source), ",".join(filter(None, options)), _plain(point))


def _plain(text: str) -> str:
    """Blanks and the like are written as \\040 there."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def page_cache_method(folder: int, drop_caches: Path = DROP_CACHES) -> PageCacheMethod:
    """How the cache of the file system of `folder` (a descriptor) can be emptied, tried on a file.

    The file is unlinked at once. Raises OSError where none can be written.
    """
    name = f".probe-{os.getpid()}"
    probe = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        os.write(probe, b"\0" * PROBE_BYTES)
        os.fsync(probe)
        if _drop(drop_caches) and not cached_bytes(probe):
            return "drop_caches"
        os.pread(probe, PROBE_BYTES, 0)
        os.posix_fadvise(probe, 0, 0, os.POSIX_FADV_DONTNEED)
        return "none" if cached_bytes(probe) else "posix_fadvise"
    finally:
        os.close(probe)
        os.unlink(name, dir_fd=folder)


def sync_file_system(folder: int) -> None:
    """Everything written to the file system of `folder` so far reaches its storage (syncfs(2))."""
    if _libc.syncfs(folder) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def empty_page_cache(method: PageCacheMethod, files: Iterable[Path]) -> None:
    """Empties the cache, or that of `files`, all of which must be clean."""
    if method == "drop_caches":
        _drop(DROP_CACHES)
    elif method == "posix_fadvise":
        for file in files:
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def cached_share(files: Sequence[Path]) -> float:
    """The share of the files' bytes that are in the page cache; of many files, of a sample."""
    step = max(1, len(files) // MOST_FILES_ASKED)
    cached = whole = 0
    for file in files[::step]:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            cached += cached_bytes(descriptor)
            whole += os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
    return min(1.0, cached / whole) if whole else 0.0


def cached_bytes(descriptor: int) -> int:
    """Bytes of a file in the page cache, in whole pages (mincore(2)); 0 where it can't be asked."""
    size = os.fstat(descriptor).st_size
    if not size:
        return 0
    page_bytes = os.sysconf("SC_PAGESIZE")
    address = _libc.mmap(None, size, _PROT_READ, _MAP_SHARED, descriptor, 0)
    if address == _MAP_FAILED:
        return 0
    try:
        pages = ctypes.create_string_buffer(-(-size // page_bytes))
        if _libc.mincore(address, size, pages) == -1:
            return 0
        return sum(byte & 1 for byte in pages.raw) * page_bytes
    finally:
        _libc.munmap(address, size)


def disk_traffic(descriptor: int) -> tuple[int, int] | None:
    """Bytes read from and written to the block device below, or None where there is none."""
    device = os.fstat(descriptor).st_dev
    numbers = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat")
    try:
        fields = numbers.read_text().split()
    except OSError:
        return None
    return int(fields[2]) * SECTOR_BYTES, int(fields[6]) * SECTOR_BYTES


def _drop(drop_caches: Path) -> bool:
    """Whether the kernel let us forget every clean page, name and inode."""
    try:
        descriptor = os.open(drop_caches, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.write(descriptor, b"3") == 1
    except OSError:
        return False
    finally:
        os.close(descriptor)
