"""`object`: requests to object storage by REST, one size, by 1 to 64 and more connections.

C16 III and IV-A: PUT and GET of 1 KiB to 16 MiB (64 MiB once) by 1 to 64 in parallel, at least
60 s. A put writes a new key each time; get and head take the objects that are there in a random
order, again and again; delete takes each once; list asks for the prefix's pages. A mix draws each
request by weight, and deletes only what it wrote itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast, get_args

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter, one_of, resolve
from wavetank.systems.endpoint import Dialect
from wavetank.workloads.object_job import Action, ObjectJob, ObjectPhase, ObjectSet, Request
from wavetank.workloads.object_parameters import (
    DURATION,
    PARALLEL,
    SET_SIZE,
    SIZE,
    VERIFY,
    request_rate,
    require_room,
)
from wavetank.workloads.object_set import objects_word, standing_objects, written_objects
from wavetank.workloads.parameters import whole
from wavetank.workloads.reach import set_footprint_bytes

_READS = ("get", "head", "list")
_MIX_BY_DEFAULT = "get:70,put:30"
_MOST_WEIGHT = 1_000_000


def _mix(text: str) -> str:
    """`get:70,put:30` in the engine's order."""
    weights = _weights(text)
    return ",".join(f"{name}:{weights[name]}" for name in get_args(Request) if name in weights)


def _weights(text: str) -> dict[Request, int]:
    weights: dict[Request, int] = {}
    for part in text.split(","):
        name, _, weight = part.strip().partition(":")
        if name not in get_args(Request) or not weight.isdecimal() or name in weights:
            raise UsageError(
                f"'{text}' is not a mix; write each request once with its weight: get:70,put:30 "
                f"(of {', '.join(get_args(Request))})."
            )
        weights[cast(Request, name)] = int(weight)
    if not 0 < sum(weights.values()) <= _MOST_WEIGHT:
        raise UsageError(f"'{text}': the weights must add up to 1 to {_MOST_WEIGHT}.")
    return {name: weight for name, weight in weights.items() if weight}


def _page(text: str) -> int:
    return quantity.parse_count(text, 1)


class ObjectRequests:
    """The workload's face (`workloads.ObjectWorkload`)."""

    name = "object"
    summary = "requests to object storage by REST: put, get, head, delete, list and mixes"
    operations: tuple[str, ...] = ("put", "get")
    parameters: tuple[Parameter, ...] = (
        Parameter("operation", "operation", "get", one_of(*get_args(Action)), "what is asked for"),
        SIZE,
        PARALLEL,
        Parameter(
            "objects",
            "objects",
            "256",
            objects_word,
            "there before for get, head, delete, list, mix; c16: as its table III",
        ),
        SET_SIZE,
        DURATION,
        Parameter("rate", "rate_per_s", "0", request_rate, "requests per second offered"),
        Parameter("mix", "mix", _MIX_BY_DEFAULT, _mix, "weights of a mix: get:70,put:30"),
        Parameter("page", "page_limit", "1000", _page, "entries of a list's page"),
        VERIFY,
    )

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; raises `UsageError` for what can't be meant."""
        settings = resolve(self.name, self.parameters, raw)
        require_room(self.name, settings)
        return settings

    def check(self, dialect: Dialect, settings: Settings) -> None:
        """Every combination goes."""

    def prepare(self, cell: Cell) -> ObjectJob | None:
        """The objects that are there before, or None for a put."""
        if cell.workload.parameters["operation"] == "put":
            return None
        phase = ObjectPhase(name="prepare", action="put")
        return ObjectJob(seed=cell.seed, set=self._set(cell), phases=[phase])

    def measure(self, cell: Cell) -> ObjectJob:
        """One phase, until the duration ends, or the set."""
        settings = cell.workload.parameters
        operation = cast(Action, settings["operation"])
        mix = _weights(str(settings["mix"])) if operation == "mix" else {}
        asked = {operation, *mix}
        phase = ObjectPhase(
            name="measure",
            action=operation,
            mix=mix,
            order="random" if operation in ("get", "head", "mix") else "sequential",
            threads=whole(settings, "parallel"),
            duration_ns=whole(settings, "duration_ns"),
            repeat=operation in (*_READS, "mix"),
            rate_per_s=float(settings["rate_per_s"]) or None,
            verify=bool(settings["verify"]) and "get" in asked,
            page_limit=whole(settings, "page_limit") if "list" in asked else None,
        )
        return ObjectJob(seed=cell.seed, set=self._set(cell), phases=[phase])

    def footprint_bytes(self, cell: Cell) -> int:
        """Room for what is there before and for what is written."""
        settings = cell.workload.parameters
        operation, size_bytes = settings["operation"], whole(settings, "object_size_bytes")
        count = 0 if operation == "put" else standing_objects(cell)
        count += written_objects(cell) if operation in ("put", "mix") else 0
        return set_footprint_bytes(count, size_bytes)

    def whole_set_bytes(self, settings: Settings) -> int:
        """Room for all the bytes that a trial may store, a mix's both times."""
        size_bytes = whole(settings, "object_size_bytes")
        held = max(1, whole(settings, "set_bytes") // size_bytes)
        return set_footprint_bytes(2 * held, size_bytes)

    def _set(self, cell: Cell) -> ObjectSet:
        settings = cell.workload.parameters
        puts = settings["operation"] == "put"
        return ObjectSet(
            objects=written_objects(cell) if puts else standing_objects(cell),
            object_size_bytes=whole(settings, "object_size_bytes"),
        )
