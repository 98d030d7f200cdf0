"""Claims about the count of a client's requests, on trees as Linux has them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from wavetank.gauges import requests

MOUNTED = Path("/mnt/target")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("proc/self", "proc/net/rpc", "dev", "sys/block"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proc/net/rpc/nfs").write_text("net 0 0 0 0\nrpc 32768 3 32770\nproc3 22 0 1\n")
    return tmp_path


def mount(root: Path, source: str, kind: str) -> None:
    lines = f"none / hostfs rw 0 0\n{source} {MOUNTED} {kind} rw,relatime 0 0\n"
    (root / "proc/self/mounts").write_text(lines)


def disk(root: Path, name: str, stat: str) -> None:
    (root / "dev" / name).touch()
    (root / "sys/block" / name).mkdir()
    (root / "sys/block" / name / "stat").write_text(stat)


@pytest.mark.parametrize("kind", ["nfs", "nfs4"])
def test_nfs_counts_its_calls(root: Path, kind: str) -> None:
    mount(root, "10.0.2.1:/", kind)
    assert requests.read(MOUNTED, root) == 32768


def test_a_scsi_disk_counts_reads_writes_discards_and_flushes(root: Path) -> None:
    mount(root, "/dev/sda", "ext4")
    disk(root, "sda", "100 9 9 9 20 9 9 9 9 9 9 3 9 9 9 4 9\n")
    assert requests.read(MOUNTED, root) == 127


def test_several_paths_to_one_disk_are_added_up(root: Path) -> None:
    mount(root, "/dev/dm-0", "ext4")
    disk(root, "dm-0", "999 0 0 0 999 0 0\n")
    for name in ("sda", "sdb"):
        disk(root, name, "10 0 0 0 5 0 0\n")
        (root / "sys/block/dm-0/slaves" / name).mkdir(parents=True)
    assert requests.read(MOUNTED, root) == 30


@pytest.mark.parametrize(
    ("source", "kind"), [("/dev/ram0", "ext4"), ("s3fs", "fuse.s3fs"), ("/elsewhere", "ext4")]
)
def test_what_nobody_counts_is_not_made_up(root: Path, source: str, kind: str) -> None:
    mount(root, source, kind)
    (root / "dev/ram0").touch()
    assert requests.read(MOUNTED, root) is None
    assert requests.between(None, None) is msgspec.UNSET


def test_what_was_sent_is_the_difference(root: Path) -> None:
    assert requests.between(10, 17) == 7
    assert requests.between(10, 10) == 0
