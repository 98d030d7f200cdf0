"""Programs started in the guest: run to their end under a deadline, or kept until closed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Protocol

from wavetank.lab.errors import LabError

# Of the guest's clock: under virtual time a program that waits reaches it at once.
DEADLINE_S = 120.0
ENDING_S = 10.0
LOGS = Path("/run/wavetank-logs")
_SEARCHED = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")


def find_program(name: str) -> str:
    """Full path of an installed program. LabError says what is missing."""
    if name.startswith("/"):
        return name
    for directory in _SEARCHED:
        path = f"{directory}/{name}"
        if os.access(path, os.X_OK):
            return path
    raise LabError(f"the program {name} is not installed. Try: wavetank doctor")


class Surroundings(Protocol):
    """What a program can be started in: a namespace, a control group."""

    def entered(self) -> AbstractContextManager[None]:
        """Inside: what is started belongs there."""


def _within(surroundings: Surroundings | None) -> AbstractContextManager[None]:
    return surroundings.entered() if surroundings is not None else nullcontext()


def run(
    arguments: Sequence[str],
    surroundings: Surroundings | None = None,
    deadline_s: float = DEADLINE_S,
) -> str:
    """Runs a program to its end and returns its output; LabError with its last line if it fails."""
    command = [find_program(arguments[0]), *arguments[1:]]
    with _within(surroundings):
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        output, _ = process.communicate(timeout=deadline_s)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.wait()
        raise LabError(
            f"{arguments[0]} did not end within {deadline_s:.0f} s of the guest's clock"
        ) from error
    if process.returncode != 0:
        lines = output.strip().splitlines() or ["no output"]
        raise LabError(
            f"{' '.join(arguments)} failed with status {process.returncode}: {lines[-1]}"
        )
    return output


class Daemon:
    """A program that stays in the foreground until the context is left."""

    def __init__(self, arguments: Sequence[str], surroundings: Surroundings | None = None) -> None:
        self._arguments = arguments
        self._surroundings = surroundings
        self._process: subprocess.Popen[bytes] | None = None
        LOGS.mkdir(exist_ok=True)
        self._log = LOGS / f"{Path(arguments[0]).name}.log"

    def __enter__(self) -> Daemon:
        command = [find_program(self._arguments[0]), *self._arguments[1:]]
        with _within(self._surroundings), self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(signal.SIGTERM)

    def stop(self, how: signal.Signals) -> None:
        """Ends the program; kills it when it does not end in time."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait_until_exists(self, path: Path, timeout_s: float) -> None:
        """Waits until the program has made `path`; LabError when it ends or is late."""
        deadline = time.monotonic() + timeout_s
        while not path.exists():
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise self._not_started()
            time.sleep(0.01)

    def require_alive(self) -> None:
        """LabError with its last words when the program has ended."""
        if self._process is None or self._process.poll() is not None:
            raise self._not_started()

    def _not_started(self) -> LabError:
        lines = self._log.read_text(errors="replace").strip().splitlines() or ["nothing"]
        return LabError(f"{self._arguments[0]} did not start; it said: {lines[-1]}")
