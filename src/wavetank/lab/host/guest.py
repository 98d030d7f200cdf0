"""One guest: starts the kernel in its cage, reads what it writes, ends it whatever happens.

The guest appends JSON lines to a file in its scratch tmpfs; the host holds that directory open
and reads the file as it grows. Nothing the guest writes is opened by a name outside that
directory, and links in it are not followed. A Guest is a context manager: leaving it kills every
process of the guest and with them its memory and mounts.

PR_SET_PDEATHSIG is tied to the *thread* that starts the cage: use a guest from a thread that
outlives it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

import msgspec

from wavetank.lab.errors import GuestDied, LabError
from wavetank.lab.host import kernel
from wavetank.lab.host.processors import PROCESSORS
from wavetank.study.model import Clock

RECORDS, CONSOLE, JOB, BOOT = "records.jsonl", "console.log", "job.json", "boot.py"
# The guest's name of the terminal it is given (con1 of the kernel's command line).
TERMINAL = "/dev/tty1"
START_DEADLINE_S = 20.0
POWER_OFF = "reboot: Power down"  # the kernel's last words, which say nothing
# The virtual wall clock starts here, so that time stamps on disks and wires repeat.
VIRTUAL_START_NS = 1_700_000_000 * 10**9
# Two polls a frame: a trial's record is late by at most this, a boot's by as much.
POLL_S = 0.01
# Scratch beyond the guest's memory: console, records, job.
SCRATCH_EXTRA_BYTES = 256 << 20
CONSOLE_KEPT_BYTES = 1 << 20


class GuestSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What to boot. `entry` is the module whose `main(scratch)` is the guest's init;
    `ram_disk_bytes` the size of its memory disk. `terminal` is a descriptor of ours, the slave
    of a pseudo-terminal: the guest sees it as its TERMINAL, and nothing else of the host's.
    """

    kernel: Path
    memory_bytes: int
    clock: Clock
    seed: int
    syscall_ns: int
    job: bytes
    log: Path
    name: str
    ram_disk_bytes: int = 0
    entry: str = "wavetank.conduct.in_guest"
    terminal: int | None = None


def kernel_arguments(spec: GuestSpec, scratch: str) -> list[str]:
    """The guest kernel's command line (Documentation/virt/uml of the kernel source)."""
    arguments = [
        str(spec.kernel),
        f"mem={spec.memory_bytes >> 20}M",
        "umid=guest",
        f"uml_dir={scratch}/",
        "rootfstype=hostfs",
        "rw",
        "con=null",
        "con0=null,fd:1",
        "quiet",
        "loglevel=4",
        "panic=-1",
        "raid=noautodetect",
        f"wavetank_seed={spec.seed}",
        f"init={sys.executable}",
    ]
    if spec.terminal is not None:
        arguments.append("con1=fd:0")
    if spec.ram_disk_bytes:
        arguments += ["brd.rd_nr=1", f"brd.rd_size={spec.ram_disk_bytes >> 10}"]
    if spec.clock == "virtual":
        arguments += [
            "time-travel=inf-cpu",
            f"time-travel-start={VIRTUAL_START_NS}",
            f"wavetank_syscall_ns={spec.syscall_ns}",
        ]
    return [*arguments, "--", "-I", "-S", "-B", f"{scratch}/{BOOT}"]


def boot_script(entry: str, scratch: str) -> str:
    """Python's start in the guest without `site`: the host's search path and where the user's
    cache is, then `entry.main()`.
    """
    paths = [os.path.abspath(path) for path in sys.path if Path(path).exists()]
    cache = str(kernel.cache_folder().parents[1])
    return (
        f"import os, sys\nsys.path[:] = {paths!r}\nos.environ['XDG_CACHE_HOME'] = {cache!r}\n"
        f"from {entry} import main\nmain({scratch!r})\n"
    )


class Guest:
    """A running guest. Errors: LabError when it can't be started, GuestDied when it is lost."""

    def __init__(self, spec: GuestSpec) -> None:
        self._spec = spec
        self._process: subprocess.Popen[bytes] | None = None
        self._directory: int | None = None
        self._fallback: Path | None = None
        self._offset = 0
        self._rest = b""
        self._started = 0.0
        self._processor: int | None = None
        self.boot_wall_s = 0.0
        self.protection = ""

    def __enter__(self) -> Guest:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    @property
    def pid(self) -> int:
        """The cage's process on the host."""
        assert self._process is not None
        return self._process.pid

    def lines(self, timeout_s: float) -> list[bytes]:
        """New complete lines of the guest's records; waits at most `timeout_s`, [] if none.

        Raises GuestDied when the guest has ended and nothing is left to read.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            ended = self._process is None or self._process.poll() is not None
            found = self._read_lines()
            if found:
                if not self.boot_wall_s:
                    self.boot_wall_s = time.monotonic() - self._started
                return found
            if ended:
                raise GuestDied(f"guest {self._spec.name} ended early: {self._last_words()}")
            left = deadline - time.monotonic()
            if left <= 0:
                return []
            time.sleep(min(POLL_S, left))

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        terminal = self._spec.terminal
        self._started = time.monotonic()
        self._processor = PROCESSORS.claim()
        with ours:
            with theirs:
                self._process = subprocess.Popen(
                    [
                        sys.executable,
                        "-I",
                        "-S",
                        str(Path(__file__).with_name("cage.py")),
                        str(os.getpid()),
                        str(theirs.fileno()),
                    ],
                    stdin=subprocess.DEVNULL if terminal is None else terminal,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                )
            self._hand_over(ours)

    def _hand_over(self, channel: socket.socket) -> None:
        """Sends the request, and receives the scratch directory's descriptor."""
        channel.settimeout(START_DEADLINE_S)
        self._fallback = Path(tempfile.mkdtemp(prefix=f"wavetank-{os.getpid()}-", dir="/dev/shm"))
        scratch = "/dev/shm" if namespaces_allowed() else str(self._fallback)
        request = {
            "argv": kernel_arguments(self._spec, scratch),
            "environment": {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
            "files": {
                JOB: self._spec.job.decode(),
                BOOT: boot_script(self._spec.entry, scratch),
                RECORDS: "",
            },
            "scratch_bytes": self._spec.memory_bytes + SCRATCH_EXTRA_BYTES,
            "fallback_scratch": str(self._fallback),
            "processor": self._processor,
            "terminal": self._spec.terminal is not None,
        }
        try:
            channel.sendall(json.dumps(request).encode() + b"\n")
            message, descriptors, _, _ = socket.recv_fds(channel, 65536, 1)
        except OSError as error:
            raise LabError(
                f"guest {self._spec.name} could not be started: {error}. Try: wavetank doctor"
            ) from error
        reply = json.loads(message) if message else {"error": "the cage ended"}
        if "error" in reply:
            raise LabError(
                f"guest {self._spec.name} could not be caged: {reply['error']}. "
                "Try: wavetank doctor"
            )
        self.protection = reply["protection"]
        self._directory = descriptors[0]
        if self.protection == "namespaces":
            self._fallback.rmdir()
            self._fallback = None

    def _read(self, name: str, offset: int, limit: int) -> bytes:
        """Up to `limit` bytes of a plain file in the scratch directory; links are refused."""
        if self._directory is None:
            return b""
        try:
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._directory
            )
        except OSError:
            return b""
        try:
            return os.pread(descriptor, limit, offset)
        finally:
            os.close(descriptor)

    def _read_lines(self) -> list[bytes]:
        new = self._read(RECORDS, self._offset, 64 << 20)
        self._offset += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        return [line for line in lines if line]

    def _last_words(self) -> str:
        text = self._read(CONSOLE, 0, CONSOLE_KEPT_BYTES).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip() not in ("", POWER_OFF)]
        if "The system was going to sleep forever" in text:
            return "nothing in it was left to wait for (a deadlock)"
        return f'its console ends at "{lines[-1]}"' if lines else "its console is empty"

    def _stop(self) -> None:
        """Kills the cage, and with it the process namespace; keeps the console as the log."""
        process, self._process = self._process, None
        if process is not None:
            _kill_tree(process)
        PROCESSORS.release(self._processor)
        self._processor = None
        if self._directory is not None:
            console = self._read(CONSOLE, 0, CONSOLE_KEPT_BYTES)
            os.close(self._directory)
            self._directory = None
            self._spec.log.parent.mkdir(parents=True, exist_ok=True)
            self._spec.log.write_bytes(console)
        if self._fallback is not None:
            shutil.rmtree(self._fallback, ignore_errors=True)
            self._fallback = None


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the cage and, where it is no namespace's init, to the session it leads."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError):
            kill(process.pid, signal.SIGKILL)
    process.wait()


@functools.cache
def namespaces_allowed() -> bool:
    """Whether this user may make the namespaces of the cage; tried once, in a child process."""
    probe = (
        "import sys; sys.path.insert(0, sys.argv[1]); import cage; "
        "sys.exit(0 if cage.enter_namespaces() else 1)"
    )
    tried = subprocess.run(
        [sys.executable, "-I", "-S", "-c", probe, str(Path(__file__).parent)],
        check=False,
        capture_output=True,
        timeout=START_DEADLINE_S,
    )
    return tried.returncode == 0
