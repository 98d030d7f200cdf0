"""`access-unit`: one file that is there already, read or overwritten from end to end by units.

H14 4.2 and 4.3, O15 IV-B: 16 MiB by 4 KiB to 16 MiB (powers of 4), direct, sync and default. The
papers write the file whole once before a write test and read it once before a read test; here it
is written on the server's own side before the client mounts, which leaves the server warm and the
client cold (docs/method/cache-state.md). The time spans open to close, so that what a close must
flush counts; latency of every call stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter, resolve
from wavetank.workloads import files
from wavetank.workloads.job import Access, EngineJob, FileSet, Phase
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


class AccessUnit:
    """The workload's face (`workloads.Workload`)."""

    name = "access-unit"
    summary = "one existing file, read or overwritten whole by units of a given size"
    parameters: tuple[Parameter, ...] = (
        OPERATION,
        msgspec.structs.replace(FILE_SIZE, default="16MiB", summary="size of the file"),
        msgspec.structs.replace(UNIT, default="4KiB"),
        ACCESS,
        VERIFY,
    )

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; raises `UsageError` for what can't be meant."""
        return with_unit(self.name, resolve(self.name, self.parameters, raw))

    def prepare(self, cell: Cell) -> EngineJob:
        """The file, for reading and for overwriting alike."""
        return files.preparation(cell, 1)

    def measure(self, cell: Cell) -> EngineJob:
        """One pass over the file; never created, so a write changes blocks that are there."""
        settings = cell.workload.parameters
        phase = Phase(
            name="measure",
            action="read" if settings["operation"] == "read" else "write",
            access=cast(Access, settings["access"]),
            unit_bytes=whole(settings, "unit_bytes"),
            verify=bool(settings["verify"]),
            timing="call",
        )
        file_size_bytes = whole(settings, "file_size_bytes")
        return EngineJob(
            seed=cell.seed, set=FileSet(files=1, file_size_bytes=file_size_bytes), phases=[phase]
        )

    def footprint_bytes(self, cell: Cell) -> int:
        """Room for the file."""
        return self.whole_set_bytes(cell.workload.parameters)

    def whole_set_bytes(self, settings: Settings) -> int:
        """Room for the file."""
        return set_footprint_bytes(1, whole(settings, "file_size_bytes"))
