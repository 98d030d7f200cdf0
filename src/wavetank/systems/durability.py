"""How far an object has got when the server says that it has it: probed, not believed.

A few small objects are put one after another; then the journal of the server's file system says
how many commits were asked for meanwhile (fsync asks for one, writing back in the background
does not), and the disk, where it counts, how much was written and flushed. Servers that answer
from memory are several times faster on small objects than servers that wait for the disk, and
that is no merit of their protocol: the class is printed with every result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from wavetank.lab.guest.disks import BlockDevice

PROBES = 4
PROBE_BYTES = 4096

Class = Literal["each-object", "some", "none", "unknown"]


class Counts(msgspec.Struct, frozen=True):
    """Since the file system was mounted: commits of the journal that somebody waited for, and
    bytes that reached the disk. None where it is not told.
    """

    commits: int | None
    written_bytes: int

    @classmethod
    def of(cls, device: BlockDevice) -> Counts:
        """Now. ext4's journal tells (fs/jbd2/journal.c, jbd2_seq_info_show); xfs's does not."""
        name = device.path.removeprefix("/dev/")
        commits = None
        for info in sorted(Path("/proc/fs/jbd2").glob(f"{name}-*/info")):
            found = re.search(r"\((\d+) requested\)", info.read_text())
            commits = int(found[1]) if found else None
        return cls(commits, device.traffic()[1])


def classify(before: Counts, after: Counts, objects: int) -> Class:
    """What the counts say of `objects` objects put one after another."""
    if before.commits is None or after.commits is None:
        # Content on the disk at once is a sign as well, where the disk counts.
        written = after.written_bytes - before.written_bytes
        return "each-object" if written >= objects * PROBE_BYTES else "unknown"
    commits = after.commits - before.commits
    if commits >= objects:
        return "each-object"
    return "some" if commits else "none"


def probe(device: BlockDevice, put: Callable[[str, bytes], None]) -> dict[str, str]:
    """The class and the counts behind it, for the trial's `effective` settings. `put` stores one
    object and returns when the server has answered.
    """
    # The first object may make directories, databases, a journal's first transaction.
    put("probe-first", bytes(PROBE_BYTES))
    before = Counts.of(device)
    for number in range(PROBES):
        put(f"probe-{number}", bytes(PROBE_BYTES))
    after = Counts.of(device)
    commits = "not told"
    if before.commits is not None and after.commits is not None:
        commits = str(after.commits - before.commits)
    return {
        "durability": classify(before, after, PROBES),
        "durability_probe_objects": str(PROBES),
        "durability_probe_commits": commits,
        "durability_probe_written_bytes": str(after.written_bytes - before.written_bytes),
    }
