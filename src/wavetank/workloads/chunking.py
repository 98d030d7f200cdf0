"""`chunking`: objects moved in equal parts, all parts of one object at once.

C16 IV-A3 (fig. 6) moves 4 MiB as k requests in parallel. Here a put is S3's multipart upload, or
Swift's segments and their manifest, and a get is k ranges; one object after another, each timed
from its first request to its last. S3 takes no part below 5 MiB but the last: smaller chunks are
objects of their own there, as in the paper (`workload object` with that size and parallelism).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter, one_of, resolve
from wavetank.systems.endpoint import Dialect
from wavetank.workloads.object_job import Action, ObjectJob, ObjectPhase, ObjectSet
from wavetank.workloads.object_parameters import (
    DURATION,
    MOST_PARALLEL,
    SET_SIZE,
    SIZE,
    VERIFY,
    require_room,
)
from wavetank.workloads.object_set import standing_objects, written_objects
from wavetank.workloads.parameters import whole
from wavetank.workloads.reach import set_footprint_bytes

# Amazon S3's limit ("Multipart upload limits"), which other servers keep too.
LEAST_S3_PART_BYTES = 5 << 20
STANDING_OBJECTS = 8


def _parts(text: str) -> int:
    count = quantity.parse_count(text, 1)
    if count > MOST_PARALLEL:
        raise UsageError(f"'{text}' is more than {MOST_PARALLEL} parts at once; take fewer.")
    return count


class Chunking:
    """The workload's face (`workloads.ObjectWorkload`)."""

    name = "chunking"
    summary = "objects moved in equal parts, all parts of one at once: multipart, segments, ranges"
    operations: tuple[str, ...] = ("put", "get")
    parameters: tuple[Parameter, ...] = (
        Parameter("operation", "operation", "get", one_of("put", "get"), "upload or ranges"),
        msgspec.structs.replace(SIZE, default="4MiB"),
        Parameter("parts", "parts", "4", _parts, "parts of an object, all in flight at once"),
        SET_SIZE,
        DURATION,
        VERIFY,
    )

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; raises `UsageError` for what can't be meant."""
        settings = resolve(self.name, self.parameters, raw)
        parts, size_bytes = whole(settings, "parts"), whole(settings, "object_size_bytes")
        if parts > size_bytes:
            raise UsageError(
                f"{self.name}: {quantity.size_text(size_bytes)} can't be cut into {parts} parts; "
                "take fewer."
            )
        require_room(self.name, _alone(settings))
        return settings

    def check(self, dialect: Dialect, settings: Settings) -> None:
        """UsageError where S3 would refuse the parts."""
        parts, part_bytes = whole(settings, "parts"), _part_bytes(settings)
        uploads = dialect == "s3" and settings["operation"] == "put" and parts > 1
        if uploads and part_bytes < LEAST_S3_PART_BYTES:
            whole_text = quantity.size_text(whole(settings, "object_size_bytes"))
            raise UsageError(
                f"{self.name}: S3 takes no part below 5MiB, and {whole_text} in {parts} parts has "
                f"parts of {quantity.size_text(part_bytes)}; take fewer parts, operation get, or "
                f"workload object with --size {quantity.size_text(part_bytes)} --parallel {parts}."
            )

    def prepare(self, cell: Cell) -> ObjectJob | None:
        """Whole objects to read ranges of; None for a put."""
        if cell.workload.parameters["operation"] == "put":
            return None
        phase = ObjectPhase(name="prepare", action="put")
        return ObjectJob(seed=cell.seed, set=_set(cell), phases=[phase])

    def measure(self, cell: Cell) -> ObjectJob:
        """One object after another until the duration ends, or the set."""
        settings = cell.workload.parameters
        operation = cast(Action, settings["operation"])
        phase = ObjectPhase(
            name="measure",
            action=operation,
            duration_ns=whole(settings, "duration_ns"),
            repeat=operation == "get",
            verify=bool(settings["verify"]) and operation == "get",
            part_bytes=_part_bytes(settings),
            part_threads=whole(settings, "parts"),
        )
        return ObjectJob(seed=cell.seed, set=_set(cell), phases=[phase])

    def footprint_bytes(self, cell: Cell) -> int:
        """Room for the set, parts and joined object both."""
        found = _set(cell)
        return set_footprint_bytes(2 * found.objects, found.object_size_bytes)

    def whole_set_bytes(self, settings: Settings) -> int:
        """Room for all the bytes that a trial may store, parts and joined object both."""
        size_bytes = whole(settings, "object_size_bytes")
        held = max(1, whole(settings, "set_bytes") // size_bytes)
        return set_footprint_bytes(2 * held, size_bytes)


def _part_bytes(settings: Settings) -> int:
    return -(-whole(settings, "object_size_bytes") // whole(settings, "parts"))


def _alone(settings: Settings) -> Settings:
    """As the rules of sets see it: one object at a time, a few to go round."""
    return {**settings, "parallel": 1, "objects": STANDING_OBJECTS}


def _set(cell: Cell) -> ObjectSet:
    settings = cell.workload.parameters
    work = msgspec.structs.replace(cell.workload, parameters=_alone(settings))
    alone = msgspec.structs.replace(cell, workload=work)
    puts = settings["operation"] == "put"
    return ObjectSet(
        objects=written_objects(alone) if puts else standing_objects(alone),
        object_size_bytes=whole(settings, "object_size_bytes"),
    )
