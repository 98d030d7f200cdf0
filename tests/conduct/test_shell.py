"""Claims about the host's side of the shell: two terminals joined, and every way out of it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from wavetank.conduct.guest_job import Booted
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.shell import ShellEnded, ShellRequest, User, run_shell
from wavetank.conduct.shell_job import CouldNot, Left, Ready, ShellEvent, ShellJob
from wavetank.lab.errors import GuestDied, LabError
from wavetank.lab.host.guest import GuestSpec

Lab = Any  # tests/conftest.py, PlayedLab
# Ends what hangs; nothing takes so long, however busy the machine.
DEADLINE_S = 120.0
READY = Ready(mount_source="10.0.2.1:/", mount_type="nfs4", network=None)


class PlayedShell:
    """A guest whose terminal answers each line with itself in capitals; `bye` leaves with 7."""

    boot_wall_s = 0.1

    def __init__(self, spec: GuestSpec, first: list[ShellEvent]) -> None:
        assert spec.terminal is not None
        self.spec = spec
        self.job = msgspec.json.decode(spec.job, type=ShellJob)
        self.said: list[bytes] = [msgspec.json.encode(event) for event in first]
        self.dead = False
        self._terminal = os.dup(spec.terminal)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._end.set()
        self._thread.join()
        os.close(self._terminal)

    def lines(self, timeout_s: float, /) -> list[bytes]:
        if not self.said:
            if self.dead:
                raise GuestDied("guest shell ended early: its console is empty")
            time.sleep(min(timeout_s, 0.01))
        said, self.said = self.said, []
        return said

    def _serve(self) -> None:
        while not self._end.is_set():
            if not select.select([self._terminal], [], [], 0.01)[0]:
                continue
            line = os.read(self._terminal, 1024)
            if line.strip() == b"bye":
                self.said.append(msgspec.json.encode(Left(7)))
            elif line.strip() == b"die":
                self.dead = True
            else:
                os.write(self._terminal, line.upper())


class Session:
    """`run_shell` in this thread, and a user at a terminal in another."""

    def __init__(self, lab: Lab, first: list[ShellEvent], tmp_path: Path) -> None:
        self.guest: PlayedShell | None = None
        self._first = first
        self._lab = lab
        self._log = tmp_path / "log"
        self.keys, self.screen = pty.openpty()
        self.stages: list[str] = []
        self.seen = b""
        self.trouble: BaseException | None = None

    def run(self, behave: Callable[[Session], None]) -> int:
        tools = msgspec.structs.replace(self._lab.tools(), start_guest=self._start)
        request = ShellRequest(
            plan=make_plan(
                Request(
                    systems=["nfs4.2"],
                    networks=["realistic"],
                    workload="batch",
                    parameters={"operation": ["read"], "set-size": ["64MiB"]},
                    clock="real",
                )
            ),
            with_set=False,
            terminal_kind="vt100",
            log=self._log,
        )
        user = threading.Thread(target=self._behave, args=(behave,), daemon=True)
        user.start()
        try:
            return run_shell(request, tools, User(self.screen, self.screen), self.stages.append)
        finally:
            user.join(DEADLINE_S)
            assert not user.is_alive(), "the user waits for ever"
            if self.trouble is not None:
                raise self.trouble

    def _behave(self, behave: Callable[[Session], None]) -> None:
        """A user who meets the unexpected hangs up: the shell ends, and the test tells why."""
        try:
            behave(self)
        except BaseException as error:
            self.trouble = error
            os.close(self.keys)

    def type(self, text: str) -> None:
        os.write(self.keys, text.encode())

    def await_text(self, text: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while text.encode() not in self.seen and time.monotonic() < deadline:
            if select.select([self.keys], [], [], 0.05)[0]:
                self.seen += os.read(self.keys, 1024)
        assert text.encode() in self.seen, self.seen

    def await_raw(self) -> None:
        self.wait_for(lambda: not termios.tcgetattr(self.screen)[3] & termios.ICANON)

    @staticmethod
    def wait_for(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, "it never came about"
            time.sleep(0.01)

    @contextmanager
    def _start(self, spec: GuestSpec) -> Iterator[PlayedShell]:
        self.guest = PlayedShell(spec, self._first)
        try:
            yield self.guest
        finally:
            self.guest.close()


@pytest.fixture
def session(lab: Lab, tmp_path: Path) -> Session:
    return Session(lab, [Booted(), READY], tmp_path)


def test_what_is_typed_reaches_the_guest_and_its_answer_the_user(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        user.type("hello\n")
        user.await_text("HELLO")
        user.type("bye\n")

    assert session.run(behave) == 7
    assert b"HELLO" in session.seen
    assert session.stages[0] == "booting the guest"


def test_the_terminal_is_left_as_it_was_found(session: Session) -> None:
    before = termios.tcgetattr(session.screen)

    def behave(user: Session) -> None:
        user.await_raw()
        user.type("bye\n")

    session.run(behave)
    assert termios.tcgetattr(session.screen) == before


def test_three_escapes_end_a_guest_that_does_not_answer(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        user.type("\x1d\x1d\x1d")  # at once: three within a second, however slow the machine

    assert session.run(behave) == 0


def test_two_escapes_are_the_guests(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        user.type("\x1d\x1dx\x1d\n")
        user.await_text("X")
        user.type("bye\n")

    assert session.run(behave) == 7


def test_a_terminal_that_closes_ends_the_guest(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        os.close(user.keys)

    with pytest.raises(ShellEnded, match="terminal was closed"):
        session.run(behave)


def test_sighup_ends_the_guest_however_often_it_comes(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGHUP)

    # One that comes after the shell has ended must not end the tests.
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    try:
        with pytest.raises(ShellEnded):
            session.run(behave)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_guest_that_dies_is_told(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        user.type("die\n")

    with pytest.raises(GuestDied):
        session.run(behave)


def test_a_lab_that_could_not_be_set_up_says_why(lab: Lab, tmp_path: Path) -> None:
    refused = Session(lab, [Booted(), CouldNot("mount.nfs: no route")], tmp_path)
    with pytest.raises(LabError, match="no route"):
        refused.run(lambda _: None)


def size_of(terminal: int) -> tuple[int, ...]:
    """Rows and columns."""
    found = fcntl.ioctl(terminal, termios.TIOCGWINSZ, b"\0" * 8)
    return struct.unpack("HHHH", found)[:2]


def test_the_guests_window_has_the_size_of_the_users(session: Session) -> None:
    sizes: list[tuple[int, ...]] = []

    def behave(user: Session) -> None:
        user.await_raw()
        assert user.guest is not None
        for rows, columns in ((31, 97), (50, 120)):
            fcntl.ioctl(user.screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.kill(os.getpid(), signal.SIGWINCH)
            terminal = user.guest.spec.terminal
            assert terminal is not None
            asked = rows, columns
            user.wait_for(lambda: size_of(terminal) == asked)  # noqa: B023 - waited for at once
            sizes.append(size_of(terminal))
        user.type("bye\n")

    session.run(behave)
    assert sizes == [(31, 97), (50, 120)]


def test_the_guest_gets_a_terminal_that_is_not_the_users(session: Session) -> None:
    def behave(user: Session) -> None:
        user.await_raw()
        user.type("bye\n")

    session.run(behave)
    assert session.guest is not None
    assert session.guest.spec.terminal != session.screen
    assert session.guest.spec.entry == "wavetank.conduct.in_shell"
    assert session.guest.job.terminal == "/dev/tty1"
    assert session.guest.job.terminal_kind == "vt100"
