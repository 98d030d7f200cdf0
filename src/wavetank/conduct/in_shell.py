"""The guest's init when what is wanted is a prompt: path, disk and system as for a trial, then a
shell on the terminal, as root of the guest, in the client's namespace.

The shell's own files live in the guest's memory; of the host's it has the read-only view that
every guest has.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import sys
import termios
import traceback
from contextlib import ExitStack
from pathlib import Path

import msgspec

from wavetank import systems, workloads
from wavetank.conduct.guest_job import Booted
from wavetank.conduct.in_guest import effective_settings, prepare_kernel
from wavetank.conduct.shell_banner import BANNER, RC, banner, shell_rc
from wavetank.conduct.shell_job import CouldNot, Left, Ready, ShellEvent, ShellJob
from wavetank.lab.guest import mounts, programs
from wavetank.lab.guest.disks import attached
from wavetank.lab.guest.topology import Topology
from wavetank.lab.guest.verify import verify
from wavetank.runs.records import NetworkMeasured
from wavetank.systems import syscall_cost
from wavetank.systems.bed import Bed

HOME = Path("/run/wavetank-shell")
JOB, OUTPUT = HOME / "fill.json", HOME / "fill.jsonl"
FILL_DEADLINE_S = 20 * 86400.0


def main(scratch: str) -> None:
    """Runs as process 1 of the guest; `scratch` is the host's path of the exchange directory."""
    try:
        mounts.enter_overlay_root(scratch)
        mounts.mount_kernel_interfaces()
        prepare_kernel()
        HOME.mkdir()
        tell(Booted())
        job = msgspec.json.decode((mounts.EXCHANGE / "job.json").read_bytes(), type=ShellJob)
        serve(job)
    except BaseException as error:
        traceback.print_exc()
        sys.stdout.flush()
        tell(CouldNot(f"{error}" or type(error).__name__))
    mounts.power_off()


def tell(event: ShellEvent) -> None:
    """One line to the host, on the host's side when this returns."""
    with (mounts.EXCHANGE / "records.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(event) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def serve(job: ShellJob) -> None:
    """Everything up, the shell until it is left, everything down by the end of the guest."""
    cell = job.trial.seeded_cell
    system = systems.file_system(cell.system.name)
    with ExitStack() as stack:
        topology = stack.enter_context(Topology(cell.network, job.trial.seed))
        cost_ns = syscall_cost.of_cell(cell)
        measured = None
        if system.needs_network:
            measured = verify(topology, job.probe, cell.clock, cost_ns)
        topology.shape(cell.network)  # the probe's packets are not the user's
        device = stack.enter_context(attached(cell.disk))
        bed = Bed(topology, device, lambda root: fill(job, root), cell.cache_state)
        stack.enter_context(system.up(bed, cell.system.options))
        write_shell_files(job, measured)
        settings = effective_settings()
        tell(
            Ready(
                mount_source=settings.get("mount_source", ""),
                mount_type=settings.get("mount_type", ""),
                network=measured,
            )
        )
        status = shell(job)
        tell(Left(status))


def fill(job: ShellJob, directory: Path) -> None:
    """The set of the trial, on the server's side, where one was asked for."""
    prepared = workloads.on_files(job.trial.cell.workload.name).prepare(job.trial.seeded_cell)
    if prepared is None or not job.with_set:
        return
    root = str(directory)
    JOB.write_bytes(msgspec.json.encode(msgspec.structs.replace(prepared, root=root)))
    programs.run([job.engine, str(JOB), "--output", str(OUTPUT)], deadline_s=FILL_DEADLINE_S)
    os.sync()


def write_shell_files(job: ShellJob, measured: NetworkMeasured | None) -> None:
    """What the shell reads when it starts."""
    (HOME / RC).write_text(shell_rc(job.trial.cell, HOME))
    (HOME / BANNER).write_text(banner(job.trial.cell, measured, job.with_set))


def shell(job: ShellJob) -> int:
    """An interactive shell that owns the terminal, until it ends; its exit status."""
    child = os.fork()
    if child == 0:
        try:
            _become_shell(job)
        except BaseException:
            traceback.print_exc()
        os._exit(127)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _become_shell(job: ShellJob) -> None:
    """A session of its own with the terminal as its controlling one. Never returns."""
    os.setsid()
    terminal = os.open(job.terminal, os.O_RDWR)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(terminal, descriptor)
    os.closerange(3, 256)
    # Python ignores these; a shell's children must not.
    ctypes.CDLL(None).signal(13, 0)
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(HOME),
        "TERM": job.terminal_kind,
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "USER": "root",
    }
    bash = shutil.which("bash")
    os.chdir("/mnt/target")
    if bash is not None:
        os.execve(bash, ["bash", "--noprofile", "--rcfile", str(HOME / RC), "-i"], environment)
    os.execve("/bin/sh", ["sh", "-i"], environment | {"ENV": str(HOME / RC)})
