"""One batch of trials through as many guests as it takes.

The host's wall clock judges: a guest that does not boot, a trial that does not end in time, a
guest that dies or talks nonsense. Each costs the trial at hand (a guest that never boots, the
whole batch); what is left of the batch goes on in a new guest. Everything learnt leaves through
`report`; this file keeps no record and knows no other batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as Flag
from typing import Protocol

import msgspec

from wavetank.conduct.events import Event, GuestBooted, TrialEnded, TrialStarted
from wavetank.conduct.guest_job import (
    Booted,
    Ended,
    Finished,
    GuestEvent,
    GuestJob,
    GuestTrial,
    Spent,
    Started,
)
from wavetank.lab.errors import LabError
from wavetank.lab.guest.disks import is_memory
from wavetank.lab.host.guest import GuestSpec
from wavetank.runs.records import TrialRecord, TrialStatus, WallRecord
from wavetank.systems import syscall_cost

BOOT_DEADLINE_S = 60.0
POLL_S = 0.25


class GuestHandle(Protocol):
    """A running guest, as `lab.host.guest.Guest` is one."""

    boot_wall_s: float

    def lines(self, timeout_s: float, /) -> list[bytes]:
        """New whole lines, [] after `timeout_s`; GuestDied when there will be no more."""


StartGuest = Callable[[GuestSpec], AbstractContextManager[GuestHandle]]


class GuestSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What all guests of a run have in common."""

    kernel: Path
    engine: Path
    tap: Path
    probe: Path
    packet_digest: bool = False
    boot_deadline_s: float = BOOT_DEADLINE_S


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """One guest's work; `next_log` names the console's file of each new guest."""

    trials: list[GuestTrial]
    memory_bytes: int
    trial_deadline_s: float
    next_log: Callable[[], Path]


class GuestNeverBooted(LabError):
    """A guest did not come up at all: more likely the machine's fault than a trial's."""


class Nonsense(Exception):
    """A guest said what the protocol does not know."""


class BatchRun:
    """The batch under way: in one worker's thread, from first guest to last."""

    def __init__(
        self,
        batch: Batch,
        setup: GuestSetup,
        worker: int,
        start_guest: StartGuest,
        report: Callable[[Event], None],
        stop: Flag,
    ) -> None:
        self._batch = batch
        self._setup = setup
        self._worker = worker
        self._start_guest = start_guest
        self._report = report
        self._stop = stop
        self._left = list(batch.trials)
        self._log = Path()
        self._booted = False
        self._spent = False
        self._since = 0.0
        self._boot_wall_s = 0.0

    def run(self) -> None:
        """Returns when every trial has a record, or soon after `stop` is set.

        Raises GuestNeverBooted when a guest did not come up; the trials left have no record then.
        """
        while self._left and not self._stop.is_set():
            self._log = self._batch.next_log()
            self._booted = self._spent = False
            try:
                self._one_guest()
            except GuestNeverBooted:
                raise
            except (LabError, Nonsense) as error:
                if not self._booted:
                    raise GuestNeverBooted(str(error)) from error
                self._give_up("failed", self._with_log(str(error)))

    def fail_rest(self, reason: str) -> None:
        """Records every trial that is left as failed."""
        while self._left:
            self._give_up("failed", reason)

    def _one_guest(self) -> None:
        self._since = time.monotonic()
        with self._start_guest(self._spec()) as guest:
            while self._left and not self._stop.is_set():
                for line in guest.lines(POLL_S):
                    self._take(line, guest.boot_wall_s)
                if self._spent:
                    return
                if self._left and self._overdue():
                    self._give_up("timeout", self._overdue_reason())
                    return

    def _spec(self) -> GuestSpec:
        first = self._left[0]
        job = GuestJob(
            trials=self._left,
            engine=str(self._setup.engine),
            tap=str(self._setup.tap),
            probe=str(self._setup.probe),
            packet_digest=self._setup.packet_digest,
        )
        return GuestSpec(
            kernel=self._setup.kernel,
            memory_bytes=self._batch.memory_bytes,
            clock=first.cell.clock,
            seed=first.seed,
            syscall_ns=syscall_cost.of_cell(first.cell),
            job=msgspec.json.encode(job),
            log=self._log,
            name=self._log.stem,
            ram_disk_bytes=first.cell.disk.size_bytes if is_memory(first.cell.disk) else 0,
        )

    def _take(self, line: bytes, boot_wall_s: float) -> None:
        """Acts on one line of the guest. Lines that are no JSON object are the kernel's."""
        if not line.lstrip().startswith(b"{"):
            return
        try:
            event = msgspec.json.decode(line, type=GuestEvent)
        except msgspec.DecodeError as error:
            raise Nonsense(
                f"guest {self._log.stem} wrote an event not understood: {error}"
            ) from error
        match event:
            case Booted():
                self._booted, self._boot_wall_s = True, boot_wall_s
                self._since = time.monotonic()
                self._report(
                    GuestBooted(guest=self._log.stem, worker=self._worker, boot_wall_s=boot_wall_s)
                )
            case Started(trial=index):
                self._expect(index)
                self._report(TrialStarted(index=index, guest=self._log.stem, worker=self._worker))
            case Ended(trial=index, record=record):
                self._expect(index)
                self._end(record)
            case Spent():
                self._spent = True
            case Finished():
                if self._left:
                    raise Nonsense(f"guest {self._log.stem} finished before its last trial")

    def _expect(self, index: int) -> None:
        if not self._left or index != self._left[0].index:
            raise Nonsense(f"guest {self._log.stem} told of trial {index} out of turn")

    def _end(self, record: TrialRecord) -> None:
        trial = self._left[0]
        if (record.cell, record.repeat) != (trial.cell.digest, trial.repeat):
            raise Nonsense(f"guest {self._log.stem} recorded cell {record.cell}, not its own")
        self._left.pop(0)
        now = time.monotonic()
        wall = WallRecord(
            cell=record.cell,
            repeat=record.repeat,
            guest=self._log.stem,
            wall_s=round(now - self._since, 3),
            boot_wall_s=round(self._boot_wall_s, 3),
            ended_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            worker=self._worker,
        )
        self._since = now
        self._report(TrialEnded(index=trial.index, trial=record, wall=wall))

    def _give_up(self, status: TrialStatus, reason: str) -> None:
        """Records the trial at hand as lost."""
        if not self._left:
            return
        trial = self._left[0]
        self._end(
            TrialRecord(cell=trial.cell.digest, repeat=trial.repeat, status=status, reason=reason)
        )

    def _overdue(self) -> bool:
        """Whether the trial is past its deadline; raises GuestNeverBooted past the boot's."""
        waited_s = time.monotonic() - self._since
        if self._booted:
            return waited_s > self._batch.trial_deadline_s
        if waited_s > self._setup.boot_deadline_s:
            raise GuestNeverBooted(
                self._with_log(
                    f"guest {self._log.stem} did not boot within {self._setup.boot_deadline_s:g} s"
                )
            )
        return False

    def _overdue_reason(self) -> str:
        return self._with_log(
            f"no end within {self._batch.trial_deadline_s:g} s (wall clock) "
            f"in guest {self._log.stem}"
        )

    def _with_log(self, sentence: str) -> str:
        return f"{sentence}; its console is guests/{self._log.name}"
