"""`random-sequential`: one large file by small chunks, in order or in a seeded permutation.

R04 4.5 and 4.6: 128 MiB by 4 KiB, each chunk once; a read finds the file there, a write begins
with a new and empty one. The file is open before the first chunk; a write's time has its close in
it. R04's writes are not followed by a flush: what an asynchronous write leaves in memory is not
waited for, except where the protocol itself flushes at close (NFS). `flush=yes` ends with fsync(2):
all data on the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

import msgspec

from wavetank import quantity
from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter, one_of, resolve
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


class RandomSequential:
    """The workload's face (`workloads.Workload`)."""

    name = "random-sequential"
    summary = "one large file by small chunks, in order or in a random permutation"
    parameters: tuple[Parameter, ...] = (
        OPERATION,
        Parameter(
            "order",
            "order",
            "sequential",
            one_of("sequential", "random"),
            "chunks in order, or each once in an order drawn from the seed",
        ),
        msgspec.structs.replace(FILE_SIZE, default="128MiB", summary="size of the file"),
        msgspec.structs.replace(UNIT, default="4KiB"),
        msgspec.structs.replace(ACCESS, default="default"),
        Parameter(
            "flush", "flush", "no", quantity.parse_yes, "end a write with fsync, and count it"
        ),
        VERIFY,
    )

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; raises `UsageError` for what can't be meant."""
        settings = with_unit(self.name, resolve(self.name, self.parameters, raw))
        # A read has nothing to flush: a grid over both operations runs it once.
        return {**settings, "flush": settings["flush"] and settings["operation"] == "write"}

    def prepare(self, cell: Cell) -> EngineJob | None:
        """The file that a reading trial needs."""
        if cell.workload.parameters["operation"] == "write":
            return None
        return files.preparation(cell, 1)

    def measure(self, cell: Cell) -> EngineJob:
        """Every chunk of the file once."""
        settings = cell.workload.parameters
        reading = settings["operation"] == "read"
        phase = Phase(
            name="measure",
            action="read" if reading else "write",
            item="access",
            access=cast(Access, settings["access"]),
            unit_bytes=whole(settings, "unit_bytes"),
            order=cast(Literal["sequential", "random"], settings["order"]),
            create=not reading,
            fsync=bool(settings["flush"]),
            verify=bool(settings["verify"]),
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
