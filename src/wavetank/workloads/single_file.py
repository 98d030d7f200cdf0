"""`single-file`: one file, opened, read or created, closed: once.

H14 4.4, O15 IV-C: 4 KiB to 64 MiB, the access unit as large as the file, direct and sync.
"""

from __future__ import annotations

from collections.abc import Mapping

from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter, resolve
from wavetank.workloads import files
from wavetank.workloads.job import EngineJob
from wavetank.workloads.parameters import (
    ACCESS,
    FILE_SIZE,
    OPERATION,
    UNIT,
    VERIFY,
    whole,
    with_unit,
)
from wavetank.workloads.reach import set_footprint_bytes


class SingleFile:
    """The workload's face (`workloads.Workload`)."""

    name = "single-file"
    summary = "one file of a given size, read or created once"
    parameters: tuple[Parameter, ...] = (OPERATION, FILE_SIZE, ACCESS, UNIT, VERIFY)

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; raises `UsageError` for what can't be meant."""
        return with_unit(self.name, resolve(self.name, self.parameters, raw))

    def prepare(self, cell: Cell) -> EngineJob | None:
        """The file that a reading trial needs."""
        if cell.workload.parameters["operation"] == "write":
            return None
        return files.preparation(cell, 1)

    def measure(self, cell: Cell) -> EngineJob:
        """The one file, however long it takes."""
        return files.measurement(cell, 1)

    def footprint_bytes(self, cell: Cell) -> int:
        """Room for the file."""
        return self.whole_set_bytes(cell.workload.parameters)

    def whole_set_bytes(self, settings: Settings) -> int:
        """Room for the file."""
        return set_footprint_bytes(1, whole(settings, "file_size_bytes"))
