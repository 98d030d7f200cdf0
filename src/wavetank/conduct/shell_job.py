"""What a guest is told that ends in a prompt, and what it tells the host: JSON both ways."""

from __future__ import annotations

import msgspec

from wavetank.conduct.guest_job import Booted, GuestTrial
from wavetank.runs.records import NetworkMeasured

SHELL_JOB_SCHEMA_VERSION = 1


class ShellJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The trial whose surroundings are wanted, the terminal's device in the guest and its kind
    (`TERM`), and whether the trial's set is to be there.
    """

    trial: GuestTrial
    engine: str
    probe: str
    terminal: str
    terminal_kind: str
    with_set: bool
    schema: int = SHELL_JOB_SCHEMA_VERSION


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready", tag_field="event"):
    """The system is mounted and the shell about to start."""

    mount_source: str
    mount_type: str
    network: NetworkMeasured | None


class Left(msgspec.Struct, frozen=True, tag="left", tag_field="event"):
    """The user left the shell."""

    status: int


class CouldNot(msgspec.Struct, frozen=True, tag="could_not", tag_field="event"):
    """The surroundings could not be made."""

    reason: str


ShellEvent = Booted | Ready | Left | CouldNot
"""In this order: `booted`, then `ready` and `left`, or `could_not`."""
