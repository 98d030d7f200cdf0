"""Claims about the directory of a measurement outside the lab: ours alone, and gone afterwards."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from wavetank.conduct import on_host_directory
from wavetank.conduct.on_host_directory import (
    MARK,
    PREFIX,
    DirectoryFailed,
    DirectoryRefused,
    OwnDirectory,
)
from wavetank.errors import ExitCode

NOW = "2026-01-15T10:00:00+00:00"


def own(path: Path, token: str | None = None) -> OwnDirectory:
    return OwnDirectory(path, NOW, token)


def fill(root: Path) -> None:
    """What the load engine makes."""
    for folder in ("d00000", "d00001"):
        (root / folder).mkdir()
        for file in ("f0000000", "f0000001"):
            (root / folder / file).write_bytes(b"x")


def test_what_is_made_is_marked_and_gone_afterwards(tmp_path: Path) -> None:
    with own(tmp_path, "abc") as made, made.file_set() as root:
        fill(root)
        assert [path.name for path in tmp_path.iterdir()] == [f"{PREFIX}abc"]
        assert "wavetank bench" in (made.path / MARK).read_text()
    assert list(tmp_path.iterdir()) == []


def test_each_set_begins_empty(tmp_path: Path) -> None:
    with own(tmp_path) as made:
        for _ in range(2):
            with made.file_set() as root:
                assert list(root.iterdir()) == []
                fill(root)


def test_a_failure_in_the_body_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with own(tmp_path) as made, made.file_set() as root:
            fill(root)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_use_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(DirectoryRefused, match=r"not empty .*thesis\.tex"), own(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_root_of_a_fresh_file_system_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    with own(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["lost+found"]


def test_what_a_killed_run_left_is_recognised_and_its_removal_told(tmp_path: Path) -> None:
    with own(tmp_path, "abc") as made, made.file_set() as root:
        fill(root)
        shutil.copytree(made.path, tmp_path / "saved")
    (tmp_path / "saved").rename(tmp_path / f"{PREFIX}abc")
    with pytest.raises(DirectoryRefused) as refused, own(tmp_path):
        pass
    sentence = str(refused.value)
    assert NOW in sentence
    assert f"rm -r {tmp_path / PREFIX}abc" in sentence
    assert (tmp_path / f"{PREFIX}abc/set/d00000/f0000000").exists()


def test_a_run_that_is_still_going_on_is_told_apart_from_one_that_was_killed(
    tmp_path: Path,
) -> None:
    with (
        own(tmp_path),
        pytest.raises(DirectoryRefused, match=f"process {os.getpid()} .* is measuring"),
        own(tmp_path),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_only_looks_like_ours_is_the_users(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}abc").mkdir()
    (tmp_path / f"{PREFIX}abc" / MARK).write_text("{}")
    with pytest.raises(DirectoryRefused, match="is not empty"), own(tmp_path):
        pass


def test_what_somebody_else_put_there_stays_and_is_told(tmp_path: Path) -> None:
    def measure_beside_somebody() -> None:
        with own(tmp_path, "abc") as made, made.file_set() as root:
            fill(root)
            (root / "d00000" / "letter.txt").write_text("mine")

    with pytest.raises(DirectoryFailed, match="rm -r") as left:
        measure_beside_somebody()
    assert (tmp_path / f"{PREFIX}abc/set/d00000/letter.txt").read_text() == "mine"
    assert not (tmp_path / f"{PREFIX}abc/set/d00000/f0000000").exists()
    assert (tmp_path / f"{PREFIX}abc" / MARK).exists(), "the mark goes last"
    assert "\n" not in str(left.value)


def test_a_link_in_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    path, outside = tmp_path / "path", tmp_path / "outside"
    path.mkdir()
    outside.mkdir()
    (outside / "f0000000").write_text("mine")
    with pytest.raises(DirectoryFailed), own(path) as made, made.file_set() as root:
        (root / "d00000").symlink_to(outside)
    assert (outside / "f0000000").read_text() == "mine"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_text(""), "is not a directory"),
    ],
)
def test_what_is_no_directory_is_refused_with_exit_code_2(
    tmp_path: Path, make: Callable[[Path], None], said: str
) -> None:
    path = tmp_path / "there"
    make(path)
    with pytest.raises(DirectoryRefused, match=said) as refused, own(path):
        pass
    assert refused.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EROFS, "is read-only"),
        (errno.EACCES, "can't be written by this user"),
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "quota"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_file_system_that_refuses_is_told_in_one_sentence_with_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(on_host_directory.os, "mkdir", refuse)
    with pytest.raises(DirectoryFailed, match=said) as failed, own(tmp_path):
        pass
    assert failed.value.exit_code == ExitCode.TESTBED_FAILED
    assert str(failed.value).startswith(str(tmp_path)) or number == errno.EDQUOT


def test_room_is_asked_for_before_it_is_needed(tmp_path: Path) -> None:
    with own(tmp_path) as made:
        made.require_room(1 << 20)
        with pytest.raises(DirectoryFailed, match="--set-size"):
            made.require_room(1 << 60)


def test_a_directory_that_was_removed_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "mount"
    path.mkdir()
    with own(path) as made:
        made.require_writable()
        shutil.rmtree(path)
        with pytest.raises(DirectoryRefused, match="does not exist"):
            made.require_writable()
