"""Where the guest kernel's source comes from, and how it becomes a tree ready to configure.

A source is the distribution's package (`/usr/src/linux-source-*.tar.*`), another tarball, or an
unpacked tree; it is only ever read. Unpacking leaves out what no build for `ARCH=um` compiles
(drivers of real hardware, other architectures), keeping every Kconfig file and Makefile.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

import msgspec

from wavetank.lab.host.kernel_errors import KernelBuildFailed, SourceMissing

VERIFIED_VERSION = (6, 12)
"""The version the patches are made for; preferred where several sources are installed."""

UNPACK_DEADLINE_S = 600

# What may be left out of the folders below: code and texts, never what Kconfig or make reads.
_UNREAD_SUFFIXES = ("[chS]", "dts", "dtsi", "rst", "yaml", "txt", "json", "py", "svg")
_UNCOMPILED_FOLDERS = (
    "Documentation",
    *(
        f"arch/{name}"
        for name in (
            "alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips nios2 openrisc "
            "parisc powerpc riscv s390 sh sparc xtensa"
        ).split()
    ),
    *(
        f"drivers/{name}"
        for name in (
            "accel clk comedi crypto gpio gpu hid hwmon iio infiniband input media memory mfd "
            "mmc mtd net/ethernet net/wireless phy pinctrl power regulator soc spi staging "
            "thunderbolt usb video"
        ).split()
    ),
    "sound",
    "tools/perf",
    "tools/testing",
)


class KernelSource(msgspec.Struct, frozen=True):
    """A source as found. `digest` is SHA-256 over a tarball's bytes or a tree's listing."""

    path: Path
    digest: str

    @property
    def name(self) -> str:
        return self.path.name


def locate(given: Path | None, installed_under: Path = Path("/usr/src")) -> KernelSource:
    """The source to build from: the one given, or the distribution's package.

    Raises SourceMissing with the command that installs it.
    """
    if given is not None:
        return KernelSource(given.resolve(), _digest_of(_checked(given)))
    candidates = sorted(_installed(installed_under), key=_preference)
    if not candidates:
        raise SourceMissing(
            f"there is no kernel source package under {installed_under}. "
            "Try: sudo apt-get install linux-source-6.12 (Debian 12) or linux-source (Ubuntu)"
        )
    return KernelSource(candidates[-1], _digest_of(candidates[-1]))


def unpack(source: KernelSource, tree: Path, log: Path) -> None:
    """Fill the empty folder `tree` with what a build needs. Raises KernelBuildFailed."""
    tree.mkdir(parents=True)
    excludes = [f"--exclude={pattern}" for pattern in excluded_patterns()]
    if source.path.is_dir():
        pack = ["tar", "--create", "--exclude=.git", *excludes, "--directory", str(source.path)]
        command = ["sh", "-c", '"$@" . | tar --extract --directory "$0"', str(tree), *pack]
    else:
        command = ["tar", "--extract", "--strip-components=1", *excludes, "--directory", str(tree)]
        command += ["--file", str(source.path)]
    # xz takes its number of threads from here, and ignores it where it has only one.
    environment = {**os.environ, "XZ_DEFAULTS": "--threads=0"}
    _run(command, tree, log, f"{source.path} could not be unpacked", environment)
    if not (tree / "arch" / "um" / "Kconfig").is_file():
        raise KernelBuildFailed(
            f"{source.path} holds no kernel source for User-Mode Linux (no arch/um/Kconfig). "
            "Try: wavetank kernel build --source with the path of a Linux source tarball"
        )


def apply_patches(patches: list[Path], source: KernelSource, tree: Path, log: Path) -> None:
    """Apply Wavetank's patches in order. Raises KernelBuildFailed naming the first that fails."""
    for patch in patches:
        command = ["patch", "--strip=1", "--batch", "--forward", "--input", str(patch)]
        version = ".".join(str(part) for part in VERIFIED_VERSION)
        _run(
            command,
            tree,
            log,
            f"{patch.name} does not apply to {source.name} (it is made for Linux {version})",
            dict(os.environ),
        )


def excluded_patterns() -> list[str]:
    """Wildcards of tar (where `*` crosses slashes) for files that no build for ARCH=um reads."""
    return [
        f"*/{folder}/*.{suffix}" for folder in _UNCOMPILED_FOLDERS for suffix in _UNREAD_SUFFIXES
    ]


def _checked(given: Path) -> Path:
    if not given.exists():
        raise SourceMissing(
            f"there is no kernel source at {given}. "
            "Try: the path of a linux-source tarball or of an unpacked source tree"
        )
    return given


def _installed(under: Path) -> list[Path]:
    # Debian puts the tarball straight here, Ubuntu into a folder named after the version.
    patterns = ("linux-source-*.tar.*", "linux-source-*/linux-source-*.tar.*")
    return [path for pattern in patterns for path in under.glob(pattern) if path.is_file()]


def _preference(path: Path) -> tuple[bool, tuple[int, ...]]:
    found = re.search(r"linux-source-(\d+(?:\.\d+)*)", path.name)
    version = tuple(int(part) for part in found.group(1).split(".")) if found else ()
    return version[:2] == VERIFIED_VERSION, version


def _digest_of(path: Path) -> str:
    if path.is_dir():
        return _listing_digest(path)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _listing_digest(tree: Path) -> str:
    """Names, sizes and modification times stand for the content: reading 1.5 GB would not do."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = Path(folder, name)
            facts = path.lstat()
            line = f"{path.relative_to(tree)}\0{facts.st_size}\0{facts.st_mtime_ns}\n"
            digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _run(
    command: list[str], tree: Path, log: Path, failed: str, environment: dict[str, str]
) -> None:
    with log.open("ab") as stream:
        try:
            finished = subprocess.run(
                command,
                cwd=tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=UNPACK_DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise KernelBuildFailed.reading(log, f"{failed} in {UNPACK_DEADLINE_S} s") from error
    if finished.returncode != 0:
        raise KernelBuildFailed.reading(log, failed)
