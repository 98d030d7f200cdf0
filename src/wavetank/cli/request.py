"""From the words of `wavetank compare` to a request, and back to the command that repeats it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from wavetank import quantity
from wavetank.cli.grid import grid_of
from wavetank.conduct.planning import Request
from wavetank.study.model import CacheState, Clock


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `compare` that decide what is measured. `grid`: parameter to its texts."""

    systems: str
    networks: str
    workload: str
    disk: str
    cache_state: CacheState
    clock: Clock
    seed: int
    repeats: int
    syscall_cost: str
    trial_deadline: str
    packet_digest: bool
    grid: Mapping[str, str | None]
    client_disk: str = ""
    client_memory: str = ""


DEFAULTS = Words(
    systems="",
    networks="",
    workload="batch",
    disk="ssd",
    cache_state="cold-client-warm-server",
    clock="virtual",
    seed=1,
    repeats=1,
    syscall_cost="0",
    trial_deadline="15m",
    packet_digest=False,
    grid={},
)


def request_of(words: Words) -> Request:
    """The request; raises `UsageError` for a quantity that can't be read."""
    return Request(
        systems=quantity.parse_list(words.systems) if words.systems else [],
        networks=quantity.parse_list(words.networks) if words.networks else [],
        workload=words.workload,
        parameters=grid_of(words.grid),
        disk=words.disk,
        client_disks=quantity.parse_list(words.client_disk) if words.client_disk else [],
        client_memory=quantity.parse_list(words.client_memory) if words.client_memory else [],
        clock=words.clock,
        cache_state=words.cache_state,
        seed=words.seed,
        repeats=words.repeats,
        syscall_ns=quantity.parse_duration(words.syscall_cost),
        trial_deadline_s=quantity.parse_duration(words.trial_deadline) / 1e9,
        packet_digest=words.packet_digest,
        command=command_of(words),
    )


def command_of(words: Words) -> list[str]:
    """The command that asks for the same, with only what differs from the defaults."""
    command = ["wavetank", "compare"]
    for field in msgspec.structs.fields(Words):
        value, default = getattr(words, field.name), getattr(DEFAULTS, field.name)
        option = "--" + field.name.replace("_", "-")
        if field.name == "grid":
            for name, text in words.grid.items():
                command += [f"--{name}", text] if text is not None else []
        elif value is True:
            command.append(option)
        elif value != default:
            command += [option, str(value)]
    return command
