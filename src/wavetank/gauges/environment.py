"""Where the numbers come from: programs, kernel, protection, and the machine that ran them."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path

from wavetank import __version__
from wavetank.lab.host.guest import namespaces_allowed
from wavetank.lab.host.kernel import BuiltKernel
from wavetank.runs.records import Environment

ASKING_S = 20.0
# Debian packages whose programs or files take part in what is measured.
PACKAGES = ("nfs-kernel-server", "rpcbind", "open-iscsi", "nvme-cli", "e2fsprogs", "xfsprogs")


def collect(kernel: BuiltKernel, engine: Path) -> Environment:
    """The environment of a run that begins now."""
    return Environment(
        wavetank_version=__version__,
        kernel_release=kernel.release,
        kernel_digest=kernel.digest,
        engine_version=_output([str(engine), "--version"]),
        engine_ceiling_operations_per_s=_ceiling(engine),
        isolation="namespaces" if namespaces_allowed() else "user rights only",
        versions=package_versions(),
        host={
            "cpu": _cpu_model(),
            "cores": str(os.cpu_count()),
            "kernel": platform.release(),
            "python": platform.python_version(),
        },
    )


def collect_host(engine: Path, place: str, page_cache: str) -> Environment:
    """The environment of a run outside the lab: this machine's own kernel stands for the guest's.

    `place` says what is measured, `page_cache` how it is emptied.
    """
    kernel = f"{platform.release()} {platform.version()}"
    return Environment(
        wavetank_version=__version__,
        kernel_release=platform.release(),
        kernel_digest=hashlib.sha256(kernel.encode()).hexdigest()[:16],
        engine_version=_output([str(engine), "--version"]),
        engine_ceiling_operations_per_s=_ceiling(engine),
        isolation=place,
        versions={},
        host={
            "cpu": _cpu_model(),
            "cores": str(os.cpu_count()),
            "kernel": platform.release(),
            "page cache": page_cache,
        },
    )


def package_versions() -> dict[str, str]:
    """Versions of the installed ones of PACKAGES, as dpkg tells them."""
    listed = _output(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES])
    pairs = (line.split() for line in listed.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _output(command: list[str]) -> str:
    """What a program prints, or "" where it can't be asked."""
    try:
        return subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=ASKING_S,
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _ceiling(engine: Path) -> float | None:
    """The engine's own limit, items per second of doing nothing, on this host."""
    try:
        found = json.loads(_output([str(engine), "ceiling"]))["operations_per_s"]
    except (json.JSONDecodeError, KeyError):
        return None
    return float(found)


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
