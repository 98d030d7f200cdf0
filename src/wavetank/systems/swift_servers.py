"""Swift's servers in a guest: one launcher for all its trials, four servers for each.

The launcher (`swift_launcher`, in Swift's own Python) imports Swift when the first trial asks for
it, and ends with the guest; between trials it sleeps and costs the clock nothing.
"""

from __future__ import annotations

import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from wavetank.lab.errors import LabError
from wavetank.lab.guest.namespaces import Namespace
from wavetank.lab.guest.programs import LOGS
from wavetank.systems import swift_launcher

ANSWER_S = 120.0
LOG = LOGS / "swift.log"


class Launcher:
    """The interpreter with Swift in it. LabError, with its last words, when it does not answer."""

    def __init__(self, python: str, words: tuple[str, ...]) -> None:
        LOGS.mkdir(exist_ok=True)
        # Isolated: in a place where this package can't be imported.
        command = [python, "-I", swift_launcher.__file__, *words]
        with LOG.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )

    def ask(self, *request: str) -> str:
        """The answer to a request."""
        asking, answering = self._process.stdin, self._process.stdout
        assert asking is not None
        assert answering is not None
        try:
            asking.write(f"{' '.join(request)}\n".encode())
            asking.flush()
        except BrokenPipeError:
            raise LabError(f"Swift did not start; it said: {last_words()}") from None
        ready, _, _ = select.select([answering], [], [], ANSWER_S)
        answer = answering.readline().decode().strip() if ready else ""
        if not answer:
            raise LabError(f"Swift did not start; it said: {last_words()}")
        return answer


class Servers:
    """One trial's four servers; a face of `object_start.Server`."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher

    def require_alive(self) -> None:
        """LabError with their last words when one of them has ended."""
        answer = self._launcher.ask("check")
        if answer != "ok":
            raise LabError(f"Swift's {answer}; it said: {last_words()}")


@cache
def launcher(python: str, words: tuple[str, ...]) -> Launcher:
    """The guest's launcher, started when it is first asked for. It ends with the guest."""
    return Launcher(python, words)


@contextmanager
def started(launcher: Launcher, folder: Path, namespace: Namespace) -> Iterator[Servers]:
    """The four servers, configured in `folder`, in a namespace; not yet answering."""
    launcher.ask("start", str(folder), namespace.path)
    try:
        yield Servers(launcher)
    finally:
        launcher.ask("stop")


def last_words() -> str:
    """The last line of what launcher and servers wrote."""
    lines = LOG.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing"
