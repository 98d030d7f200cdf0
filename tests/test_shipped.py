"""What the package carries beside Python, and where it is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wavetank import shipped

CHECKOUT = Path(__file__).resolve().parent.parent


def test_the_wheel_carries_every_program_that_is_looked_for() -> None:
    listed = re.search(
        r"^BINARIES = \((.*?)\)", (CHECKOUT / "hatch_build.py").read_text(), re.M | re.S
    )
    assert listed is not None
    assert tuple(re.findall(r'"(.*?)"', listed.group(1))) == shipped.PROGRAMS


def test_the_kernels_recipe_is_whole() -> None:
    recipe = shipped.kernel_recipe()
    assert (recipe / "wavetank.config").is_file()
    assert list((recipe / "patches").glob("*.patch"))


def test_studies_inside_the_package_go_before_the_checkouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (shipped.studies() / "h14").is_dir()
    (tmp_path / "studies").mkdir()
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path)
    assert shipped.studies() == tmp_path / "studies"


def test_studies_that_are_lost_name_the_command_that_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path)
    monkeypatch.setattr(shipped, "_CHECKOUT", tmp_path)
    with pytest.raises(shipped.ShippedFileMissing, match=r"studies .* Try: pip install"):
        shipped.studies()


def test_a_program_inside_the_package_goes_before_the_checkouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "wavetank-load"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path)
    assert shipped.binary("wavetank-load") == program


def test_a_program_that_is_not_built_names_the_command_that_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path)
    monkeypatch.setattr(shipped, "_CARGO_RELEASE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(shipped.ShippedFileMissing, match=r"wavetank-load is not built\. Try: "):
        shipped.binary("wavetank-load")


def test_a_program_on_the_path_is_the_last_resort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "wavetank-tap"
    program.touch(mode=0o755)
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "none")
    monkeypatch.setattr(shipped, "_CARGO_RELEASE", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shipped.binary("wavetank-tap") == program
