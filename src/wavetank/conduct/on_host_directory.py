"""The directory of a measurement outside the lab: ours, marked, and gone when it is done.

    PATH/wavetank-bench-TOKEN/made-by-wavetank.json   the mark: who made it and when, locked
    PATH/wavetank-bench-TOKEN/set/dDDDDD/fFFFFFF      the load engine's files

What always holds: nothing is written beside that one directory, only names that the engine gives
are removed, links are never followed, and the mark goes last, so that whatever ends the
measurement, what is left is recognised by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import msgspec

from wavetank import quantity
from wavetank.conduct.on_host_rounds import PlaceLost
from wavetank.errors import UsageError, WavetankError

PREFIX, MARK, SET = "wavetank-bench-", "made-by-wavetank.json", "set"
# What a file system puts into its own empty root.
NOT_COUNTED = frozenset({"lost+found"})
ROOM_FACTOR = 1.05
_FOLDER, _FILE = re.compile(r"d\d+"), re.compile(r"f\d+")
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class DirectoryRefused(UsageError):
    """The directory named is not one to measure in."""


class DirectoryFailed(PlaceLost):
    """The directory can't be written any more, or has no room."""


class NotRemoved(DirectoryFailed):
    """What we made could not be removed; the message says how to."""


class Mark(msgspec.Struct, frozen=True):
    """Who made the directory: enough to ask them, and to see that nobody else did."""

    token: str
    process: int
    host: str
    began_at: str
    made_by: str = "wavetank bench"


class OwnDirectory:
    """Our directory below `path`, as a context manager; leaving it removes it.

    Raises DirectoryRefused for what is no place to measure in (missing, not empty, in use),
    DirectoryFailed where the file system refuses (read-only, full, no right to write).
    """

    def __init__(self, path: Path, began_at: str, token: str | None = None) -> None:
        self._path = path
        self._token = token or secrets.token_hex(6)
        self._began_at = began_at
        self._above = self._own = self._mark = -1

    @property
    def path(self) -> Path:
        """The directory itself."""
        return self._path / (PREFIX + self._token)

    @property
    def descriptor(self) -> int:
        """The directory, open."""
        return self._own

    def __enter__(self) -> OwnDirectory:
        try:
            self._above = os.open(self._path, _OPEN_FOLDER)
            _refuse_unless_empty(self._path)
            self._make()
        except OSError as error:
            self.__exit__(None, None, None)
            raise _failure(self._path, error) from error
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._own != -1:
                self._remove()
        except NotRemoved as failure:
            if isinstance(error, WavetankError) and not isinstance(error, NotRemoved):
                raise type(error)(f"{error} {failure}") from error
            if error is None:
                raise
        finally:
            for descriptor in (self._mark, self._own, self._above):
                if descriptor != -1:
                    os.close(descriptor)
            self._above = self._own = self._mark = -1

    @contextmanager
    def file_set(self) -> Iterator[Path]:
        """An empty directory for one trial's files, which are removed afterwards."""
        try:
            os.mkdir(SET, dir_fd=self._own)
        except OSError as error:
            raise _failure(self._path, error) from error
        try:
            yield self.path / SET
        finally:
            try:
                self._remove_set()
            except OSError as error:
                raise self._not_removed(error) from error

    def require_room(self, needed_bytes: int, needed_files: int = 1) -> None:
        """Raises DirectoryFailed unless the file system has `needed_bytes` and some to spare, and
        takes so many more files (some make room for inodes as they go, and tell of none).
        """
        found = os.fstatvfs(self._own)
        free_bytes = found.f_bavail * found.f_frsize
        wanted_bytes = round(needed_bytes * ROOM_FACTOR)
        if free_bytes < wanted_bytes:
            raise DirectoryFailed(
                f"{self._path} has {_mebibytes(free_bytes)} free and the files take "
                f"{_mebibytes(wanted_bytes)}; make room, or take a smaller --set-size "
                "or --file-size."
            )
        if found.f_files and found.f_favail < needed_files:
            raise DirectoryFailed(
                f"{self._path} can take {found.f_favail} more files (inodes) and the set has "
                f"{needed_files}; remove files there, or take a smaller --set-size or a larger "
                "--file-size."
            )

    def require_writable(self) -> None:
        """Raises DirectoryFailed when the directory was lost: unmounted, removed, read-only."""
        probe = f".probe-{os.getpid()}"
        try:
            os.stat(self.path / MARK)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(probe, flags, 0o600, dir_fd=self._own))
            os.unlink(probe, dir_fd=self._own)
        except OSError as error:
            raise _failure(self._path, error) from error

    def _make(self) -> None:
        os.mkdir(self.path.name, 0o700, dir_fd=self._above)
        self._own = os.open(self.path.name, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=self._above)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._mark = os.open(MARK, flags, 0o600, dir_fd=self._own)
        mark = Mark(self._token, os.getpid(), os.uname().nodename, self._began_at)
        os.write(self._mark, msgspec.json.encode(mark) + b"\n")
        os.fsync(self._mark)
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(self._mark, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _remove(self) -> None:
        """The set, the mark, the directory: in this order. What is not ours stays, and is told."""
        try:
            self._remove_set()
            # Closed before: NFS keeps the name of a file that is removed while it is open.
            if self._mark != -1:
                os.close(self._mark)
                self._mark = -1
            with contextlib.suppress(FileNotFoundError):
                os.unlink(MARK, dir_fd=self._own)
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(self.path.name, dir_fd=self._above)
        except OSError as error:
            raise self._not_removed(error) from error

    def _not_removed(self, error: OSError) -> NotRemoved:
        return NotRemoved(
            f"{self.path} could not be removed ({error.strerror}); what is in it that wavetank "
            f"did not make was left. To remove it: rm -r {shlex.quote(str(self.path))}"
        )

    def _remove_set(self) -> None:
        try:
            root = os.open(SET, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=self._own)
        except OSError:
            return
        try:
            for name in _names(root, _FOLDER):
                folder = os.open(name, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=root)
                try:
                    for file in _names(folder, _FILE):
                        os.unlink(file, dir_fd=folder)
                finally:
                    os.close(folder)
                os.rmdir(name, dir_fd=root)
        finally:
            os.close(root)
        os.rmdir(SET, dir_fd=self._own)


def _names(folder: int, pattern: re.Pattern[str]) -> list[str]:
    return [name for name in os.listdir(folder) if pattern.fullmatch(name)]


def _refuse_unless_empty(path: Path) -> None:
    names = sorted(set(os.listdir(path)) - NOT_COUNTED)
    if not names:
        return
    left = [name for name in names if _mark_in(path / name) is not None]
    if left:
        raise DirectoryRefused(_about_left(path / left[0], alone=len(names) == 1))
    raise DirectoryRefused(
        f"{path} is not empty (it holds {names[0]}); bench measures in empty directories only. "
        f"Try: mkdir {shlex.quote(str(path / 'bench'))} and name that."
    )


def _about_left(own: Path, alone: bool) -> str:
    mark = _mark_in(own)
    assert mark is not None
    if _is_held(own / MARK, mark):
        return (
            f"another wavetank bench (process {mark.process} on {mark.host}) is measuring in "
            f"{own.parent}; wait until it ends, or name another directory."
        )
    beside = "" if alone else " The directory holds other files too, which bench would refuse."
    return (
        f"{own.parent} holds what a wavetank bench of {mark.began_at} left behind when it was "
        f"killed. To remove it: rm -r {shlex.quote(str(own))}{beside}"
    )


def _mark_in(own: Path) -> Mark | None:
    if not own.name.startswith(PREFIX):
        return None
    try:
        mark = msgspec.json.decode((own / MARK).read_bytes(), type=Mark)
    except (OSError, msgspec.DecodeError):
        return None
    return mark if own.name == PREFIX + mark.token else None


def _is_held(mark_file: Path, mark: Mark) -> bool:
    """Whether its maker still runs: it holds the lock, or, without locks, is a process here."""
    try:
        descriptor = os.open(mark_file, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return mark.host == os.uname().nodename and Path(f"/proc/{mark.process}").exists()
    finally:
        os.close(descriptor)
    return False


_SENTENCES = {
    errno.ENOENT: "{path} does not exist; make it, or name another directory.",
    errno.ENOTDIR: "{path} is not a directory; name the one to measure in.",
    errno.EROFS: "{path} is read-only; mount it writable, or name another directory.",
    errno.EACCES: "{path} can't be written by this user; change its rights, or name another.",
    errno.EPERM: "{path} can't be written by this user; change its rights, or name another.",
    errno.ENOSPC: "{path} is full; make room, or name another directory.",
    errno.EDQUOT: "the quota of {path} is used up; make room, or name another directory.",
    errno.ESTALE: "{path} is gone from its server (a stale handle); mount it again.",
}
_MEANT = frozenset({errno.ENOENT, errno.ENOTDIR})


def _failure(path: Path, error: OSError) -> WavetankError:
    sentence = _SENTENCES.get(error.errno or 0, "{path} can't be used: {why}.")
    told = sentence.format(path=path, why=error.strerror)
    return DirectoryRefused(told) if error.errno in _MEANT else DirectoryFailed(told)


def _mebibytes(size_bytes: int) -> str:
    return quantity.size_text(-(-size_bytes // 2**20) * 2**20) if size_bytes else "nothing"
