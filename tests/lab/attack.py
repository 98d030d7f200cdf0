"""Every way we know to change a directory, and a host, from inside: run as root of a guest.

`against_directory` is also run on the host itself, where all of it must succeed: an attack that
could not hurt anybody would prove nothing.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path


def against_directory(root: Path) -> dict[str, bool]:
    """What changed something under `root` (which has file, victim, folder/ and link -> file)."""
    return {name: _tried(attack, root) for name, attack in _ON_DIRECTORY.items()}


def _tried(attack: Callable[[Path], object], root: Path) -> bool:
    try:
        attack(root)
    except OSError:
        return False
    return True


def _write_through_map(root: Path) -> None:
    import mmap

    with (root / "file").open("r+b") as file, mmap.mmap(file.fileno(), 4) as view:
        view[:4] = b"map!"
        view.flush()


def _write_at_end(root: Path) -> None:
    with (root / "file").open("ab", buffering=0) as file:
        file.write(b"appended")
        os.fsync(file.fileno())


_ON_DIRECTORY: dict[str, Callable[[Path], object]] = {
    "append": _write_at_end,
    "write through a map": _write_through_map,
    "write through a link": lambda root: (root / "link").write_bytes(b"linked"),
    "truncate": lambda root: os.truncate(root / "file", 1),
    "create": lambda root: (root / "new").write_bytes(b"new"),
    "make a directory": lambda root: (root / "made").mkdir(),
    "make a link": lambda root: (root / "soft").symlink_to("file"),
    "make a hard link": lambda root: (root / "hard").hardlink_to(root / "file"),
    "make a fifo": lambda root: os.mkfifo(root / "fifo"),
    "change the mode": lambda root: os.chmod(root / "file", 0o4777),
    "change the times": lambda root: os.utime(root / "file", (1, 1)),
    "change the owner": lambda root: os.chown(root / "file", os.getuid(), os.getgid()),
    "rename": lambda root: os.rename(root / "victim", root / "renamed"),
    "remove": lambda root: os.unlink(
        root / "renamed" if (root / "renamed").exists() else root / "victim"
    ),
    "remove a directory": lambda root: os.rmdir(root / "folder"),
}


def main(scratch: str) -> None:
    """The guest's init: remounts the host in every way, attacks, and reports what worked."""
    from wavetank.lab.guest import mounts

    request = json.loads(Path(scratch, "job.json").read_text())
    # Before and after the overlay: init's own root is the host's, mounted for writing.
    worked = {f"bare root: {name}" for name in _won(Path(request["canary"]))}
    mounts.enter_overlay_root(scratch)
    worked |= {f"hostfs again: {name}" for name in _won(_host(request["canary"]))}
    worked |= {f"unshared: {name}" for name in _unshared(request["canary"])}
    worked |= {name for name, attack in _ON_HOST.items() if _reached(attack, request)}
    with (mounts.EXCHANGE / "records.jsonl").open("a") as file:
        file.write(json.dumps({"worked": sorted(worked)}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    mounts.power_off()


def _won(root: Path) -> list[str]:
    return [name for name, worked in against_directory(root).items() if worked]


def _host(path: str) -> Path:
    """The host's file system, mounted once more for writing."""
    from wavetank.lab.guest import mounts

    place = Path("/host")
    place.mkdir(exist_ok=True)
    mounts.mount("host", place, "hostfs", "/")
    return place / path.lstrip("/")


def _unshared(canary: str) -> list[str]:
    """From a user namespace of its own, with all capabilities a guest can have."""
    from wavetank.lab.guest import mounts

    child = os.fork()
    if child == 0:
        try:
            mounts.unshare(0x10000000 | 0x00020000)
            os._exit(1 if _won(Path("/host", canary.lstrip("/"))) else 0)
        except OSError:
            os._exit(0)
    return ["from a user namespace"] if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) else []


def _reached(attack: Callable[[dict[str, str]], bool], request: dict[str, str]) -> bool:
    try:
        return attack(request)
    except OSError:
        return False


def _write(path: str, text: str) -> bool:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return True


def _kill(request: dict[str, str]) -> bool:
    """A process of the host's: its number means nothing here."""
    os.kill(int(request["victim_pid"]), signal.SIGKILL)
    return True


def _connect(request: dict[str, str]) -> bool:
    with socket.create_connection(("127.0.0.1", int(request["port"])), timeout=2):
        return True


def _connect_to_path(request: dict[str, str]) -> bool:
    with socket.socket(socket.AF_UNIX) as talker:
        talker.connect("/host" + request["socket"])
        return True


def _set_host_time(_: dict[str, str]) -> bool:
    """Sets the guest's clock: the host's must not follow (checked there)."""
    ctypes.CDLL(None).settimeofday((ctypes.c_long * 2)(1, 0), None)
    return False


_ON_HOST: dict[str, Callable[[dict[str, str]], bool]] = {
    "sysctl of the host": lambda _: _write("/host/proc/sys/kernel/hostname", "taken"),
    "sysrq of the host": lambda _: _write("/host/proc/sysrq-trigger", "h"),
    "memory of a host process": lambda r: _write(f"/host/proc/{r['victim_pid']}/mem", "x"),
    "oom score of a host process": lambda r: _write(
        f"/host/proc/{r['victim_pid']}/oom_score_adj", "1000"
    ),
    "cgroup of the host": lambda r: _write("/host/sys/fs/cgroup/cgroup.procs", r["victim_pid"]),
    "kill a host process": _kill,
    "connect to the host": _connect,
    "connect to a socket file of the host": _connect_to_path,
    "host's clock": _set_host_time,
}
