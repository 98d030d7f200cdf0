"""The load engine's job on objects, version 1; crates/load/src/object/job.rs has it with examples.

Object i has the key PREFIX and i in eight digits; a mix writes under PREFIX and `m`. What is not
said is the engine's default. No credentials stand in a job: `credentials_file` names where they
are, and without it they are in the engine's environment.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wavetank.systems.endpoint import Dialect
from wavetank.workloads.job import JOB_SCHEMA_VERSION

Request = Literal["put", "get", "head", "delete", "list"]
Action = Literal["put", "get", "head", "delete", "list", "mix"]


class Store(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Where the objects are. `prefix` ends with `/`. `fresh`: refuse a prefix that is in use.
    `clear`: before that, remove what killed runs of bench left there.
    """

    protocol: Dialect
    endpoint: str
    container: str
    prefix: str
    region: str | None = None
    style: Literal["path", "virtual-host"] = "path"
    auth: Literal["v1", "v3"] = "v1"
    storage_url: str | None = None
    credentials_file: str | None = None
    ca_file: str | None = None
    fresh: bool = False
    clear: bool = False
    connect_timeout_ns: int | None = None
    silence_timeout_ns: int | None = None
    request_timeout_ns: int | None = None
    retries: int | None = None


class ObjectSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Objects of one size, their content drawn from the job's seed."""

    objects: int
    object_size_bytes: int


class Local(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The client's own storage: object i is put from file i of `directory`; what is got takes
    `files` names of it in turn.
    """

    directory: str
    files: int


class ObjectPhase(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One pass of `threads` workers, each with a connection, until `duration_ns`, `max_items` or
    the set ends. `repeat`: the set begins again when it is through. `part_bytes`: each object moves
    in parts of this size, `part_threads` of them at once. `local`: where the client keeps what it
    puts or gets, None for its memory.
    """

    name: str
    action: Action
    mix: dict[Request, int] = {}
    order: Literal["sequential", "random"] = "sequential"
    threads: int = 1
    duration_ns: int | None = None
    max_items: int | None = None
    repeat: bool = False
    rate_per_s: float | None = None
    verify: bool = False
    part_bytes: int | None = None
    part_threads: int = 1
    page_limit: int | None = None
    local: Local | None = None


class ObjectJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All phases of one run of the engine. `object` is None until the server is up."""

    seed: int
    set: ObjectSet
    phases: list[ObjectPhase]
    object: Store | None = None
    backend: Literal["object"] = "object"
    schema: int = JOB_SCHEMA_VERSION
