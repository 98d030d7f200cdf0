"""The guest kernel in the user's cache: found in an instant, built once.

$XDG_CACHE_HOME/wavetank/kernels/
    <digest>/linux, manifest.json   a kernel; the digest is of source, config and patches
    current-<recipe digest>         link to the kernel last built or asked for with that recipe
    lock                            held by the one build that may run
    tree/, build.log                of the build that runs, or of the last that failed

A kernel folder appears by one rename, so what is there is whole. The compiler is told in the
manifest and is no part of the digest: under the virtual clock it changes no result.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank import shipped
from wavetank.lab.host import kernel_build, kernel_source
from wavetank.lab.host.kernel_build import BuildProgress, BuildStep, Report, Stopwatch
from wavetank.lab.host.kernel_errors import KernelBuildFailed, KernelMissing, SourceMissing
from wavetank.lab.host.kernel_source import KernelSource

__all__ = [
    "BuildProgress",
    "BuildStep",
    "BuiltKernel",
    "KernelBuildFailed",
    "KernelMissing",
    "SourceMissing",
    "build",
    "find",
]

BUILD_ROOM_BYTES = 1536 << 20
"""Free space a build asks for: source 0.45 GB, objects 0.3 GB, the kernel, and some air."""

LOCK_DEADLINE_S = 3600
LOCK_POLL_S = 0.5


class BuiltKernel(msgspec.Struct, frozen=True):
    """A kernel ready to boot. `digest` names source, config and patches (16 hex digits)."""

    path: Path
    release: str
    digest: str


class KernelManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside a kernel in the cache. Digests are SHA-256."""

    release: str
    digest: str
    recipe_digest: str
    source_name: str
    source_digest: str
    compiler: str
    objects: int
    build_wall_s: float


def cache_folder() -> Path:
    """Where kernels are kept: `$XDG_CACHE_HOME/wavetank/kernels`, by default under `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "wavetank" / "kernels"


def find() -> BuiltKernel:
    """The kernel of this version's recipe. Raises KernelMissing."""
    found = _read(_current_link(cache_folder(), _recipe_digest(shipped.kernel_recipe())))
    if found is None:
        raise KernelMissing("the guest kernel is not built yet. Try: wavetank kernel build")
    return found


def build(source: Path | None = None, progress: Report = lambda _: None) -> BuiltKernel:
    """The kernel made from `source` (by default the distribution's package) and our recipe.

    Returns at once when the cache has it. Raises SourceMissing or KernelBuildFailed.
    """
    stopwatch = Stopwatch(progress)
    recipe = shipped.kernel_recipe()
    located = kernel_source.locate(source)
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / _digest(located, recipe)
    if _read(home) is None:
        kernel_build.check_programs()
        with _only_build(folder, stopwatch):
            if _read(home) is None:
                _build_into(home, located, recipe, stopwatch)
    _point(_current_link(folder, _recipe_digest(recipe)), home.name)
    built = _read(home)
    assert built is not None
    return built


def _build_into(home: Path, source: KernelSource, recipe: Path, stopwatch: Stopwatch) -> None:
    folder = home.parent
    tree, log, staging = folder / "tree", folder / "build.log", folder / "staging"
    for leftover in (tree, staging):  # of a build that was killed: we hold the lock
        shutil.rmtree(leftover, ignore_errors=True)
    log.write_text("")
    _check_room(folder)
    try:
        stopwatch.tell(BuildStep.UNPACKING)
        kernel_source.unpack(source, tree, log)
        kernel_source.apply_patches(_patches(recipe), source, tree, log)
        stopwatch.tell(BuildStep.CONFIGURING)
        kernel_build.configure(tree, _config(recipe), log)
        objects = kernel_build.compile_kernel(tree, log, _objects_expected(folder), stopwatch)
        stopwatch.tell(BuildStep.INSTALLING, objects, objects)
        staging.mkdir()
        kernel_build.strip_into(tree, staging / "linux")
        manifest = KernelManifest(
            release=kernel_build.release_of(tree),
            digest=home.name,
            recipe_digest=_recipe_digest(recipe),
            source_name=source.name,
            source_digest=source.digest,
            compiler=kernel_build.compiler(),
            objects=objects,
            build_wall_s=round(stopwatch.elapsed_s, 1),
        )
        (staging / "manifest.json").write_bytes(msgspec.json.encode(manifest))
        staging.rename(home)
    finally:
        for leftover in (tree, staging):
            shutil.rmtree(leftover, ignore_errors=True)
    log.unlink()


@contextmanager
def _only_build(folder: Path, stopwatch: Stopwatch) -> Iterator[None]:
    """Hold the lock of the cache; another build's end is waited for."""
    with (folder / "lock").open("a") as lock:
        deadline_s = stopwatch.elapsed_s + LOCK_DEADLINE_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stopwatch.elapsed_s > deadline_s:
                    raise KernelBuildFailed(
                        f"another kernel build has held {lock.name} for {LOCK_DEADLINE_S} s. "
                        "Try: end it, then wavetank kernel build"
                    ) from None
                stopwatch.tell(BuildStep.WAITING)
                time.sleep(LOCK_POLL_S)
        yield


def _check_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < BUILD_ROOM_BYTES:
        raise KernelBuildFailed(
            f"building the guest kernel needs {BUILD_ROOM_BYTES >> 20} MiB in {folder}, and "
            f"{free >> 20} MiB are free. Try: XDG_CACHE_HOME=/somewhere/else wavetank kernel build"
        )


def _read(home: Path) -> BuiltKernel | None:
    """The kernel in a folder of the cache, or None where there is no whole one."""
    try:
        text = (home / "manifest.json").read_bytes()
        manifest = msgspec.json.decode(text, type=KernelManifest)
    except (OSError, msgspec.MsgspecError):
        return None
    path = home.resolve() / "linux"
    if not os.access(path, os.X_OK):
        return None
    return BuiltKernel(path=path, release=manifest.release, digest=manifest.digest)


def _objects_expected(folder: Path) -> int:
    """What the last build here announced, else the estimate."""
    newest = 0.0
    expected = kernel_build.OBJECTS_ESTIMATE
    for path in folder.glob("*/manifest.json"):
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=KernelManifest)
            modified = path.stat().st_mtime
        except (OSError, msgspec.MsgspecError):
            continue
        if modified > newest:
            newest, expected = modified, manifest.objects
    return expected


def _point(link: Path, target: str) -> None:
    """Make `link` lead to `target` in one step."""
    fresh = link.with_name(f"{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _current_link(folder: Path, recipe_digest: str) -> Path:
    return folder / f"current-{recipe_digest[:16]}"


def _config(recipe: Path) -> Path:
    return recipe / "wavetank.config"


def _patches(recipe: Path) -> list[Path]:
    return sorted((recipe / "patches").glob("*.patch"))


def _recipe_digest(recipe: Path) -> str:
    digest = hashlib.sha256()
    for path in (_config(recipe), *_patches(recipe)):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _digest(source: KernelSource, recipe: Path) -> str:
    both = f"{source.digest}\0{_recipe_digest(recipe)}".encode()
    return hashlib.sha256(both).hexdigest()[:16]
