"""The storage systems: one file each, from settings to what a workload can use.

Most make a directory (`FileSystem`); object storage without a mount yields an address
(`ObjectStore`). A new system is one new file with an object of one of these faces, named in
`_FILE_SYSTEMS` or `_OBJECT_STORES`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol

from wavetank.errors import UsageError
from wavetank.study import parameters
from wavetank.study.model import Settings
from wavetank.study.names import either
from wavetank.study.parameters import Parameter
from wavetank.systems import s3, swift
from wavetank.systems.bed import Bed
from wavetank.systems.endpoint import Endpoint, Selective
from wavetank.systems.iscsi import ISCSI
from wavetank.systems.local import LOCAL
from wavetank.systems.native import Native, Put
from wavetank.systems.nfs import NFS_SYSTEMS
from wavetank.systems.nvme import NVME
from wavetank.systems.object_mounts import mounts_of

Serves = Literal["files", "objects"]


class System(Protocol):
    """What all storage systems have. `programs` are what must be installed in the guest's view."""

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


class FileSystem(System, Protocol):
    """A system whose client has a directory."""

    def up(self, bed: Bed, settings: Settings) -> AbstractContextManager[Path]:
        """Runs in the guest: the system filled and mounted; yields the mounted directory.

        Leaving takes everything down again. Raises LabError or OSError saying what failed.
        """


class ObjectStore(System, Protocol):
    """A system whose client has an address to speak to."""

    def serving(self, bed: Bed, settings: Settings, put: Put) -> AbstractContextManager[Endpoint]:
        """Runs in the guest: the server up, with what `put` puts there; yields its address.

        Leaving takes everything down again. Raises LabError or OSError saying what failed.
        """


_FILE_SYSTEMS: tuple[FileSystem, ...] = (
    LOCAL,
    *NFS_SYSTEMS,
    ISCSI,
    NVME,
    *mounts_of(s3.SERVER, "s3fs", "rclone", "juicefs"),
    *mounts_of(swift.SERVER, "rclone", "juicefs"),
)
_OBJECT_STORES: tuple[ObjectStore, ...] = (Native(s3.SERVER), Native(swift.SERVER))


def names() -> list[str]:
    """Every system's name."""
    return [system.name for system in (*_FILE_SYSTEMS, *_OBJECT_STORES)]


def get(name: str) -> System:
    """The system of this name, or UsageError with the nearest."""
    for system in (*_FILE_SYSTEMS, *_OBJECT_STORES):
        if system.name == name:
            return system
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}."
    raise UsageError(f"no system is called '{name}'; {meant}")


def serves(name: str) -> Serves:
    """What a workload finds there; UsageError for a name that nothing has."""
    get(name)
    return "objects" if any(one.name == name for one in _OBJECT_STORES) else "files"


def file_system(name: str) -> FileSystem:
    """The system of this name, which has a directory; UsageError where it has none."""
    for system in _FILE_SYSTEMS:
        if system.name == name:
            return system
    raise UsageError(
        f"{get(name).name} is object storage without a mount: there is no directory to work in; "
        f"{mounts_text(name)}"
    )


def object_store(name: str) -> ObjectStore:
    """The system of this name, which speaks REST; UsageError where it does not."""
    for system in _OBJECT_STORES:
        if system.name == name:
            return system
    raise UsageError(
        f"{get(name).name} has a directory and no address for REST; take {names_of('objects')}."
    )


def names_of(kind: Serves) -> str:
    """The systems that serve this, in words."""
    systems: tuple[System, ...] = _OBJECT_STORES if kind == "objects" else _FILE_SYSTEMS
    return either(system.name for system in systems)


def mounts_text(name: str) -> str:
    """`take a mount of it: s3+s3fs or s3+rclone.`"""
    mounts = [one.name for one in _FILE_SYSTEMS if one.name.startswith(f"{name}+")]
    return f"take a mount of it: {either(mounts)}."


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
