"""What a guest is told to do, version 1: the one message from the host into the tank.

The guest answers with JSON lines, one event each: `booted`, then `started` and `ended` for each
trial (the latter with its TrialRecord), then `finished`, or `spent` when a failed trial may have
spoilt the guest for the rest.
"""

from __future__ import annotations

import msgspec

from wavetank.runs.records import TrialRecord
from wavetank.study.model import Cell

GUEST_JOB_SCHEMA_VERSION = 1


class GuestTrial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One trial of the guest's batch; `index` is its place in the plan's `trials`."""

    index: int
    cell: Cell
    repeat: int

    @property
    def seed(self) -> int:
        """The seed of this repeat: the cell's own, moved on by one per repeat."""
        return self.cell.seed + self.repeat

    @property
    def seeded_cell(self) -> Cell:
        """The cell with this repeat's seed: what workloads make their jobs from. Its digest is
        not the trial's; records carry that of `cell`.
        """
        return msgspec.structs.replace(self.cell, seed=self.seed)


class GuestJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All trials of one guest, in order. `engine`, `tap` and `probe` are paths of our Rust
    programs."""

    trials: list[GuestTrial]
    engine: str
    tap: str
    probe: str
    packet_digest: bool = False
    schema: int = GUEST_JOB_SCHEMA_VERSION


class Booted(msgspec.Struct, frozen=True, tag="booted", tag_field="event"):
    """The guest's init runs."""


class Started(msgspec.Struct, frozen=True, tag="started", tag_field="event"):
    """A trial begins."""

    trial: int


class Ended(msgspec.Struct, frozen=True, tag="ended", tag_field="event"):
    """A trial is over, well or not; its record says which."""

    trial: int
    record: TrialRecord


class Finished(msgspec.Struct, frozen=True, tag="finished", tag_field="event"):
    """Every trial of the job has ended."""


class Spent(msgspec.Struct, frozen=True, tag="spent", tag_field="event"):
    """A trial went wrong and may have left something behind: the rest wants a new guest."""


GuestEvent = Spent | Booted | Started | Ended | Finished
