"""The load engine's job, version 1: what `wavetank-load` reads as JSON on its standard input.

File i of the set lies at ROOT/dDDDDD/fFFFFFF (D = i // files_per_directory, F = i).
Item `file` is one whole file from open to close, item `access` one access unit within the set.
The engine refuses fields it does not know, so these names and crates/load agree exactly.
"""

from __future__ import annotations

from typing import Literal

import msgspec

JOB_SCHEMA_VERSION = 1
FILES_PER_DIRECTORY = 4096

Access = Literal["default", "direct", "sync"]


class FileSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Files of one size, their content drawn from the job's seed."""

    files: int
    file_size_bytes: int
    files_per_directory: int = FILES_PER_DIRECTORY


class Phase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pass of `threads` workers until `duration_ns`, `max_items` or the set's end.

    `rate_per_s`: items per second of an open loop, latency from the intended start; None is a
    closed loop. `create`: the files are made, not overwritten. `timing`: what one latency spans.
    """

    name: str
    action: Literal["write", "read", "delete"]
    item: Literal["file", "access"] = "file"
    access: Access = "default"
    unit_bytes: int
    order: Literal["sequential", "random"] = "sequential"
    threads: int = 1
    duration_ns: int | None = None
    max_items: int | None = None
    create: bool = False
    fsync: bool = False
    rate_per_s: float | None = None
    verify: bool = False
    timing: Literal["item", "call"] = "item"


class EngineJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All phases of one run of the engine. `root` is empty until the guest fills it in."""

    seed: int
    set: FileSet
    phases: list[Phase]
    backend: Literal["posix", "null"] = "posix"
    root: str = ""
    schema: int = JOB_SCHEMA_VERSION
