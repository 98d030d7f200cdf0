"""What is done to a storage system: one file per workload, from a cell to jobs for the engine.

Some work on files, some on objects by REST. A new workload is one new file with a class of one of
the faces below, named in `_ALL` or in `_ON_OBJECTS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Protocol

from wavetank.errors import UsageError
from wavetank.study.model import Cell, Settings
from wavetank.study.names import either
from wavetank.study.parameters import Parameter
from wavetank.systems import Serves
from wavetank.systems.endpoint import Dialect
from wavetank.workloads.access_unit import AccessUnit
from wavetank.workloads.batch import Batch
from wavetank.workloads.chunking import Chunking
from wavetank.workloads.job import EngineJob
from wavetank.workloads.object import ObjectRequests
from wavetank.workloads.object_job import ObjectJob
from wavetank.workloads.random_sequential import RandomSequential
from wavetank.workloads.single_file import SingleFile


class Workload(Protocol):
    """What all workloads have."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; `UsageError` in one sentence for what can't be."""

    def footprint_bytes(self, cell: Cell) -> int:
        """What a trial puts on the disk at most, blocks, inodes and names included."""

    def whole_set_bytes(self, settings: Settings) -> int:
        """The same for the whole set, whatever the path lets a trial reach: sizes the disk, so
        that systems and networks are compared on equal disks.
        """


class FileWorkload(Workload, Protocol):
    """Works in a directory."""

    def prepare(self, cell: Cell) -> EngineJob | None:
        """What must lie on the server before the client mounts, or None. No network is used."""

    def measure(self, cell: Cell) -> EngineJob:
        """What is measured; its `root` is filled in where the system is mounted."""


class ObjectWorkload(Workload, Protocol):
    """Speaks to object storage. `operations`: what is done where nothing is said."""

    operations: tuple[str, ...]

    def check(self, dialect: Dialect, settings: Settings) -> None:
        """Raises UsageError for what this protocol does not have."""

    def prepare(self, cell: Cell) -> ObjectJob | None:
        """The objects that must be there before, or None. No network is used."""

    def measure(self, cell: Cell) -> ObjectJob:
        """What is measured; its `object` is filled in where the server is up."""


_ALL: tuple[FileWorkload, ...] = (SingleFile(), Batch(), AccessUnit(), RandomSequential())
_ON_OBJECTS: tuple[ObjectWorkload, ...] = (ObjectRequests(), Chunking())


def names() -> list[str]:
    """Every workload's name."""
    return [workload.name for workload in (*_ALL, *_ON_OBJECTS)]


def get(name: str) -> Workload:
    """The workload of this name, or `UsageError` with the nearest."""
    for workload in (*_ALL, *_ON_OBJECTS):
        if workload.name == name:
            return workload
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}."
    raise UsageError(f"no workload is called '{name}'; {meant}")


def works_on(name: str) -> Serves:
    """What the workload needs of a system; UsageError for a name that nothing has."""
    get(name)
    return "objects" if any(one.name == name for one in _ON_OBJECTS) else "files"


def on_files(name: str) -> FileWorkload:
    """The workload of this name, which works on files; UsageError where it does not."""
    for workload in _ALL:
        if workload.name == name:
            return workload
    raise UsageError(f"{get(name).name} works on objects; take {names_of('files')}.")


def on_objects(name: str) -> ObjectWorkload:
    """The workload of this name, which works on objects; UsageError where it does not."""
    for workload in _ON_OBJECTS:
        if workload.name == name:
            return workload
    raise UsageError(f"{get(name).name} works on files; take {names_of('objects')}.")


def names_of(kind: Serves) -> str:
    """The workloads on this, in words."""
    workloads: tuple[Workload, ...] = _ON_OBJECTS if kind == "objects" else _ALL
    return either(workload.name for workload in workloads)
