"""The jobs that every workload of whole files shares: making a set, and passing over it."""

from __future__ import annotations

from typing import cast

from wavetank.study.model import Cell
from wavetank.workloads.job import Access, EngineJob, FileSet, Phase
from wavetank.workloads.parameters import whole

PREPARE_UNIT_BYTES = 4 * 2**20


def preparation(cell: Cell, files: int) -> EngineJob:
    """Create `files` files where the server keeps them, in as few calls as memory allows."""
    size_bytes = whole(cell.workload.parameters, "file_size_bytes")
    phase = Phase(
        name="prepare",
        action="write",
        unit_bytes=min(size_bytes, PREPARE_UNIT_BYTES),
        create=True,
    )
    return EngineJob(
        seed=cell.seed, set=FileSet(files=files, file_size_bytes=size_bytes), phases=[phase]
    )


def measurement(
    cell: Cell,
    files: int,
    *,
    threads: int = 1,
    duration_ns: int | None = None,
    rate_per_s: float | None = None,
) -> EngineJob:
    """Read or create each file once, in order; one latency spans open to close."""
    settings = cell.workload.parameters
    size_bytes = whole(settings, "file_size_bytes")
    reading = settings["operation"] == "read"
    phase = Phase(
        name="measure",
        action="read" if reading else "write",
        access=cast(Access, settings["access"]),
        unit_bytes=whole(settings, "unit_bytes"),
        threads=threads,
        duration_ns=duration_ns,
        create=not reading,
        rate_per_s=rate_per_s,
        verify=bool(settings["verify"]),
    )
    return EngineJob(
        seed=cell.seed, set=FileSet(files=files, file_size_bytes=size_bytes), phases=[phase]
    )
