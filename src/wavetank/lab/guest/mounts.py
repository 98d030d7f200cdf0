"""System calls of the guest's set-up, and its root: a writable overlay on the host's files.

Everything is done by the one process that is the guest's init: a fork and exec costs some
30 ms of wall time inside User-Mode Linux, a system call 26 us.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_BIND, MS_MOVE, MS_REC = 1, 2, 4, 4096, 8192, 16384
MNT_DETACH = 2
SYS_PIVOT_ROOT = 155  # x86-64
# Where the host's scratch directory is seen: the job comes in and the records go out here.
EXCHANGE = Path("/run/wavetank")

_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, doing: str) -> int:
    """The result, or OSError naming what was being done."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")
    return result


def mount(source: str, target: Path | str, kind: str, options: str = "", flags: int = 0) -> None:
    """mount(2). Raises OSError that names file system and target."""
    check(
        _libc.mount(
            source.encode(),
            str(target).encode(),
            kind.encode(),
            ctypes.c_ulong(flags),
            options.encode(),
        ),
        f"mounting {kind or 'bind'} {source} on {target} ({options})",
    )


def unmount(target: Path | str, lazily: bool = False) -> None:
    """umount2(2)."""
    check(_libc.umount2(str(target).encode(), MNT_DETACH if lazily else 0), f"unmounting {target}")


def enter_overlay_root(scratch: str) -> None:
    """Pivots into an overlay: the host's files below, a tmpfs above, kernel file systems mounted.

    `scratch` is the host's path of the exchange directory. The guest may write anywhere; all
    of it is gone with the guest.
    """
    mount("overlay", "/mnt", "tmpfs", "mode=0755")
    for name in ("upper", "work", "root"):
        os.mkdir(f"/mnt/{name}")
    root = "/mnt/root"
    mount("root", root, "overlay", "lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work")
    mount("proc", f"{root}/proc", "proc")
    mount("sys", f"{root}/sys", "sysfs")
    mount("dev", f"{root}/dev", "devtmpfs")
    mount("run", f"{root}/run", "tmpfs", "mode=0755")
    for name, kind in (("shm", "tmpfs"), ("pts", "devpts")):
        os.makedirs(f"{root}/dev/{name}", exist_ok=True)
        mount(kind, f"{root}/dev/{name}", kind)
    os.mkdir(root + str(EXCHANGE))
    mount("exchange", root + str(EXCHANGE), "hostfs", scratch)
    os.mkdir(f"{root}/run/lower")
    os.chdir(root)
    check(
        _libc.syscall(SYS_PIVOT_ROOT, b".", f"{root}/run/lower".encode()),
        "pivoting into the overlay",
    )
    os.chdir("/")
    unmount("/run/lower", lazily=True)


def mount_kernel_interfaces() -> None:
    """configfs (LIO, nvmet, null_blk) and an empty /var/lib/nfs: no state of the host's daemons."""
    mount("configfs", "/sys/kernel/config", "configfs")
    os.makedirs("/var/lib/nfs", exist_ok=True)
    mount("nfsstate", "/var/lib/nfs", "tmpfs", "mode=0755")


def unshare(flags: int) -> None:
    """unshare(2)."""
    check(_libc.unshare(flags), "making a namespace")


def setns(descriptor: int, kind: int) -> None:
    """setns(2) of the calling thread."""
    check(_libc.setns(descriptor, kind), "entering a namespace")


def power_off() -> None:
    """Ends the guest. Never returns."""
    os.sync()
    _libc.reboot(0x4321FEDC)
