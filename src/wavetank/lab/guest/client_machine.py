"""The client's machine: its processes' memory, what may be dirty on its disk, its disk's rates.

One kernel serves both sides of the lab, and so one memory does. What limits the client alone:

- a control group (version 2) that its processes are in has its memory, page cache included;
- its disk has as many dirty pages as Linux lets a machine of that memory have: 20 % of it, half
  of that before writing back begins (vm.dirty_ratio, vm.dirty_background_ratio). The disk's own
  strict limit keeps that. The group's would as well, but counts every 2 s only
  (mm/memcontrol.c, FLUSH_TIME), which stops a small machine's writers for as long;
- rates of reading and writing apart are blk-throttle's for the disk (version 1, at the root, for
  writing back is no process's), because null_blk has one rate only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from wavetank.lab.errors import LabError
from wavetank.lab.guest.disks import BlockDevice
from wavetank.lab.guest.kernel_settings import write_setting
from wavetank.lab.guest.mounts import mount
from wavetank.study.model import Disk

ROOT = Path("/sys/fs/cgroup")
UNIFIED, BLOCK = ROOT / "unified", ROOT / "blkio"
DIRTY_SHARE = 0.2
_DIRTY = Path("/proc/sys/vm")
# As Linux has them, and as a machine is left.
_DIRTY_BY_DEFAULT = {"dirty_background_ratio": "10", "dirty_ratio": "20"}


class ControlGroup:
    """The group at `path`; leaving `limited` removes it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Inside: what is started belongs to the group, with all that it keeps in memory."""
        _move(self.path)
        try:
            yield
        finally:
            _move(UNIFIED)

    def events(self) -> dict[str, int]:
        """How often the limit of memory was met (`max`), what was killed for it (`oom_kill`)."""
        lines = (self.path / "memory.events").read_text().splitlines()
        return {name: int(count) for name, count in (line.split() for line in lines)}


@contextmanager
def limited(
    name: str, memory_bytes: int, device: BlockDevice, disk: Disk
) -> Iterator[ControlGroup]:
    """A group with this memory, the disk with its rates and its share of dirty pages.

    Raises LabError where the kernel has no such thing.
    """
    _mount_groups()
    number = os.stat(device.path).st_rdev
    where = f"{os.major(number)}:{os.minor(number)}"
    group = ControlGroup(UNIFIED / name)
    with ExitStack() as stack:
        group.path.mkdir()
        stack.callback(group.path.rmdir)
        write_setting(group.path / "memory.max", str(memory_bytes))
        for setting, rate in throttle_settings(disk).items():
            stack.callback(write_setting, BLOCK / setting, f"{where} 0")
            write_setting(BLOCK / setting, f"{where} {rate}")
        stack.enter_context(_dirty_limit(where, int(memory_bytes * DIRTY_SHARE)))
        yield group


def throttle_settings(disk: Disk) -> dict[str, int]:
    """The rates by blk-throttle's names, bytes per second; none where the disk has one for both."""
    rates = {"read": disk.read_rate_bytes_per_s, "write": disk.write_rate_bytes_per_s}
    return {
        f"blkio.throttle.{way}_bps_device": rate
        for way, rate in rates.items()
        if rate is not msgspec.UNSET
    }


@contextmanager
def _dirty_limit(where: str, most_bytes: int) -> Iterator[None]:
    """The disk's limit. The kernel keeps it as a share of the whole machine's, which is fixed
    meanwhile: as a ratio it would follow the free memory.
    """
    whole_bytes = _dirty_threshold_pages() * os.sysconf("SC_PAGESIZE")
    try:
        write_setting(_DIRTY / "dirty_background_bytes", str(max(whole_bytes // 2, 8192)))
        write_setting(_DIRTY / "dirty_bytes", str(max(whole_bytes, 16384)))
        bdi = Path("/sys/class/bdi") / where
        write_setting(bdi / "max_bytes", str(min(most_bytes, whole_bytes)))
        write_setting(bdi / "strict_limit", "1")
        yield
    finally:
        for setting, value in _DIRTY_BY_DEFAULT.items():
            write_setting(_DIRTY / setting, value)


def _dirty_threshold_pages() -> int:
    for line in Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("nr_dirty_threshold "):
            return int(line.split()[1])
    raise LabError("the guest kernel does not tell how many pages may be dirty; this is a defect")


def _mount_groups() -> None:
    """Once in a guest. Block I/O is version 1's: in version 2 pages are written back by group."""
    if UNIFIED.exists():
        return
    mount("groups", ROOT, "tmpfs", "mode=0755")
    for path, kind, options in ((UNIFIED, "cgroup2", ""), (BLOCK, "cgroup", "blkio")):
        path.mkdir()
        mount(path.name, path, kind, options)
    write_setting(UNIFIED / "cgroup.subtree_control", "+memory")


def _move(group: Path) -> None:
    write_setting(group / "cgroup.procs", str(os.getpid()))
