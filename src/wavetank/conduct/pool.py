"""Batches side by side on this machine, one guest per worker, records written as trials end.

Workers run batches in threads of their own; the calling thread alone writes the run directory
and calls the observer. Whatever ends the pool (the last trial, an error, Ctrl-C, SIGTERM), all
guests are gone when `run_pool` returns and every trial that ended is on the disk.
"""

from __future__ import annotations

import functools
import queue
import shlex
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wavetank.conduct.batch import Batch, BatchRun, GuestNeverBooted, GuestSetup, StartGuest
from wavetank.conduct.events import Event, GuestBooted, Observer, RunStarted, TrialEnded
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.interruption import signals_as_flag
from wavetank.errors import ExitCode, WavetankError
from wavetank.runs import directory
from wavetank.runs.records import Plan

WAKE_S = 0.5
GOODBYE_DEADLINE_S = 20.0


class Interrupted(WavetankError):
    """The user ended the run before it was complete; what ended is kept."""

    exit_code = ExitCode.INCONCLUSIVE


class PoolSetup(msgspec.Struct, frozen=True, kw_only=True):
    """How the run is conducted; none of it changes what is measured."""

    guests: GuestSetup
    workers: int
    memory_bytes: list[int]


class _WorkerEnded(msgspec.Struct, frozen=True):
    error: BaseException | None


class _BootFailed(msgspec.Struct, frozen=True):
    """The worker waits for `answer`: whether to record the batch as failed and go on."""

    error: GuestNeverBooted
    answer: queue.SimpleQueue[bool]


_Message = Event | _WorkerEnded | _BootFailed


def run_pool(
    path: Path,
    plan: Plan,
    missing: Sequence[int],
    setup: PoolSetup,
    start_guest: StartGuest,
    observer: Observer,
) -> None:
    """Runs the trials `missing` (indices into the plan) and appends their records to `path`.

    Raises Interrupted after Ctrl-C or SIGTERM, GuestNeverBooted when the first guests do not
    come up, RunDirectoryError when records can't be written.
    """
    batches = _batches(path, plan, missing, setup)
    workers = max(1, min(setup.workers, len(batches)))
    observer(
        RunStarted(planned=len(plan.trials), done=len(plan.trials) - len(missing), workers=workers)
    )
    with directory.Appender(path) as appender, signals_as_flag() as interrupted:
        pool = _Pool(batches, setup.guests, workers, start_guest, appender, observer)
        try:
            complete = pool.conduct(interrupted)
        finally:
            pool.end()
    if not complete:
        raise Interrupted(
            "interrupted; every trial that ended is kept. "
            f"To go on: wavetank compare --resume --out {shlex.quote(str(path))}"
        )


class _Pool:
    def __init__(
        self,
        batches: Sequence[Batch],
        guests: GuestSetup,
        workers: int,
        start_guest: StartGuest,
        appender: directory.Appender,
        observer: Observer,
    ) -> None:
        self._guests = guests
        self._start_guest = start_guest
        self._appender = appender
        self._observer = observer
        self._stop = threading.Event()
        self._messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._work: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        for batch in batches:
            self._work.put(batch)
        self._any_booted = False
        # Daemons: a guest dies with the thread's process, so none outlives an exit.
        self._threads = [
            threading.Thread(target=self._worker, args=(number,), daemon=True)
            for number in range(workers)
        ]

    def conduct(self, interrupted: threading.Event) -> bool:
        """Until every worker has ended (True) or `interrupted` is set (False).

        Raises what a worker or the disk raised.
        """
        for thread in self._threads:
            thread.start()
        running = len(self._threads)
        while running:
            if interrupted.is_set():
                return False
            try:
                message = self._messages.get(timeout=WAKE_S)
            except queue.Empty:
                continue
            if isinstance(message, _WorkerEnded):
                running -= 1
                if message.error is not None:
                    raise message.error
            else:
                self._handle(message)
        return True

    def end(self) -> None:
        """Ends the guests, waits for the workers, writes what they still had to tell."""
        if self._stop.is_set():
            return
        self._stop.set()
        deadline = time.monotonic() + GOODBYE_DEADLINE_S
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        while not self._messages.empty():
            message = self._messages.get()
            if isinstance(message, TrialEnded):
                self._handle(message)

    def _handle(self, message: Event | _BootFailed) -> None:
        match message:
            case TrialEnded(trial=trial, wall=wall):
                self._appender.append(trial, wall)
            case GuestBooted():
                self._any_booted = True
            case _BootFailed(error=error, answer=answer):
                answer.put(self._any_booted)
                if not self._any_booted:
                    raise error
                return
        self._observer(message)

    def _worker(self, number: int) -> None:
        try:
            while not self._stop.is_set():
                try:
                    batch = self._work.get_nowait()
                except queue.Empty:
                    break
                self._run_batch(batch, number)
        except BaseException as error:
            self._messages.put(_WorkerEnded(error))
        else:
            self._messages.put(_WorkerEnded(None))

    def _run_batch(self, batch: Batch, number: int) -> None:
        run = BatchRun(
            batch, self._guests, number, self._start_guest, self._messages.put, self._stop
        )
        try:
            run.run()
        except GuestNeverBooted as error:
            if self._others_boot(error):
                run.fail_rest(str(error))

    def _others_boot(self, error: GuestNeverBooted) -> bool:
        """Whether other guests came up, so that this one's batch alone is lost."""
        answer: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._messages.put(_BootFailed(error, answer))
        while not self._stop.is_set():
            try:
                return answer.get(timeout=WAKE_S)
            except queue.Empty:
                continue
        return False


def _batches(path: Path, plan: Plan, missing: Sequence[int], setup: PoolSetup) -> list[Batch]:
    """The plan's batches less what is done; each keeps its number, and so its logs' names."""
    wanted = frozenset(missing)
    result = []
    for number, indices in enumerate(plan.batches):
        trials = [
            GuestTrial(index=i, cell=plan.trials[i].cell, repeat=plan.trials[i].repeat)
            for i in indices
            if i in wanted
        ]
        if trials:
            result.append(
                Batch(
                    trials=trials,
                    memory_bytes=setup.memory_bytes[number],
                    trial_deadline_s=plan.trial_deadline_s,
                    next_log=functools.partial(directory.guest_log, path, number),
                )
            )
    return result
