"""A prompt inside the lab, from the host's side: boots the guest, waits until it is ready, joins
the user's terminal to the guest's, and ends the guest whatever happens.

The guest gets a pseudo-terminal of its own and never the user's: what it may do to that is
write, and be written to. The clock is the real one unless asked otherwise: under the virtual one
time jumps over all waiting, that for the user's fingers included.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import msgspec

from wavetank.conduct import memory
from wavetank.conduct.batch import GuestHandle
from wavetank.conduct.guest_job import Booted, GuestTrial
from wavetank.conduct.interruption import signals_as_flag
from wavetank.conduct.programs import require_programs
from wavetank.conduct.session import Tools
from wavetank.conduct.shell_job import CouldNot, Left, Ready, ShellEvent, ShellJob
from wavetank.errors import ExitCode, WavetankError
from wavetank.lab.errors import GuestDied, LabError
from wavetank.lab.guest.disks import is_memory
from wavetank.lab.host.guest import TERMINAL, GuestSpec
from wavetank.runs.records import Plan
from wavetank.systems import syscall_cost

READY_DEADLINE_S = 180.0
POLL_S = 0.05
CHUNK_BYTES = 1 << 16
# As systemd-nspawn(1) and machinectl(1) have it.
ESCAPE, ESCAPE_TIMES, ESCAPE_WITHIN_S = 0x1D, 3, 1.0
SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class ShellEnded(WavetankError):
    """The shell was ended from outside: a signal, a closed terminal."""

    exit_code = ExitCode.INCONCLUSIVE


class ShellRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A plan of one cell whose surroundings are wanted, and whether its set is to be there."""

    plan: Plan
    with_set: bool
    terminal_kind: str
    log: Path


class User(msgspec.Struct, frozen=True):
    """The user's side: a terminal's descriptors."""

    read: int
    write: int


def run_shell(request: ShellRequest, tools: Tools, user: User, told: Callable[[str], None]) -> int:
    """Until the user leaves; the shell's exit status. `told` gets a line for each stage.

    Raises LabError when the lab can't be made or is lost, ShellEnded on SIGTERM, SIGHUP or the
    end of the user's input.
    """
    require_programs(request.plan, tools.is_installed)
    ours, guests = os.openpty()
    try:
        _copy_window_size(user.read, ours)
        spec = _spec(request, tools, guests)
        memory.require_workers([spec.memory_bytes], 1, tools.available_memory_bytes())
        with signals_as_flag(SIGNALS) as ended, tools.start_guest(spec) as guest:
            _await_ready(guest, told, ended)
            with _raw(user.read), _following_window(user.read, ours):
                return _Joined(guest, user, ours, ended).until_left()
    finally:
        os.close(ours)
        os.close(guests)


def _spec(request: ShellRequest, tools: Tools, terminal: int) -> GuestSpec:
    planned = request.plan.trials[0]
    cell = planned.cell
    job = ShellJob(
        trial=GuestTrial(index=0, cell=cell, repeat=0),
        engine=str(tools.engine),
        probe=str(tools.probe),
        terminal=TERMINAL,
        terminal_kind=request.terminal_kind,
        with_set=request.with_set,
    )
    return GuestSpec(
        kernel=tools.kernel.path,
        memory_bytes=memory.guest_memory_bytes([cell]),
        clock=cell.clock,
        seed=cell.seed,
        syscall_ns=syscall_cost.of_cell(cell),
        job=msgspec.json.encode(job),
        log=request.log,
        name="shell",
        ram_disk_bytes=cell.disk.size_bytes if is_memory(cell.disk) else 0,
        entry="wavetank.conduct.in_shell",
        terminal=terminal,
    )


def _await_ready(guest: GuestHandle, told: Callable[[str], None], ended: threading.Event) -> None:
    told("booting the guest")
    deadline = time.monotonic() + READY_DEADLINE_S
    while time.monotonic() < deadline:
        if ended.is_set():
            raise ShellEnded("ended.")
        for event in _events(guest, POLL_S):
            match event:
                case Booted():
                    told("emulating and measuring the network, mounting the system")
                case Ready():
                    return
                case CouldNot(reason=reason):
                    raise LabError(f"the lab could not be set up: {reason}")
                case Left():
                    raise LabError("the shell ended before it began. Try: wavetank doctor")
    raise LabError(f"the lab was not ready within {READY_DEADLINE_S:g} s (wall clock).")


def _events(guest: GuestHandle, timeout_s: float) -> Iterator[ShellEvent]:
    for line in guest.lines(timeout_s):
        if line.lstrip().startswith(b"{"):
            try:
                yield msgspec.json.decode(line, type=ShellEvent)
            except msgspec.DecodeError as error:
                raise LabError(f"the guest wrote an event not understood: {error}") from error


class _Joined:
    """The user's terminal and the guest's, joined byte by byte."""

    def __init__(
        self, guest: GuestHandle, user: User, terminal: int, ended: threading.Event
    ) -> None:
        self._guest = guest
        self._user = user
        self._terminal = terminal
        self._ended = ended
        self._escapes: list[float] = []

    def until_left(self) -> int:
        """The shell's exit status."""
        look_at_s = 0.0
        while True:
            if self._ended.is_set():
                raise ShellEnded("ended.")
            ready, _, _ = select.select([self._user.read, self._terminal], [], [], POLL_S)
            if self._terminal in ready:
                self._to_user()
            if self._user.read in ready and not self._to_guest():
                return 0
            # Also while the screen scrolls: what the guest has to tell is not on it.
            if not ready or time.monotonic() >= look_at_s:
                look_at_s = time.monotonic() + 1.0
                for event in _events(self._guest, 0.0):
                    if isinstance(event, Left):
                        self._to_user(wait=False)
                        return event.status

    def _to_user(self, wait: bool = True) -> None:
        if not wait and not select.select([self._terminal], [], [], 0)[0]:
            return
        _write_all(self._user.write, os.read(self._terminal, CHUNK_BYTES))

    def _to_guest(self) -> bool:
        """False when the user is to be let out: three escapes, or no terminal any more."""
        try:
            typed = os.read(self._user.read, CHUNK_BYTES)
        except OSError:
            typed = b""
        if not typed:
            raise ShellEnded("the terminal was closed; the shell is ended.")
        if self._is_escape(typed):
            return False
        _write_all(self._terminal, typed)
        return True

    def _is_escape(self, typed: bytes) -> bool:
        now = time.monotonic()
        for byte in typed:
            self._escapes = [*self._escapes, now] if byte == ESCAPE else []
        self._escapes = [at for at in self._escapes if now - at <= ESCAPE_WITHIN_S]
        return len(self._escapes) >= ESCAPE_TIMES


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Every key goes to the guest; as it was before, afterwards."""
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal, termios.TCSANOW)
        yield
    finally:
        with contextlib.suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextmanager
def _following_window(source: int, target: int) -> Iterator[None]:
    """The guest's window is as large as the user's, also after it was resized."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def resize(_number: int, _frame: FrameType | None) -> None:
        _copy_window_size(source, target)

    before = signal.signal(signal.SIGWINCH, resize)
    try:
        _copy_window_size(source, target)
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


def _copy_window_size(source: int, target: int) -> None:
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(source, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)


__all__ = ["GuestDied", "ShellEnded", "ShellRequest", "User", "run_shell"]
