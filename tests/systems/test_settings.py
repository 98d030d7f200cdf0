"""Settings of the systems: defaults, units, what can't be meant, and what the kernel is told."""

from __future__ import annotations

import pytest

from wavetank import systems
from wavetank.errors import UsageError
from wavetank.systems import filesystem
from wavetank.systems.iscsi import _negotiated
from wavetank.systems.nfs import Nfs


def mount_options(version: str, **raw: str) -> list[str]:
    settings = systems.resolve(f"nfs{version}", raw)
    return Nfs(version).mount_options(settings).split(",")


def test_every_system_resolves_without_a_word_from_the_user() -> None:
    for name in systems.names():
        settings = systems.resolve(name, {})
        assert settings["fs"] == "ext4"
        parameters = systems.get(name).parameters
        always = {one.key for one in parameters if one.only_with is None}
        assert always <= set(settings) <= {one.key for one in parameters}


def test_only_the_local_disk_needs_no_network() -> None:
    assert [name for name in systems.names() if not systems.needs_network(name)] == ["local"]


@pytest.mark.parametrize(
    ("name", "raw", "told"),
    [
        ("nfs", {}, "did you mean nfs"),
        ("nfs4.2", {"nconect": "4"}, "did you mean nconnect?"),
        ("nfs4.2", {"nconnect": "17"}, "more than 16"),
        ("nfs4.2", {"rsize": "3KiB"}, "power of two"),
        ("nfs2", {"rsize": "64KiB"}, "can't exceed 8KiB"),
        ("iscsi", {"scheduler": "cfq"}, "not one of bfq"),
        ("iscsi", {"segment": "100B"}, "RFC 7143"),
        ("iscsi", {"first-burst": "1MiB", "max-burst": "64KiB"}, "first-burst can't exceed"),
        ("iscsi", {"sessions": "17"}, "more than 16"),
        ("nvme", {"fs": "ext3"}, "not one of ext4, xfs"),
    ],
)
def test_what_can_not_be_meant_is_told_in_one_sentence(
    name: str, raw: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        systems.resolve(name, raw)
    assert "\n" not in str(caught.value)


def test_what_is_not_said_is_left_to_linux() -> None:
    options = mount_options("4.2")
    assert {"vers=4.2", "hard", "proto=tcp"} <= set(options)
    assert not any(
        option.startswith(("rsize", "wsize", "nconnect", "actimeo")) for option in options
    )


def test_what_is_said_reaches_the_mount() -> None:
    options = mount_options("3", nconnect="8", rsize="64KiB", wsize="32KiB", actimeo="0")
    assert {"nconnect=8", "rsize=65536", "wsize=32768", "actimeo=0", "nolock"} <= set(options)


def test_the_target_offers_the_lengths_of_h14_by_default() -> None:
    offered = _negotiated(systems.resolve("iscsi", {}))
    assert offered["MaxRecvDataSegmentLength"] == "65536"
    assert offered["InitialR2T"] == "No"


def test_blocks_in_use_are_what_dumpe2fs_does_not_call_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = (
        "Block size:               4096\n"
        "Group 0: (Blocks 0-99)\n  Free blocks: 10-19, 30\n"
        "Group 1: (Blocks 100-199)\n  Free blocks: 100-189\n"
    )
    monkeypatch.setattr(filesystem.programs, "run", lambda arguments: report)
    assert filesystem.used_ranges("ext4", "/dev/x", 200 * 4096) == [
        (0, 10 * 4096),
        (20 * 4096, 30 * 4096),
        (31 * 4096, 100 * 4096),
        (190 * 4096, 200 * 4096),
    ]
    assert filesystem.used_ranges("xfs", "/dev/x", 4096) == [(0, 4096)]


def test_inode_tables_that_were_never_written_are_not_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """16 inodes to a block: 20 take two. An empty table keeps one, which ext4 may read ahead."""
    report = (
        "Block size:               4096\n"
        "Inodes per group:         64\n"
        "Inode size:\t          256\n"
        "Group 0: (Blocks 0-99)\n  Inode table at 10-13\n"
        "  80 free blocks, 44 free inodes, 2 directories, 44 unused inodes\n  Free blocks: 20-99\n"
        "Group 1: (Blocks 100-199) [INODE_UNINIT]\n  Inode table at 14-17 (bg #0 + 14)\n"
        "  100 free blocks, 64 free inodes, 0 directories, 64 unused inodes\n"
        "  Free blocks: 100-199\n"
    )
    monkeypatch.setattr(filesystem.programs, "run", lambda arguments: report)
    assert filesystem.used_ranges("ext4", "/dev/x", 200 * 4096) == [
        (0, 12 * 4096),
        (14 * 4096, 15 * 4096),
        (18 * 4096, 20 * 4096),
    ]
