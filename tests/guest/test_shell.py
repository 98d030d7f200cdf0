"""Claims about `wavetank shell` with a real guest, typed into through a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

DEADLINE_S = 300.0
TYPING_S = 0.2
PROMPT = "target]# "


class Typist:
    """Somebody at a terminal in front of `wavetank shell`."""

    def __init__(self, words: str) -> None:
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            program = [sys.executable, "-c", "from wavetank.cli import main; main()"]
            os.environ["TERM"] = "dumb"
            os.execv(sys.executable, [*program, "shell", *words.split()])
        self.seen = ""

    def await_text(self, text: str) -> str:
        """Everything new up to `text`."""
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.seen and time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break
        assert text in self.seen, self.seen
        before, _, self.seen = self.seen.partition(text)
        return before

    def does(self, command: str) -> str:
        """What the command prints. Nobody types in the moment the prompt appears; what is typed
        ahead may get lost (docs/limits.md).
        """
        time.sleep(TYPING_S)
        os.write(self.terminal, command.encode() + b"\n")
        shown = self.await_text(PROMPT)
        plain = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", shown).replace("\r", "")
        return plain.partition("\n")[2].rpartition("[")[0]

    def exit_code(self) -> int:
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.1)[0]:
                with suppress(OSError):
                    self.seen += os.read(self.terminal, 65536).decode(errors="replace")
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"wavetank shell did not end: {self.seen!r}")


@contextmanager
def typist(words: str) -> Iterator[Typist]:
    one = Typist(words)
    try:
        yield one
    finally:
        os.close(one.terminal)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(one.pid, signal.SIGKILL)
            os.waitpid(one.pid, 0)


@pytest.mark.guest
def test_the_system_is_mounted_over_the_network_asked_for_and_can_be_used() -> None:
    words = "--system nfs4.2 --network latency-50 --clock virtual --file-size 4KiB --set-size 64KiB"
    with typist(words) as user:
        banner = user.await_text(PROMPT)
        assert "latency-50" in banner
        assert "RTT 50 ms" in banner
        assert "10.0.2.1:/ on /mnt/target type nfs4" in user.does("mount")
        assert "/mnt/target" in user.does("df")
        assert "f000015" in user.does("ls d00000")
        user.does("echo hello > greeting")
        assert user.does("cat /srv/wavetank/greeting").strip() == "hello"
        assert "10.0.2.1" in user.does("server ip -br address")
        if shutil.which("ping"):
            assert "time=50" in user.does("ping -c1 10.0.2.1")
        os.write(user.terminal, b"exit 5\n")
        assert user.exit_code() == 0


@pytest.mark.guest
def test_ctrl_d_leaves_and_ctrl_c_does_not(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("as it was")
    with typist("--system local --network ideal-100") as user:
        user.await_text(PROMPT)
        # The quotes part the word that is typed from the word that is printed. It is the child that
        # prints it: between commands of its own bash may shrug Ctrl-C off.
        os.write(user.terminal, b"sh -c 'echo sle\"\"eps; sleep 1000'\n")
        user.await_text("sleeps")
        os.write(user.terminal, b"\x03")
        user.await_text(PROMPT)
        assert user.does("echo still here").strip() == "still here"
        assert user.does(f"echo changed > {canary}; cat {canary}").strip() == "changed"
        assert user.does("rm -rf /bin/true; tty").strip() == "/dev/tty1"
        os.write(user.terminal, b"\x04")
        assert user.exit_code() == 0
    assert canary.read_text() == "as it was"
    assert Path("/bin/true").exists()
