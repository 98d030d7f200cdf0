"""One build of the guest kernel in a tree that is already unpacked and patched.

Owns the calls of make, the check that every setting of the fragment survived Kconfig, and
the progress of the compilation. It knows no cache and leaves the tree to its caller.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import IO

import msgspec

from wavetank.lab.host.kernel_errors import KernelBuildFailed

OBJECTS_ESTIMATE = 1718
"""Objects and archives that make announced for kernel/wavetank.config on Linux 6.12.117."""

COMPILE_DEADLINE_S = 3600

PROGRAMS = {
    "make": "build-essential",
    "gcc": "build-essential",
    "ld": "build-essential",
    "patch": "build-essential",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
"""Programs a build calls, and the packages they come in (Debian's and Ubuntu's names)."""

_OBJECT_LINE = re.compile(r"^  (CC|AS|AR|LD|HOSTCC|HOSTLD)\b")


class BuildStep(StrEnum):
    WAITING = "waiting for another build"
    UNPACKING = "unpacking the source"
    CONFIGURING = "configuring"
    COMPILING = "compiling"
    INSTALLING = "installing"


class BuildProgress(msgspec.Struct, frozen=True):
    """How far a build is. `objects_total` is an estimate; the counts are 0 before compiling."""

    step: BuildStep
    elapsed_s: float
    objects_done: int = 0
    objects_total: int = 0


Report = Callable[[BuildProgress], None]


class Stopwatch:
    """Reports progress with the seconds since it was made."""

    def __init__(self, report: Report, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._monotonic = monotonic
        self._started_s = monotonic()

    @property
    def elapsed_s(self) -> float:
        return self._monotonic() - self._started_s

    def tell(self, step: BuildStep, done: int = 0, total: int = 0) -> None:
        self._report(BuildProgress(step, self.elapsed_s, done, max(done, total)))


def check_programs() -> None:
    """Raises KernelBuildFailed naming the missing programs and the command that installs them."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        packages = " ".join(sorted({PROGRAMS[name] for name in missing}))
        raise KernelBuildFailed(
            f"building the guest kernel needs {', '.join(missing)}. "
            f"Try: sudo apt-get install {packages}"
        )


def configure(tree: Path, fragment: Path, log: Path) -> None:
    """Make `.config` from the fragment alone, and check that Kconfig kept all of it."""
    command = ["make", "ARCH=um", "allnoconfig"]
    environment = {**make_environment(), "KCONFIG_ALLCONFIG": str(fragment)}
    with log.open("ab") as stream:
        finished = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            timeout=COMPILE_DEADLINE_S,
            check=False,
        )
    if finished.returncode != 0:
        raise KernelBuildFailed.reading(log, "the kernel could not be configured")
    lost = lost_settings(fragment.read_text(), (tree / ".config").read_text())
    if lost:
        raise KernelBuildFailed(
            f"this kernel source does not take {', '.join(lost[:5])}"
            f"{' and more' if len(lost) > 5 else ''} of {fragment}. "
            "Try: another source (--source), or correct the fragment's dependencies"
        )


def lost_settings(fragment: str, config: str) -> list[str]:
    """Settings of the fragment that the final config does not have, in the fragment's order."""
    final = _settings(config)
    return [
        f"CONFIG_{name}={value}"
        for name, value in _settings(fragment).items()
        if final.get(name, "n") != value
    ]


def compile_kernel(tree: Path, log: Path, objects_total: int, stopwatch: Stopwatch) -> int:
    """Run make until `tree/linux` is there; the number of objects it announced.

    An exception in between (Ctrl-C too) ends make and all its children.
    """
    jobs = len(os.sched_getaffinity(0))
    command = ["make", "ARCH=um", f"-j{jobs}", "linux"]
    deadline_s = stopwatch.elapsed_s + COMPILE_DEADLINE_S
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=make_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        with log.open("a", buffering=1) as stream:
            done = _follow(process.stdout, stream, objects_total, stopwatch, deadline_s)
        returncode = process.wait(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
    if returncode != 0:
        raise KernelBuildFailed.reading(log, "the kernel did not compile")
    return done


def strip_into(tree: Path, target: Path) -> None:
    """Copy the kernel without its symbols for debuggers; kallsyms stay, so do stack traces."""
    subprocess.run(
        ["strip", "--strip-all", "-o", str(target), str(tree / "linux")], check=True, timeout=60
    )
    target.chmod(0o755)


def release_of(tree: Path) -> str:
    return (tree / "include" / "config" / "kernel.release").read_text().strip()


def compiler() -> str:
    """The first line of `gcc --version`."""
    told = subprocess.run(
        ["gcc", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    return told.stdout.splitlines()[0]


def make_environment() -> dict[str, str]:
    """The environment without what would steer kbuild, and with what makes builds alike."""
    steering = ("KBUILD_", "KCONFIG_", "MAKE", "MFLAGS")
    named = {"ARCH", "SUBARCH", "CROSS_COMPILE", "CFLAGS", "CPPFLAGS", "LDFLAGS", "O", "V", "W"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(steering) and name not in named
    }
    return {
        **kept,
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01 00:00:00 UTC",
        "KBUILD_BUILD_USER": "wavetank",
        "KBUILD_BUILD_HOST": "wavetank",
        "KBUILD_BUILD_VERSION": "1",
    }


def _settings(text: str) -> dict[str, str]:
    return dict(re.findall(r"^CONFIG_(\w+)=(\S.*)$", text, re.MULTILINE))


def _follow(
    output: IO[str], log: IO[str], objects_total: int, stopwatch: Stopwatch, deadline_s: float
) -> int:
    done = 0
    for line in output:
        log.write(line)
        if _OBJECT_LINE.match(line):
            done += 1
            stopwatch.tell(BuildStep.COMPILING, done, objects_total)
        if stopwatch.elapsed_s > deadline_s:
            raise KernelBuildFailed(
                f"the kernel did not compile within {COMPILE_DEADLINE_S} s; the log: {log.name}"
            )
    return done
