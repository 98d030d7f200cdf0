"""Claims about what is asked of the machine itself: mounts, page cache, disks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from wavetank.gauges import host


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def written(path: Path, size_bytes: int) -> Path:
    with path.open("wb") as file:
        file.write(b"a" * size_bytes)
        file.flush()
        os.fsync(file.fileno())
    return path


def test_a_mount_is_found_by_its_number_and_not_by_its_name(folder: int, tmp_path: Path) -> None:
    number = next(
        line.split()[1]
        for line in Path(f"/proc/self/fdinfo/{folder}").read_text().splitlines()
        if line.startswith("mnt_id")
    )
    table = tmp_path / "mountinfo"
    table.write_text(
        f"1{number} 1 0:5 / {tmp_path} rw - tmpfs wrong rw\n"
        f"{number} 1 0:6 / /mnt/my\\040nas rw,noatime shared:3 - nfs4 10.0.0.2:/export "
        "rw,vers=4.2\n"
    )
    assert host.mount_of(folder, table) == host.Mount(
        kind="nfs4",
        source="10.0.0.2:/export",
        options="rw,noatime,vers=4.2",
        point="/mnt/my nas",
    )


def test_the_mount_of_a_real_directory_is_known(folder: int) -> None:
    found = host.mount_of(folder)
    assert found.kind not in ("", "unknown")
    assert found.point.startswith("/")


def test_a_file_just_written_is_in_memory_and_an_emptied_one_is_not(
    folder: int, tmp_path: Path
) -> None:
    method = host.page_cache_method(folder)
    if method == "none":
        pytest.skip("this file system lives in memory")
    files = [written(tmp_path / name, 1 << 16) for name in "abc"]
    assert host.cached_share(files) == 1.0
    host.sync_file_system(folder)
    host.empty_page_cache(method, files)
    assert host.cached_share(files) == 0.0


def test_without_root_the_set_itself_is_dropped(folder: int, tmp_path: Path) -> None:
    method = host.page_cache_method(folder, drop_caches=tmp_path / "nowhere")
    if method == "none":
        pytest.skip("this file system lives in memory")
    assert method == "posix_fadvise"
    files = [written(tmp_path / "a", 1 << 16), written(tmp_path / "b", 1 << 16)]
    host.empty_page_cache("posix_fadvise", files[:1])
    assert host.cached_share(files[:1]) == 0.0
    assert host.cached_share(files[1:]) == 1.0


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no tmpfs to try")
def test_a_file_system_in_memory_has_no_cache_to_empty() -> None:
    descriptor = os.open("/dev/shm", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert host.mount_of(descriptor).kind == "tmpfs"
        assert host.page_cache_method(descriptor, drop_caches=Path("/nowhere")) == "none"
    finally:
        os.close(descriptor)


def test_trying_leaves_no_file(folder: int, tmp_path: Path) -> None:
    host.page_cache_method(folder, drop_caches=tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_set_and_an_empty_file_have_nothing_cached(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert host.cached_share([]) == 0.0
    assert host.cached_share([tmp_path / "empty"]) == 0.0


def test_a_disk_that_is_written_to_says_so(folder: int, tmp_path: Path) -> None:
    before = host.disk_traffic(folder)
    if before is None:
        pytest.skip("no block device below")
    written(tmp_path / "file", 1 << 20)
    after = host.disk_traffic(folder)
    assert after is not None
    assert after[1] - before[1] >= 1 << 20
