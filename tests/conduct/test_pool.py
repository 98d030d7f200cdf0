"""Claims about the pool: a lost guest costs one trial, and nothing that ended is lost.

The guests here are played by scripts: each gets the job the pool sent and says what a guest
would say, or dies, or hangs.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from wavetank.conduct import batch
from wavetank.conduct.batch import GuestNeverBooted, GuestSetup
from wavetank.conduct.events import Event, RunStarted, TrialEnded, nobody
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
from wavetank.conduct.pool import Interrupted, PoolSetup, run_pool
from wavetank.lab.errors import GuestDied, LabError
from wavetank.lab.host.guest import GuestSpec
from wavetank.runs import directory
from wavetank.runs.errors import RunDirectoryError
from wavetank.runs.records import Environment, Plan, PlannedTrial, TrialRecord
from wavetank.study.model import Cell

# A script yields lines; it may raise, and yields None where the guest is silent for a while.
Script = Callable[[GuestSpec, GuestJob], Iterator[bytes | None]]
ENVIRONMENT = Environment(
    wavetank_version="0",
    kernel_release="0",
    kernel_digest="0",
    engine_version="0",
    engine_ceiling_operations_per_s=None,
    isolation="none",
    versions={},
    host={},
)


class Clock:
    """The pool's clock in these tests: it passes while a guest is silent, and at no other time, so
    that deadlines fall where they should on a machine of any speed.
    """

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s


CLOCK = Clock()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "time", CLOCK)


class PlayedGuest:
    """A guest that follows a script."""

    boot_wall_s = 0.25

    def __init__(self, lines: Iterator[bytes | None]) -> None:
        self._lines = lines

    def lines(self, timeout_s: float, /) -> list[bytes]:
        try:
            line = next(self._lines)
        except StopIteration:
            raise GuestDied("guest ended early: its console is empty") from None
        if line is None:
            time.sleep(0.001)
            CLOCK.now_s += min(timeout_s, 0.02)
            return []
        return [line]


class Stage:
    """Where scripted guests are started, and what was asked of them."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.specs: list[GuestSpec] = []
        self.alive = 0
        self.most_alive = 0
        self._lock = threading.Lock()

    @contextmanager
    def start(self, spec: GuestSpec) -> Iterator[PlayedGuest]:
        with self._lock:
            self.specs.append(spec)
            self.alive += 1
            self.most_alive = max(self.most_alive, self.alive)
        try:
            yield PlayedGuest(self.script(spec, msgspec.json.decode(spec.job, type=GuestJob)))
        finally:
            spec.log.write_text("console")
            with self._lock:
                self.alive -= 1


def line(event: GuestEvent) -> bytes:
    return msgspec.json.encode(event)


def ended(trial: GuestTrial) -> bytes:
    record = TrialRecord(cell=trial.cell.digest, repeat=trial.repeat, status="ok")
    return line(Ended(trial=trial.index, record=record))


def well(_spec: GuestSpec, job: GuestJob) -> Iterator[bytes | None]:
    yield line(Booted())
    for trial in job.trials:
        yield line(Started(trial=trial.index))
        yield b"[    0.1] a word of the kernel"
        yield ended(trial)
    yield line(Finished())


def well_except(index: int, instead: Callable[[GuestTrial], Iterator[bytes | None]]) -> Script:
    """All goes well but for the trial `index`."""

    def script(_spec: GuestSpec, job: GuestJob) -> Iterator[bytes | None]:
        yield line(Booted())
        for trial in job.trials:
            yield line(Started(trial=trial.index))
            if trial.index == index:
                yield from instead(trial)
                return
            yield ended(trial)
        yield line(Finished())

    return script


def silence(_trial: GuestTrial) -> Iterator[bytes | None]:
    while True:
        yield None


def death(_trial: GuestTrial) -> Iterator[bytes | None]:
    yield from ()


@pytest.fixture
def plan(make_cell: Callable[..., Cell]) -> Plan:
    cells = [make_cell(threads=str(threads)) for threads in range(1, 7)]
    return Plan(
        question="",
        command=[],
        trials=[PlannedTrial(cell=cell, repeat=2) for cell in cells],
        batches=[[0, 1, 2], [3, 4, 5]],
        trial_deadline_s=0.3,
    )


@pytest.fixture
def path(tmp_path: Path, plan: Plan) -> Path:
    directory.create(tmp_path / "run", plan, ENVIRONMENT)
    return tmp_path / "run"


def conduct(
    path: Path,
    stage: Stage,
    *,
    workers: int = 1,
    observer: Callable[[Event], None] = nobody,
    boot_deadline_s: float = 5.0,
) -> None:
    run = directory.read(path)
    guests = GuestSetup(
        kernel=Path("/kernel"),
        engine=Path("/engine"),
        tap=Path("/tap"),
        probe=Path("/probe"),
        boot_deadline_s=boot_deadline_s,
    )
    setup = PoolSetup(guests=guests, workers=workers, memory_bytes=[2**30, 2**31])
    run_pool(path, run.plan, run.missing, setup, stage.start, observer)


def statuses(path: Path) -> list[str]:
    return [record.status for record in directory.read(path).trials]


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_trial_is_run_once_whatever_the_workers(path: Path, workers: int) -> None:
    stage = Stage(well)
    conduct(path, stage, workers=workers)
    assert statuses(path) == ["ok"] * 6
    assert len(stage.specs) == 2
    assert stage.most_alive <= min(workers, 2)


def test_a_guest_is_told_all_of_its_batch(path: Path, plan: Plan) -> None:
    stage = Stage(well)
    conduct(path, stage)
    spec = stage.specs[1]
    job = msgspec.json.decode(spec.job, type=GuestJob)
    assert [trial.index for trial in job.trials] == [3, 4, 5]
    assert job.trials[0].cell == plan.trials[3].cell
    assert (job.engine, job.tap, job.probe) == ("/engine", "/tap", "/probe")
    assert spec.memory_bytes == 2**31
    assert spec.log == path / "guests" / "g0001.log"


def test_a_guest_is_seeded_with_the_cells_seed_plus_the_repeat(path: Path, plan: Plan) -> None:
    stage = Stage(well)
    conduct(path, stage)
    assert {spec.seed for spec in stage.specs} == {plan.trials[0].cell.seed + 2}


def test_a_trial_that_hangs_costs_only_itself(path: Path) -> None:
    stage = Stage(well_except(1, silence))
    conduct(path, stage)
    assert statuses(path) == ["ok", "timeout", "ok", "ok", "ok", "ok"]
    reason = directory.read(path).trials[1].reason
    assert reason is not None
    assert "within 0.3 s" in reason
    assert "guests/g0000.log" in reason


def test_a_guest_that_dies_costs_the_trial_at_hand(path: Path) -> None:
    stage = Stage(well_except(3, death))
    conduct(path, stage)
    assert statuses(path) == ["ok", "ok", "ok", "failed", "ok", "ok"]
    assert "ended early" in (directory.read(path).trials[3].reason or "")


def test_what_is_left_of_a_batch_goes_on_in_a_new_guest_with_a_log_of_its_own(path: Path) -> None:
    stage = Stage(well_except(0, death))
    conduct(path, stage)
    jobs = [msgspec.json.decode(spec.job, type=GuestJob) for spec in stage.specs]
    assert [[trial.index for trial in job.trials] for job in jobs] == [[0, 1, 2], [1, 2], [3, 4, 5]]
    assert [spec.log.name for spec in stage.specs] == ["g0000.log", "g0000-2.log", "g0001.log"]


def test_a_guest_that_is_spent_hands_the_rest_to_a_new_one(path: Path) -> None:
    def spent(_spec: GuestSpec, job: GuestJob) -> Iterator[bytes | None]:
        yield line(Booted())
        yield line(Started(trial=job.trials[0].index))
        yield ended(job.trials[0])
        yield line(Spent())
        yield from silence(job.trials[0])

    stage = Stage(spent)
    conduct(path, stage)
    assert statuses(path) == ["ok"] * 6
    assert len(stage.specs) == 6


@pytest.mark.parametrize(
    "nonsense",
    [
        b'{"event":"exploded"}',
        b'{"event":"ended"',
        b'{"event":"started","trial":5}',
        b'{"event":"finished"}',
        b'{"event":"ended","trial":1,"record":{"cell":"another","repeat":0,"status":"ok"}}',
    ],
)
def test_a_guest_that_talks_nonsense_costs_the_trial_at_hand(path: Path, nonsense: bytes) -> None:
    conduct(path, Stage(well_except(1, lambda _trial: iter([nonsense]))))
    assert statuses(path) == ["ok", "failed", "ok", "ok", "ok", "ok"]


def test_guests_that_never_boot_end_the_run_and_leave_it_resumable(path: Path) -> None:
    def refused(_spec: GuestSpec, _job: GuestJob) -> Iterator[bytes | None]:
        raise LabError("guest could not be caged. Try: wavetank doctor")
        yield None

    with pytest.raises(GuestNeverBooted, match="wavetank doctor"):
        conduct(path, Stage(refused))
    assert directory.read(path).missing == list(range(6))


def test_a_boot_has_a_deadline(path: Path) -> None:
    def dumb(_spec: GuestSpec, job: GuestJob) -> Iterator[bytes | None]:
        return silence(job.trials[0])

    with pytest.raises(GuestNeverBooted, match=r"did not boot within 0\.1 s"):
        conduct(path, Stage(dumb), boot_deadline_s=0.1)


def test_one_guest_that_does_not_boot_after_others_did_costs_its_batch(path: Path) -> None:
    def second_refused(spec: GuestSpec, job: GuestJob) -> Iterator[bytes | None]:
        if spec.name == "g0001":
            raise LabError("no more memory")
        yield from well(spec, job)

    conduct(path, Stage(second_refused))
    assert statuses(path) == ["ok"] * 3 + ["failed"] * 3


def test_only_what_is_missing_is_run_again(path: Path) -> None:
    conduct(path, Stage(well_except(4, death)))
    assert directory.read(path).missing == [4]
    stage = Stage(well)
    conduct(path, stage)
    jobs = [msgspec.json.decode(spec.job, type=GuestJob) for spec in stage.specs]
    assert [[trial.index for trial in job.trials] for job in jobs] == [[4]]
    assert statuses(path) == ["ok"] * 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_resumable_run_and_no_guest(path: Path, number: signal.Signals) -> None:
    stage = Stage(well_except(2, silence))

    def interrupt(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.index == 1:
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match=f"--resume --out {path}"):
        conduct(path, stage, observer=interrupt)
    assert statuses(path)[:2] == ["ok", "ok"]
    assert 2 in directory.read(path).missing
    assert stage.alive == 0
    assert signal.getsignal(number) is before


def test_an_observer_that_fails_ends_the_guests(path: Path) -> None:
    def broken(event: Event) -> None:
        if isinstance(event, TrialEnded):
            raise RuntimeError("the display is gone")

    stage = Stage(well)
    with pytest.raises(RuntimeError, match="display"):
        conduct(path, stage, workers=2, observer=broken)
    assert stage.alive == 0
    assert statuses(path)[0] == "ok"


def test_the_observer_hears_of_every_trial_in_the_order_it_ended(path: Path) -> None:
    heard: list[Event] = []
    conduct(path, Stage(well), observer=heard.append)
    assert heard[0] == RunStarted(planned=6, done=0, workers=1)
    assert [event.index for event in heard if isinstance(event, TrialEnded)] == list(range(6))


def test_facts_of_the_wall_clock_stand_in_their_own_file(path: Path) -> None:
    conduct(path, Stage(well))
    walls = directory.read(path).walls
    assert [wall.guest for wall in walls] == ["g0000"] * 3 + ["g0001"] * 3
    assert all(wall.boot_wall_s == 0.25 for wall in walls)
    assert b"wall_s" not in (path / directory.TRIALS).read_bytes()


def test_a_disk_that_fills_ends_the_guests_and_is_said_in_one_sentence(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    stage = Stage(well)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RunDirectoryError, match="No space left"):
            conduct(path, stage, workers=2)
    assert stage.alive == 0
    conduct(path, Stage(well))
    assert statuses(path) == ["ok"] * 6
