"""The run directory on disk: made once, appended to as trials end, read back at any time.

    DIR/plan.json         Plan, written once
    DIR/environment.json  Environment, written once
    DIR/trials.jsonl      TrialRecord per line, nothing of the wall clock in it
    DIR/wall.jsonl        WallRecord per line, for the same trials
    DIR/guests/gNNNN.log  console of a guest; gNNNN-K.log of the K-th that did the same batch

A record is on the disk before `append` returns. A crash can tear only the last line of a file:
reading leaves it out, and the next append cuts it off. A trial that was tried again has several
lines, of which the last counts. When every trial is done, `put_in_order` replaces trials.jsonl in
one step by the lines that count, in the plan's order, so that equal runs are equal files however
many workers they had. docs/reference/formats.md has a worked example.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

from wavetank.runs.errors import RunDirectoryError, RunDirectoryRefused
from wavetank.runs.records import (
    SCHEMA_VERSION,
    Environment,
    Plan,
    PlannedTrial,
    TrialRecord,
    WallRecord,
)
from wavetank.study.model import canonical_json

PLAN, ENVIRONMENT = "plan.json", "environment.json"
TRIALS, WALL, GUESTS = "trials.jsonl", "wall.jsonl", "guests"
LOCK = ".lock"
DONE = frozenset({"ok", "void"})

Record = TypeVar("Record", TrialRecord, WallRecord)
Document = TypeVar("Document", Plan, Environment)
TrialKey = tuple[str, int]


class _Versioned(msgspec.Struct):
    schema: int = 1


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run as read back: one record per trial that ended, in the plan's order."""

    path: Path
    plan: Plan
    environment: Environment
    trials: list[TrialRecord]
    walls: list[WallRecord]

    @property
    def missing(self) -> list[int]:
        """Indices of planned trials that are not done: never ended, failed or out of time."""
        return missing_trials(self.plan, self.trials)


def default_path(name: str, now: datetime) -> Path:
    """`wavetank-runs/20260131T120000Z-NAME` below the working directory.

    `-2` and so on is added where a run began in the same second.
    """
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = Path("wavetank-runs") / f"{stamp}-{re.sub(r'[^A-Za-z0-9.]+', '-', name).strip('-')}"
    later = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return path if not path.exists() else next(other for other in later if not other.exists())


def missing_trials(plan: Plan, trials: Sequence[TrialRecord]) -> list[int]:
    """Indices into the plan's trials that have no record with status ok or void."""
    done = {(record.cell, record.repeat) for record in trials if record.status in DONE}
    return [index for index, trial in enumerate(plan.trials) if key_of(trial) not in done]


def key_of(trial: PlannedTrial) -> TrialKey:
    """What a trial is called in its records."""
    return trial.cell.digest, trial.repeat


def create(path: Path, plan: Plan, environment: Environment) -> None:
    """Makes the directory with its plan and environment.

    Raises `RunDirectoryRefused` where something is there already, `RunDirectoryError` where it
    can't be written.
    """
    refuse_if_taken(path)
    try:
        (path / GUESTS).mkdir(parents=True, exist_ok=True)
        _write_whole(path / ENVIRONMENT, _pretty(environment))
        # Last: a directory with a plan is a run.
        _write_whole(path / PLAN, _pretty(plan))
    except OSError as error:
        raise _cannot("write", path, error) from error


def refuse_if_taken(path: Path) -> None:
    """Raises `RunDirectoryRefused` unless `path` is free, an empty directory, or what is left of a
    run that was cut off before it had a plan, and so before it measured anything.
    """
    try:
        taken = path.exists() and (not path.is_dir() or any(map(_is_anothers, path.iterdir())))
    except OSError as error:
        raise _cannot("read", path, error) from error
    if taken:
        hint = f"wavetank compare --resume --out {path}" if (path / PLAN).is_file() else "--out"
        what = "to continue that run: " + hint if hint != "--out" else "name another with --out"
        raise RunDirectoryRefused(f"{path} is not empty; {what}.")


def _is_anothers(entry: Path) -> bool:
    """Whether `create` did not make it, before its last step."""
    if entry.name == GUESTS and entry.is_dir():
        return any(entry.iterdir())
    return entry.name not in (ENVIRONMENT, f"{ENVIRONMENT}.new", f"{PLAN}.new")


def read(path: Path) -> Run:
    """The whole run, also while it is still being written.

    Raises `RunDirectoryRefused` for what is no run or of a newer format, `RunDirectoryError` for
    what is damaged beyond a torn last line.
    """
    if not (path / PLAN).is_file():
        raise RunDirectoryRefused(f"{path} is not a run directory: it has no {PLAN}.")
    plan = _document(path / PLAN, Plan)
    environment = _document(path / ENVIRONMENT, Environment)
    trials = {(r.cell, r.repeat): r for r in _lines(path / TRIALS, TrialRecord)}
    walls = {(r.cell, r.repeat): r for r in _lines(path / WALL, WallRecord)}
    keys = [key_of(trial) for trial in plan.trials]
    return Run(
        path=path,
        plan=plan,
        environment=environment,
        trials=[trials[key] for key in keys if key in trials],
        walls=[walls[key] for key in keys if key in trials and key in walls],
    )


def put_in_order(path: Path) -> None:
    """Replaces trials.jsonl by the records that count, in the plan's order, in one step."""
    try:
        content = b"".join(canonical_json(record) + b"\n" for record in read(path).trials)
        _write_whole(path / TRIALS, content)
    except OSError as error:
        raise _cannot("write", path, error) from error


def guest_log(path: Path, batch: int) -> Path:
    """Where the console of the next guest that works on `batch` goes; earlier logs are kept."""
    first = path / GUESTS / f"g{batch:04d}.log"
    candidates = [first, *(first.with_name(f"g{batch:04d}-{k}.log") for k in range(2, 10_000))]
    return next(candidate for candidate in candidates if not candidate.exists())


class Appender:
    """The one writer of a run directory, as a context manager; a second one is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = -1

    def __enter__(self) -> Appender:
        try:
            self._lock = os.open(self._path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in (TRIALS, WALL):
                _cut_torn_line(self._path / name)
        except BlockingIOError as error:
            os.close(self._lock)
            raise RunDirectoryRefused(
                f"{self._path} is being written by another wavetank; wait until it ends."
            ) from error
        except OSError as error:
            raise _cannot("write", self._path, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._lock)

    def append(self, trial: TrialRecord, wall: WallRecord) -> None:
        """Both records, on the disk when this returns. The trial's goes last: it alone counts."""
        try:
            _append_line(self._path / WALL, canonical_json(wall))
            _append_line(self._path / TRIALS, canonical_json(trial))
        except OSError as error:
            raise _cannot("write", self._path, error) from error


def _append_line(path: Path, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        data = memoryview(line + b"\n")
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cut_torn_line(path: Path) -> None:
    """Cuts what follows the last line end: the trace of a crash in the midst of an append."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)


def _lines(path: Path, kind: type[Record]) -> list[Record]:
    """The complete lines of a file as records; a torn last line is left out."""
    if not path.exists():
        return []
    complete, _, _ = path.read_bytes().rpartition(b"\n")
    records = []
    for number, line in enumerate(complete.split(b"\n"), start=1):
        if line:
            records.append(_decoded(line, kind, f"line {number} of {path}"))
    return records


def _document(path: Path, kind: type[Document]) -> Document:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _cannot("read", path, error) from error
    return _decoded(content, kind, str(path))


Decoded = TypeVar("Decoded", TrialRecord, WallRecord, Plan, Environment)


def _decoded(content: bytes, kind: type[Decoded], where: str) -> Decoded:
    try:
        version = msgspec.json.decode(content, type=_Versioned).schema
        if version > SCHEMA_VERSION:
            raise RunDirectoryRefused(
                f"{where} has format {version} and this wavetank reads up to {SCHEMA_VERSION}; "
                "upgrade wavetank to read it."
            )
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        raise RunDirectoryError(
            f"{where} is damaged ({error}); restore it or run the study again."
        ) from error


def _write_whole(path: Path, content: bytes) -> None:
    """The file appears complete or not at all (rename(2) after fsync(2))."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _pretty(value: Plan | Environment) -> bytes:
    return msgspec.json.format(canonical_json(value), indent=1) + b"\n"


def _cannot(verb: str, path: Path, error: OSError) -> RunDirectoryError:
    return RunDirectoryError(
        f"cannot {verb} {error.filename or path}: {error.strerror}; "
        "check rights and free space, or name another directory."
    )
