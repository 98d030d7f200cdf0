"""What a system is given to stand on: one trial's path, disk, and the set it is to hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from wavetank.lab.guest.disks import BlockDevice
from wavetank.lab.guest.topology import Topology
from wavetank.study.model import CacheState

SERVER_ROOT = Path("/srv/wavetank")
CLIENT_ROOT = Path("/mnt/target")


class Bed(msgspec.Struct, frozen=True):
    """One trial's surroundings. `fill` puts the set a read needs into a directory. What a system
    finds out about itself it writes into `notes`: they become the trial's `effective` settings.
    """

    topology: Topology
    device: BlockDevice
    fill: Callable[[Path], None]
    cache_state: CacheState
    notes: dict[str, str] = {}

    @property
    def server_is_warm(self) -> bool:
        """Whether the server is to hold the set in memory when the measurement begins."""
        return self.cache_state != "cold"
