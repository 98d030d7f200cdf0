"""The storage systems: one file each, from settings to a directory the workload can use.

A new system is one new file with an object of the face `System`, named in `_ALL`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from wavetank.errors import UsageError
from wavetank.study import parameters
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems import s3, swift
from wavetank.systems.bed import Bed
from wavetank.systems.endpoint import ObjectServer, Selective
from wavetank.systems.iscsi import ISCSI
from wavetank.systems.local import LOCAL
from wavetank.systems.nfs import NFS_SYSTEMS
from wavetank.systems.nvme import NVME
from wavetank.systems.object_mounts import mounts_of


class System(Protocol):
    """The face of a storage system. `programs` are what must be installed in the guest's view."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def summary(self) -> str:
        """One line for `wavetank list systems`."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its settings."""

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs of the distribution it is made of."""

    @property
    def needs_network(self) -> bool:
        """Whether data crosses the path."""

    def server_caches(self, settings: Settings, /) -> bool:
        """Whether a server stands between client and disk whose memory can hold the set."""

    def check(self, settings: Settings) -> None:
        """Raises UsageError for settings that can't go together."""

    def up(self, bed: Bed, settings: Settings) -> AbstractContextManager[Path]:
        """Runs in the guest: the system filled and mounted; yields the mounted directory.

        Leaving takes everything down again. Raises LabError or OSError saying what failed.
        """


_ALL: tuple[System, ...] = (
    LOCAL,
    *NFS_SYSTEMS,
    ISCSI,
    NVME,
    *mounts_of(s3.SERVER, "s3fs", "rclone"),
    *mounts_of(swift.SERVER, "rclone"),
)


def names() -> list[str]:
    """Every system's name."""
    return [system.name for system in _ALL]


def get(name: str) -> System:
    """The system of this name, or UsageError with the nearest."""
    for system in _ALL:
        if system.name == name:
            return system
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}."
    raise UsageError(f"no system is called '{name}'; {meant}")


def summary(name: str) -> str:
    """One line about the system."""
    return get(name).summary


def resolve(name: str, raw: Mapping[str, str]) -> Settings:
    """All settings of a system with their defaults; UsageError in one sentence."""
    system = get(name)
    settings = parameters.resolve(name, system.parameters, raw)
    system.check(settings)
    return settings


def needs_network(name: str) -> bool:
    """Whether the system's data crosses the path."""
    return get(name).needs_network


def programs_for(name: str, settings: Settings) -> tuple[str, ...]:
    """The programs that a system with these settings is made of."""
    system = get(name)
    return system.programs_for(settings) if isinstance(system, Selective) else system.programs


# Spoken to as they are, by REST, and no directory: the same servers stand below the mounts.
OBJECT_SERVERS: dict[str, ObjectServer] = {
    server.name: server for server in (s3.SERVER, swift.SERVER)
}
