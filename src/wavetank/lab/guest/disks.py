"""Modelled disks in the guest: plain memory on brd, timed ones on null_blk.

What is modelled: a latency per request (null_blk's completion_nsec, through an hrtimer), a rate,
a queue depth, a volatile write cache that must be flushed. What is not: the position of the head,
the difference between reading and writing, wear, errors. Content is really stored.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank.lab.errors import LabError
from wavetank.lab.guest.kernel_settings import write_setting
from wavetank.study.model import Disk

SECTOR_BYTES = 512
RAM_DEVICE = "/dev/ram0"
_CONFIG = Path("/sys/kernel/config/nullb")
# null_blk refills its rate budget every 20 ms and starves a request larger than one refill.
REFILL_S = 0.02
LARGEST_REQUEST_BYTES = 1280 << 10


class BlockDevice(msgspec.Struct, frozen=True):
    """A disk of the guest's. `traffic` counts what reached it (0 for brd, which keeps no count)."""

    path: str
    size_bytes: int

    def traffic(self) -> tuple[int, int]:
        """Bytes read from and written to the device since it was made."""
        name = self.path.removeprefix("/dev/")
        fields = Path(f"/sys/block/{name}/stat").read_text().split()
        return int(fields[2]) * SECTOR_BYTES, int(fields[6]) * SECTOR_BYTES


def is_memory(disk: Disk) -> bool:
    """Whether the model is plain memory, for which brd is the device."""
    return disk.completion_ns == 0 and disk.rate_bytes_per_s is None and not disk.write_cache


def null_blk_settings(disk: Disk) -> dict[str, int]:
    """The model in null_blk's terms (Documentation/block/null_blk.rst)."""
    settings = {
        "size": -(-disk.size_bytes // (1 << 20)),
        "blocksize": 4096,
        "memory_backed": 1,
        "queue_mode": 2,
        "submit_queues": 1,
        "hw_queue_depth": disk.queue_depth,
        "irqmode": 2 if disk.completion_ns else 0,
        "completion_nsec": disk.completion_ns,
    }
    if disk.write_cache:
        settings["cache_size"] = 64
    if disk.rate_bytes_per_s is not None:
        settings["mbps"] = max(1, disk.rate_bytes_per_s >> 20)
        refill = int(disk.rate_bytes_per_s * REFILL_S)
        if refill < LARGEST_REQUEST_BYTES:
            settings["max_sectors"] = max(8, refill // SECTOR_BYTES)
    return settings


@contextmanager
def attached(disk: Disk) -> Iterator[BlockDevice]:
    """The server's disk as a block device for one trial: empty, but for the one that is plain
    memory. That holds what the trial before wrote, because giving its pages back and taking them
    again made writing 1.5 times as slow; a file system made on it hides that.
    """
    if is_memory(disk):
        if not os.path.exists(RAM_DEVICE):
            raise LabError("the guest was booted without a memory disk; this is a defect")
        yield BlockDevice(RAM_DEVICE, disk.size_bytes)
        return
    with _timed(disk, "disk0") as device:
        yield device


@contextmanager
def attached_to_client(disk: Disk) -> Iterator[BlockDevice]:
    """The client's disk, likewise; memory too on null_blk, whose requests can cost nothing."""
    with _timed(disk, "disk1") as device:
        yield device


@contextmanager
def _timed(disk: Disk, name: str) -> Iterator[BlockDevice]:
    directory = _CONFIG / name
    directory.mkdir()
    try:
        for setting, value in null_blk_settings(disk).items():
            write_setting(directory / setting, str(value))
        write_setting(directory / "power", "1")
        yield BlockDevice(f"/dev/{name}", disk.size_bytes)
    finally:
        write_setting(directory / "power", "0")
        directory.rmdir()
