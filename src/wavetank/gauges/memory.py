"""The guest's page cache: how much it holds, and how it is emptied."""

from __future__ import annotations

import os
from pathlib import Path

from wavetank.lab.guest.kernel_settings import write_setting

_PAGE_CACHE = ("Buffers:", "Cached:")


def cached_bytes() -> int:
    """Pages of files and of block devices in memory, of client and server together: one kernel has
    one page cache. A block target's warm server shows as the latter (`Buffers`).
    """
    lines = Path("/proc/meminfo").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(_PAGE_CACHE))


def drop_caches() -> None:
    """Writes back and forgets every clean page, directory entry and inode (H14 listing 4.1)."""
    os.sync()
    write_setting("/proc/sys/vm/drop_caches", "3")
