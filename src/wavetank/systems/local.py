"""`local`: a file system on the modelled disk, no network: the papers' DAS baseline (H14 app. B).

Client and server are one machine with one cache, and the papers drop the client's before each
round: unless the state is warm, the set is read from the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems import filesystem
from wavetank.systems.bed import CLIENT_ROOT, SERVER_ROOT, Bed


class Local(msgspec.Struct, frozen=True):
    """The system's face (`systems.System`)."""

    name: str = "local"
    summary: str = "a file system on the modelled disk, no network: the baseline"
    parameters: tuple[Parameter, ...] = (filesystem.PARAMETER,)
    programs: tuple[str, ...] = ("mkfs.ext4",)
    needs_network: bool = False

    def server_caches(self, _settings: Settings, /) -> bool:
        """There is no server."""
        return False

    def check(self, settings: Settings) -> None:
        """Every file system goes."""

    @contextmanager
    def up(self, bed: Bed, settings: Settings) -> Iterator[Path]:
        """Filled, then mounted afresh, so that nothing is cached."""
        kind, device = str(settings["fs"]), bed.device.path
        filesystem.make(kind, device)
        with filesystem.mounted(kind, device, SERVER_ROOT) as directory:
            bed.fill(directory)
        with filesystem.mounted(kind, device, CLIENT_ROOT) as directory:
            yield directory


LOCAL = Local()
