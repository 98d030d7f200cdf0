"""What this machine lacks for Wavetank, and the command that puts it right.

`Machine.here()` looks, once and without changing anything; `examine()` judges what was seen and
is pure. That two runs of one cell give the same bytes is another question, which needs a guest:
it is asked beside this file and shown by the same command (`wavetank doctor --repeat`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Literal

import msgspec

from wavetank import shipped, systems
from wavetank.conduct import memory
from wavetank.errors import WavetankError
from wavetank.lab.host import guest, kernel
from wavetank.systems.object_programs import CACHED, OF_THE_DISTRIBUTION, locate

Status = Literal["ok", "missing", "optional"]

# A guest's memory, its disks' contents included, beside what the rest of the machine needs.
MEMORY_WANTED_BYTES = 4 << 30

# Daemons and makers of file systems lie where a plain user's PATH does not lead.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin:/usr/sbin:/sbin"])


# Where the programs of the systems come from: Debian's and Ubuntu's names.
PACKAGES = {
    "dmsetup": "dmsetup",
    "dumpe2fs": "e2fsprogs",
    "fusermount3": "fuse3",
    "iscsiadm": "open-iscsi",
    "iscsid": "open-iscsi",
    "memcached": "memcached",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "nvme": "nvme-cli",
    "redis-server": "redis-server",
    "rpc.mountd": "nfs-kernel-server",
    "rpcbind": "rpcbind",
    "s3fs": "s3fs",
}


def find_program(name: str) -> str | None:
    """Full path of a program that a system is made of, or None."""
    if name in CACHED:
        return locate(name)
    return shutil.which(name, path=SEARCH_PATH)


class Program(msgspec.Struct, frozen=True):
    """A program that systems are made of, and what can't be done without it."""

    name: str
    serves: str
    optional: bool = False

    @property
    def remedy(self) -> str:
        """The command that installs it."""
        if self.name in CACHED:
            return CACHED[self.name].remedy
        return f"sudo apt-get install {PACKAGES[self.name]}"


def programs() -> tuple[Program, ...]:
    """Every program that a system is made of, each once, and what only an option asks for."""
    serves: dict[str, list[str]] = {}
    for system_name in systems.names():
        for program_name in systems.get(system_name).programs:
            serves.setdefault(program_name, []).append(system_name)
    alone = {*CACHED, *OF_THE_DISTRIBUTION}
    of_systems = [
        Program(name, ", ".join(served), optional=name in alone) for name, served in serves.items()
    ]
    return (*of_systems, Program("mkfs.xfs", "the option fs=xfs", optional=True))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at. `remedy` is a command or an advice, and None where all is well.

    missing: comparisons fail or lack a system without it. optional: they run all the same.
    """

    name: str
    status: Status
    detail: str
    remedy: str | None = None


class Shipped(msgspec.Struct, frozen=True):
    """Something of our own, built or not: where it is, or the sentence that says it isn't."""

    name: str
    there: bool
    detail: str


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a machine. Sizes in bytes; None where the machine does not tell."""

    programs: dict[str, str | None]
    kernel: Shipped
    binaries: tuple[Shipped, ...]
    available_memory_bytes: int | None
    cores: int
    namespaces_allowed: bool
    is_root: bool
    restricting_settings: tuple[str, ...]
    ptrace_scope: int | None
    scratch_is_executable: bool | None
    scratch_free_bytes: int | None

    @classmethod
    def here(cls, scratch: Path = Path("/dev/shm")) -> Machine:
        """This machine, now."""
        return cls(
            programs={p.name: find_program(p.name) for p in programs()},
            kernel=_kernel_here(),
            binaries=tuple(_binary_here(name) for name in shipped.PROGRAMS),
            available_memory_bytes=_available_memory_bytes(),
            cores=len(os.sched_getaffinity(0)),
            namespaces_allowed=guest.namespaces_allowed(),
            is_root=os.geteuid() == 0,
            restricting_settings=_restricting_settings(),
            ptrace_scope=_number("/proc/sys/kernel/yama/ptrace_scope"),
            scratch_is_executable=_is_executable(scratch),
            scratch_free_bytes=shutil.disk_usage(scratch).free if scratch.is_dir() else None,
        )


def examine(machine: Machine) -> list[Finding]:
    """Every finding, in the order in which a user would put things right."""
    return [
        *[_program(program, machine.programs.get(program.name)) for program in programs()],
        *[_shipped(binary, "make binaries") for binary in machine.binaries],
        _shipped(machine.kernel, "wavetank kernel build"),
        _protection(machine),
        _tracing(machine.ptrace_scope),
        _memory(machine.available_memory_bytes),
        _scratch(machine),
        Finding(name="cores", status="ok", detail=f"{machine.cores}: as many guests side by side"),
    ]


def is_fit(findings: list[Finding]) -> bool:
    """Whether nothing that comparisons need is missing."""
    return all(finding.status != "missing" for finding in findings)


def _program(program: Program, path: str | None) -> Finding:
    if path is not None:
        return Finding(name=program.name, status="ok", detail=path)
    return Finding(
        name=program.name,
        status="optional" if program.optional else "missing",
        detail=f"not installed; it serves {program.serves}",
        remedy=program.remedy,
    )


def _shipped(seen: Shipped, remedy: str) -> Finding:
    if seen.there:
        return Finding(name=seen.name, status="ok", detail=seen.detail)
    what, _, told = seen.detail.partition(" Try: ")
    return Finding(name=seen.name, status="missing", detail=what, remedy=told or remedy)


def _protection(machine: Machine) -> Finding:
    if machine.namespaces_allowed:
        by = "root's" if machine.is_root else "user"
        return Finding(
            name="isolation",
            status="ok",
            detail=f"{by} namespaces: a guest sees this machine's files read-only, has no "
            "capabilities and no network",
        )
    settings = " ".join(machine.restricting_settings)
    return Finding(
        name="isolation",
        status="optional",
        detail="namespaces are forbidden here: a guest runs with your own rights, no more",
        remedy=f"sudo sysctl {settings}"
        if settings
        else "allow user namespaces (in a container: its seccomp profile or --privileged)",
    )


def _tracing(scope: int | None) -> Finding:
    # Yama's scopes 2 and 3 forbid a process without capabilities to trace even its own children,
    # which is how the guest kernel runs its processes (Documentation/admin-guide/LSM/Yama.rst).
    if scope is not None and scope >= 2:
        return Finding(
            name="tracing",
            status="missing",
            detail=f"kernel.yama.ptrace_scope is {scope}, which keeps the guest kernel from "
            "running its processes",
            remedy="sudo sysctl kernel.yama.ptrace_scope=1"
            if scope == 2
            else "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d, and restart the machine",
        )
    return Finding(name="tracing", status="ok", detail="a process may trace its children")


def _memory(available_bytes: int | None) -> Finding:
    if available_bytes is None:
        return Finding(name="memory", status="optional", detail="this machine does not tell")
    seen = f"{available_bytes / 2**30:.1f} GiB available"
    if available_bytes < MEMORY_WANTED_BYTES:
        return Finding(
            name="memory",
            status="missing",
            detail=f"{seen}; a guest with its disks may fill {MEMORY_WANTED_BYTES >> 30} GiB",
            remedy="close other programs, or choose smaller file sets and --workers 1",
        )
    return Finding(name="memory", status="ok", detail=seen)


def _scratch(machine: Machine) -> Finding:
    """Under namespaces a guest's memory lies in a tmpfs of its own; else in /dev/shm itself."""
    free = machine.scratch_free_bytes
    if free is None:
        return Finding(
            name="/dev/shm",
            status="missing",
            detail="there is no such folder; a guest's memory lies in it",
            remedy="sudo mkdir /dev/shm && sudo mount -t tmpfs tmpfs /dev/shm",
        )
    if machine.namespaces_allowed:
        return Finding(name="/dev/shm", status="ok", detail="each guest gets one of its own")
    if machine.scratch_is_executable is False or free < MEMORY_WANTED_BYTES:
        return Finding(
            name="/dev/shm",
            status="missing",
            detail=f"{free / 2**30:.1f} GiB free"
            + ("" if machine.scratch_is_executable else ", and mounted noexec"),
            remedy=f"sudo mount -o remount,exec,size={MEMORY_WANTED_BYTES >> 30}G /dev/shm",
        )
    return Finding(name="/dev/shm", status="ok", detail=f"{free / 2**30:.1f} GiB free")


def _kernel_here() -> Shipped:
    try:
        built = kernel.find()
    except WavetankError as error:
        return Shipped("guest kernel", False, str(error))
    return Shipped("guest kernel", True, f"Linux {built.release}, {built.path}")


def _binary_here(name: shipped.Program) -> Shipped:
    try:
        return Shipped(name, True, str(shipped.binary(name)))
    except WavetankError as error:
        return Shipped(name, False, str(error))


def _available_memory_bytes() -> int | None:
    try:
        return memory.available_bytes()
    except (OSError, WavetankError):
        return None


def _restricting_settings() -> tuple[str, ...]:
    """The settings that forbid user namespaces here, each with the value that allows them."""
    allowing = {
        "kernel.unprivileged_userns_clone": (0, 1),  # Debian
        "kernel.apparmor_restrict_unprivileged_userns": (1, 0),  # Ubuntu from 23.10
        "user.max_user_namespaces": (0, 1024),
    }
    return tuple(
        f"{name}={allows}"
        for name, (forbids, allows) in allowing.items()
        if _number("/proc/sys/" + name.replace(".", "/", 1)) == forbids
    )


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None


def _is_executable(folder: Path) -> bool | None:
    try:
        return not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except OSError:
        return None
