"""Local file systems: made, mounted, unmounted; and which of a device's blocks they use."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wavetank.lab.errors import LabError
from wavetank.lab.guest import programs
from wavetank.lab.guest.mounts import mount, unmount
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems.bed import SERVER_ROOT, Bed

UNMOUNT_DEADLINE_S = 10.0
READ_BYTES = 1 << 20

PARAMETER = Parameter("fs", "fs", "ext4", one_of("ext4", "ext3", "xfs"), "file system on the disk")


def make(kind: str, device: str) -> None:
    """An empty file system with an inode for every 4 KiB, so that the smallest files fit, and a
    fixed identifier (a random one would come from the guest's pool). Inode tables are not written,
    now or in the background: the device is all zeros, or has inodes of the trial before in them,
    which only a client could ask for that still knows them (see nfs.py).
    """
    identifier = "00000000-0000-4000-8000-000000000001"
    if kind == "xfs":
        programs.run(["mkfs.xfs", "-q", "-f", "-K", "-m", f"uuid={identifier}", device])
        return
    features = f"nodiscard,lazy_itable_init=1,lazy_journal_init=1,hash_seed={identifier}"
    programs.run(
        [f"mkfs.{kind}", "-q", "-F", "-U", identifier, "-i", "4096", "-E", features, device]
    )


@contextmanager
def mounted(kind: str, device: str, directory: Path) -> Iterator[Path]:
    """The device's file system at a directory that is made for it."""
    directory.mkdir(parents=True, exist_ok=True)
    # Zeroing inode tables in the background would be traffic of no operation's.
    mount(device, directory, kind, "" if kind == "xfs" else "noinit_itable")
    try:
        yield directory
    finally:
        take_off(directory)


def take_off(directory: Path) -> None:
    """Unmounts, waiting for what still holds the mount (a server's caches) to let go."""
    deadline = time.monotonic() + UNMOUNT_DEADLINE_S
    while True:
        try:
            unmount(directory)
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise LabError(f"{directory} could not be unmounted: {error.strerror}") from error
            time.sleep(0.05)


def used_ranges(kind: str, device: str, size_bytes: int) -> list[tuple[int, int]]:
    """Byte ranges of the device that hold something (all of it where the kind does not tell)."""
    if kind == "xfs":
        return [(0, size_bytes)]
    report = programs.run(["dumpe2fs", device])
    block = _told(report, "Block size")
    ranges, at = [], 0
    for first, last in sorted([*_free_blocks(report), *_untouched_inode_blocks(report, block)]):
        if first > at:
            ranges.append((at * block, first * block))
        at = last + 1
    if at * block < size_bytes:
        ranges.append((at * block, size_bytes))
    return ranges


def _told(report: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", report, re.MULTILINE)
    if found is None:
        raise LabError(f"dumpe2fs does not tell the {name.lower()}")
    return int(found[1])


def _free_blocks(report: str) -> Iterator[tuple[int, int]]:
    """First and last of each run."""
    for line in re.findall(r"^  Free blocks: (.+)$", report, re.MULTILINE):
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", line):
            yield int(first), int(last or first)


def _untouched_inode_blocks(report: str, block: int) -> Iterator[tuple[int, int]]:
    """First and last of each run of inode table that was never written: most of it, with an inode
    for every 4 KiB. ext4 reads ahead to the block that the next inode lies in (fs/ext4/inode.c,
    __ext4_get_inode_loc).
    """
    for group in re.split(r"^Group ", report, flags=re.MULTILINE)[1:]:
        table = re.search(r"Inode table at (\d+)-(\d+)", group)
        unused = re.search(r"(\d+) unused inodes", group)
        if table is None or unused is None:
            continue
        used = _told(report, "Inodes per group") - int(unused[1])
        first = int(table[1]) + used * _told(report, "Inode size") // block + 1
        if first <= int(table[2]):
            yield first, int(table[2])


def read_ranges(device: str, ranges: list[tuple[int, int]]) -> int:
    """Reads the ranges through the page cache, where they stay while the device is held open;
    bytes read.
    """
    buffer = bytearray(READ_BYTES)
    total = 0
    descriptor = os.open(device, os.O_RDONLY)
    try:
        for start, end in ranges:
            at = start
            while at < end:
                count = os.preadv(descriptor, [memoryview(buffer)[: end - at]], at)
                if count == 0:
                    break
                at += count
            total += at - start
    finally:
        os.close(descriptor)
    return total


def filled_in_place(bed: Bed, kind: str) -> list[tuple[int, int]]:
    """The disk with a file system and the set on it, written without the network; its used
    ranges, which a warm server has in its cache.
    """
    make(kind, bed.device.path)
    with mounted(kind, bed.device.path, SERVER_ROOT) as directory:
        bed.fill(directory)
    if not bed.server_is_warm:
        return []
    return used_ranges(kind, bed.device.path, bed.device.size_bytes)
