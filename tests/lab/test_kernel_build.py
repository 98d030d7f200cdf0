"""The kernel's cache and build, with a source tree and tools of a few lines in place of Linux's."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from wavetank import shipped
from wavetank.lab.host import kernel, kernel_build, kernel_source
from wavetank.lab.host.kernel import BuildProgress, BuildStep
from wavetank.lab.host.kernel_errors import last_error_line

# Kconfig and kbuild in a nutshell: takes the fragment as it is, announces two objects.
MAKEFILE = """\
allnoconfig:
\t@cat $(KCONFIG_ALLCONFIG) > .config
\t@test ! -e lose || sed -i '/NFSD/d' .config
linux:
\t@echo "  CC      init/main.o"
\t@test ! -e broken || { echo "init/main.c:7: error: no wind" ; false; }
\t@echo "  CC      init/version.o"
\t@mkdir -p include/config && echo 6.12.1 > include/config/kernel.release
\t@cp /bin/true linux
"""
CONFIG = "CONFIG_NET=y\nCONFIG_NFSD=y\nCONFIG_HW_RANDOM=n\n"
PATCH = """\
--- a/arch/um/Kconfig
+++ b/arch/um/Kconfig
@@ -1 +1 @@
-default 100
+default 250
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A tree with the few files that a build looks at."""
    tree = tmp_path / "linux-source-6.12"
    (tree / "arch/um").mkdir(parents=True)
    (tree / "arch/um/Kconfig").write_text("default 100\n")
    (tree / "drivers/gpu").mkdir(parents=True)
    (tree / "drivers/gpu/big.c").write_text("int x;\n")
    (tree / "drivers/gpu/Kconfig").write_text("# GPU\n")
    (tree / "Makefile").write_text(MAKEFILE)
    return tree


@pytest.fixture(autouse=True)
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe of our own, a cache of our own, and no need of a gigabyte."""
    folder = tmp_path / "recipe"
    (folder / "patches").mkdir(parents=True)
    (folder / "wavetank.config").write_text(CONFIG)
    (folder / "patches/0001-tick.patch").write_text(PATCH)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shipped, "kernel_recipe", lambda: folder)
    monkeypatch.setattr(kernel, "BUILD_ROOM_BYTES", 0)
    monkeypatch.setattr(kernel_build, "check_programs", lambda: None)
    return folder


def test_a_missing_kernel_names_the_command_that_builds_it() -> None:
    with pytest.raises(kernel.KernelMissing, match="wavetank kernel build"):
        kernel.find()


def test_a_built_kernel_is_found_and_runs(source: Path) -> None:
    built = kernel.build(source)
    assert kernel.find() == built
    assert built.release == "6.12.1"
    assert subprocess.run([built.path], check=False).returncode == 0


def test_a_second_build_only_looks_it_up(source: Path) -> None:
    first = kernel.build(source)
    told: list[BuildProgress] = []
    assert kernel.build(source, told.append) == first
    assert told == []


def test_a_changed_setting_asks_for_another_kernel(source: Path, recipe: Path) -> None:
    first = kernel.build(source)
    (recipe / "wavetank.config").write_text(CONFIG + "CONFIG_XFS_FS=y\n")
    with pytest.raises(kernel.KernelMissing):
        kernel.find()
    assert kernel.build(source).digest != first.digest


def test_going_back_to_an_older_recipe_needs_no_build(source: Path, recipe: Path) -> None:
    first = kernel.build(source)
    (recipe / "wavetank.config").write_text(CONFIG + "CONFIG_XFS_FS=y\n")
    kernel.build(source)
    (recipe / "wavetank.config").write_text(CONFIG)
    assert kernel.find() == first


def test_a_newer_source_is_another_kernel(source: Path) -> None:
    first = kernel.build(source)
    os.utime(source / "Makefile", ns=(1, 1))
    assert kernel.build(source).digest != first.digest


def test_a_tarball_builds_like_a_tree(source: Path, tmp_path: Path) -> None:
    archive = tmp_path / "linux-source-6.12.tar.xz"
    with tarfile.open(archive, "w:xz") as packed:
        packed.add(source, arcname="linux-source-6.12")
    assert kernel.build(archive).release == "6.12.1"


def test_progress_counts_objects_up_to_the_total_and_time_never_goes_back(source: Path) -> None:
    told: list[BuildProgress] = []
    kernel.build(source, told.append)
    compiling = [p for p in told if p.step is BuildStep.COMPILING]
    assert [p.objects_done for p in compiling] == [1, 2]
    assert all(p.objects_total >= p.objects_done for p in told)
    assert [p.elapsed_s for p in told] == sorted(p.elapsed_s for p in told)
    assert list(dict.fromkeys(p.step for p in told)) == list(BuildStep)[1:]


def test_a_setting_that_kconfig_drops_fails_the_build_by_name(source: Path) -> None:
    (source / "lose").touch()
    with pytest.raises(kernel.KernelBuildFailed, match="CONFIG_NFSD=y"):
        kernel.build(source)


def test_a_compiler_error_is_quoted_with_the_log_that_holds_it(source: Path) -> None:
    (source / "broken").touch()
    with pytest.raises(kernel.KernelBuildFailed, match=r"main\.c:7: error: no wind.*build\.log"):
        kernel.build(source)
    with pytest.raises(kernel.KernelMissing):
        kernel.find()


def test_no_tree_is_left_behind_whatever_happens(source: Path) -> None:
    (source / "broken").touch()
    with pytest.raises(kernel.KernelBuildFailed):
        kernel.build(source)
    assert sorted(path.name for path in kernel.cache_folder().iterdir()) == ["build.log", "lock"]


def test_an_interrupted_build_leaves_no_tree_and_no_kernel(source: Path) -> None:
    def interrupt(progress: BuildProgress) -> None:
        if progress.step is BuildStep.COMPILING:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kernel.build(source, interrupt)
    assert not (kernel.cache_folder() / "tree").exists()
    assert kernel.build(source).release == "6.12.1"


def test_the_tree_of_a_killed_build_is_cleared_by_the_next(source: Path) -> None:
    stale = kernel.cache_folder() / "tree"
    stale.mkdir(parents=True)
    (stale / "half").touch()
    kernel.build(source)
    assert not stale.exists()


def test_a_second_build_at_the_same_time_waits_for_the_first(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "LOCK_POLL_S", 0.01)
    kernel.cache_folder().mkdir(parents=True)
    told: list[BuildStep] = []
    with (kernel.cache_folder() / "lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        def release_once_waited_for(progress: BuildProgress) -> None:
            told.append(progress.step)
            if progress.step is BuildStep.WAITING:
                fcntl.flock(held, fcntl.LOCK_UN)

        kernel.build(source, release_once_waited_for)
    assert told[0] is BuildStep.WAITING


def test_too_little_room_is_told_before_anything_is_unpacked(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "BUILD_ROOM_BYTES", 1 << 60)
    with pytest.raises(kernel.KernelBuildFailed, match="XDG_CACHE_HOME"):
        kernel.build(source)


def test_a_patch_that_does_not_apply_is_named(source: Path) -> None:
    (source / "arch/um/Kconfig").write_text("default 1000\n")
    with pytest.raises(kernel.KernelBuildFailed, match=r"0001-tick\.patch does not apply"):
        kernel.build(source)


@pytest.mark.parametrize("given", ["nowhere", "empty"])
def test_what_is_no_source_is_refused_by_its_path(tmp_path: Path, given: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises((kernel.SourceMissing, kernel.KernelBuildFailed), match=given):
        kernel.build(tmp_path / given)


def test_without_a_source_package_the_error_names_it(tmp_path: Path) -> None:
    with pytest.raises(kernel.SourceMissing, match="apt-get install linux-source"):
        kernel_source.locate(None, installed_under=tmp_path)


def test_the_verified_version_goes_before_a_newer_one(tmp_path: Path) -> None:
    for version in ("6.1", "6.12", "6.17"):
        (tmp_path / f"linux-source-{version}.tar.xz").write_bytes(b"")
    located = kernel_source.locate(None, installed_under=tmp_path)
    assert located.name == "linux-source-6.12.tar.xz"


def test_ubuntus_folder_is_looked_into(tmp_path: Path) -> None:
    folder = tmp_path / "linux-source-6.8.0"
    folder.mkdir()
    (folder / "linux-source-6.8.0.tar.bz2").write_bytes(b"")
    assert kernel_source.locate(None, installed_under=tmp_path).path.parent == folder


def test_unpacking_leaves_out_hardware_code_and_keeps_its_kconfig(
    source: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "unpacked"
    kernel_source.unpack(kernel_source.locate(source), tree, tmp_path / "log")
    assert not (tree / "drivers/gpu/big.c").exists()
    assert (tree / "drivers/gpu/Kconfig").is_file()


def test_a_setting_switched_off_is_lost_when_kconfig_switches_it_on() -> None:
    assert kernel_build.lost_settings("CONFIG_A=n\nCONFIG_B=2\n", "CONFIG_A=y\nCONFIG_B=2\n") == [
        "CONFIG_A=n"
    ]
    assert kernel_build.lost_settings("CONFIG_A=n\n", "# CONFIG_A is not set\n") == []


def test_the_builds_environment_has_nothing_that_steers_kbuild(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("MAKEFLAGS", "ARCH", "KBUILD_OUTPUT", "CROSS_COMPILE"):
        monkeypatch.setenv(name, "x")
    environment = kernel_build.make_environment()
    assert not {"MAKEFLAGS", "ARCH", "KBUILD_OUTPUT", "CROSS_COMPILE"} & set(environment)
    assert environment["KBUILD_BUILD_TIMESTAMP"].startswith("1970")


def test_the_compilers_word_goes_before_makes_last_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("  CC x.o\nx.c:1: error: lost\nmake[2]: *** [x.o] Error 1\nmake: *** Error 2\n")
    assert last_error_line(log) == "x.c:1: error: lost"
    log.write_text("all well\n")
    assert last_error_line(log) == "all well"
