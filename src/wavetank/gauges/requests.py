"""Requests that the client of a mounted system sends: NFS calls, SCSI and NVMe commands.

One request and its answer are what R04 calls a message. The counters are the kernel's own; systems
that are programs (FUSE) have none.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

_SPOKEN_TO = ("sd", "nvme")
# /sys/block/*/stat (Documentation/block/stat.rst): completed reads, writes, discards, flushes.
_COMPLETED = (0, 4, 11, 15)


def read(mounted: Path, root: Path = Path("/")) -> int | None:
    """Requests sent so far for the system mounted at `mounted`; None where nobody counts them."""
    source, kind = _mount(mounted, root)
    if kind in ("nfs", "nfs4"):
        return _nfs_calls(root)
    if not source.startswith("/dev/"):
        return None
    name = (root / source.lstrip("/")).resolve().name
    slaves = root / "sys/block" / name / "slaves"
    disks = sorted(one.name for one in slaves.iterdir()) if slaves.is_dir() else []
    disks = [one for one in disks or [name] if one.startswith(_SPOKEN_TO)]
    return sum(_commands(root, one) for one in disks) if disks else None


def between(before: int | None, after: int | None) -> int | msgspec.UnsetType:
    """What was sent between two readings."""
    return msgspec.UNSET if before is None or after is None else after - before


def _mount(mounted: Path, root: Path) -> tuple[str, str]:
    """Source and type of what is mounted there, and of the last where several are."""
    found = "", ""
    for line in (root / "proc/self/mounts").read_text().splitlines():
        source, target, kind, *_ = line.split()
        if target == str(mounted):
            found = source, kind
    return found


def _nfs_calls(root: Path) -> int | None:
    for line in (root / "proc/net/rpc/nfs").read_text().splitlines():
        name, *counted = line.split()
        if name == "rpc":
            return int(counted[0])
    return None


def _commands(root: Path, disk: str) -> int:
    counted = (root / "sys/block" / disk / "stat").read_text().split()
    return sum(int(counted[one]) for one in _COMPLETED if one < len(counted))
