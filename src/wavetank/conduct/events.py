"""What the pool tells whoever watches: enough for a progress display, nothing to decide by."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from wavetank.runs.records import TrialRecord, WallRecord


class RunStarted(msgspec.Struct, frozen=True, kw_only=True):
    """`done` of the `planned` trials were done before (a resumed run)."""

    planned: int
    done: int
    workers: int


class GuestBooted(msgspec.Struct, frozen=True, kw_only=True):
    """A guest is up."""

    guest: str
    worker: int
    boot_wall_s: float


class TrialStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A guest has begun the plan's trial `index`."""

    index: int
    guest: str
    worker: int


class TrialEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The plan's trial `index` has ended, and its records are about to be written."""

    index: int
    trial: TrialRecord
    wall: WallRecord


Event = RunStarted | GuestBooted | TrialStarted | TrialEnded
Observer = Callable[[Event], None]


def nobody(_event: Event) -> None:
    """The observer that does not look."""
