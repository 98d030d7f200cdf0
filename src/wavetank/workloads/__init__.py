"""What is done to a storage system: one file per workload, from a cell to jobs for the engine.

A new workload is one new file with a class of the face below, named in `_ALL`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Protocol

from wavetank.errors import UsageError
from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter
from wavetank.workloads.access_unit import AccessUnit
from wavetank.workloads.batch import Batch
from wavetank.workloads.job import EngineJob
from wavetank.workloads.random_sequential import RandomSequential
from wavetank.workloads.single_file import SingleFile


class Workload(Protocol):
    """The face of a workload."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; `UsageError` in one sentence for what can't be."""

    def prepare(self, cell: Cell) -> EngineJob | None:
        """What must lie on the server before the client mounts, or None. No network is used."""

    def measure(self, cell: Cell) -> EngineJob:
        """What is measured; its `root` is filled in where the system is mounted."""

    def footprint_bytes(self, cell: Cell) -> int:
        """What a trial puts on the disk at most, blocks, inodes and names included."""

    def whole_set_bytes(self, settings: Settings) -> int:
        """The same for the whole set, whatever the path lets a trial reach: sizes the disk, so
        that systems and networks are compared on equal disks.
        """


_ALL: tuple[Workload, ...] = (SingleFile(), Batch(), AccessUnit(), RandomSequential())


def names() -> list[str]:
    """Every workload's name."""
    return [workload.name for workload in _ALL]


def get(name: str) -> Workload:
    """The workload of this name, or `UsageError` with the nearest."""
    for workload in _ALL:
        if workload.name == name:
            return workload
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}."
    raise UsageError(f"no workload is called '{name}'; {meant}")
