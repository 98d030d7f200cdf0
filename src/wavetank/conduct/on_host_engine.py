"""The load engine as a process of the host: one job, its records, under a deadline.

The engine is started as it is, with nothing between it and the files: what is measured is what
it measures alone. It has a process group of its own, so that Ctrl-C reaches Wavetank only (no
session: the scheduler may share the CPU out by session), and dies with Wavetank, so that `kill -9`
leaves nobody writing.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wavetank.errors import WavetankError
from wavetank.lab.host.processor_limit import Held
from wavetank.runs.records import PhaseRecord
from wavetank.workloads.job import EngineJob
from wavetank.workloads.object_job import ObjectJob

WAKE_S = 0.5
# Beside the log, in the run directory: never on what is measured.
JOB, OUTPUT = "host-job.json", "host-records.jsonl"
# PR_SET_PDEATHSIG is 1, SIGKILL 9 (prctl(2)); a parent that is gone already ends it at once.
_DYING_WITH_PARENT = (
    "import ctypes, os, sys\n"
    "ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)\n"
    "if sys.argv[2]: open(sys.argv[2], 'w').write('0')\n"
    "if os.getppid() == int(sys.argv[1]): os.execv(sys.argv[3], sys.argv[3:])\n"
)


def dying_with_us(command: Sequence[str], held: Held | None = None) -> list[str]:
    """The command, started so that it dies with this process, and under the limit where one is."""
    held = held or Held()
    start = [sys.executable, "-I", "-S", "-c", _DYING_WITH_PARENT, str(os.getpid())]
    return [*start, str(held.procs or ""), *held.prefix, *command]


class EngineFailed(WavetankError):
    """The load engine could not do the job at all."""


class EngineOverdue(WavetankError):
    """The load engine did not end in time."""


class EngineStopped(WavetankError):
    """The user ended the run while the engine worked."""


class Engine:
    """Runs jobs; `interrupted` ends the one that runs, raising EngineStopped. `held`: the limit of
    processor time that the engine is under.
    """

    def __init__(
        self,
        program: Path,
        log: Path,
        interrupted: threading.Event,
        held: Held | None = None,
    ) -> None:
        self._held = held
        self._program = program
        self._log = log
        self._interrupted = interrupted

    def run(self, job: EngineJob, root: Path, deadline_s: float) -> list[PhaseRecord]:
        """The job on `root`, ended at `deadline_s` of time.monotonic()."""
        return self.do(msgspec.structs.replace(job, root=str(root)), deadline_s)

    def do(self, job: EngineJob | ObjectJob, deadline_s: float) -> list[PhaseRecord]:
        """The job as it is, ended at `deadline_s` of time.monotonic()."""
        job_file, output = self._log.with_name(JOB), self._log.with_name(OUTPUT)
        try:
            # What a killed run left here; the engine appends.
            output.unlink(missing_ok=True)
            job_file.write_bytes(msgspec.json.encode(job))
            self._run(job_file, output, deadline_s)
            return [
                msgspec.json.decode(line, type=PhaseRecord)
                for line in output.read_bytes().splitlines()
            ]
        finally:
            job_file.unlink(missing_ok=True)
            output.unlink(missing_ok=True)

    def _run(self, job_file: Path, output: Path, deadline_s: float) -> None:
        command = [str(self._program), str(job_file), "--output", str(output)]
        with self._log.open("ab+") as log:
            before = log.tell()
            process = subprocess.Popen(
                dying_with_us(command, self._held),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
            try:
                self._wait(process, deadline_s)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            if process.returncode:
                log.seek(before)
                said = log.read().decode(errors="replace").strip().splitlines() or ["nothing"]
                raise EngineFailed(said[-1].removeprefix("wavetank-load: "))

    def _wait(self, process: subprocess.Popen[bytes], deadline_s: float) -> None:
        """Wakes when the engine ends, and twice a second to look at the user and the clock."""
        ended = os.pidfd_open(process.pid)
        try:
            while not select.select([ended], [], [], WAKE_S)[0]:
                if self._interrupted.is_set():
                    raise EngineStopped("interrupted.")
                if time.monotonic() > deadline_s:
                    raise EngineOverdue("the load engine did not end in time.")
        finally:
            os.close(ended)
        process.wait()
