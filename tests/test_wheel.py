"""The wheel: what `pip install .` puts on a machine."""

from __future__ import annotations

import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from wavetank import shipped

CHECKOUT = Path(__file__).resolve().parent.parent

PT_INTERP = 3  # elf(5): asks for a dynamic loader

pytestmark = pytest.mark.slow


def program_header_types(elf: bytes) -> list[int]:
    """The types of a 64-bit ELF file's program headers (elf(5))."""
    [offset] = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return [struct.unpack_from("<I", elf, offset + i * size)[0] for i in range(count)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(CHECKOUT)]
    subprocess.run(command, check=True, timeout=600)
    [built] = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_serves_every_python_on_this_platform(wheel: zipfile.ZipFile) -> None:
    assert Path(str(wheel.filename)).name.endswith("-py3-none-manylinux_2_17_x86_64.whl")


def test_the_wheel_carries_the_programs_executable_and_static(wheel: zipfile.ZipFile) -> None:
    for name in shipped.PROGRAMS:
        entry = wheel.getinfo(f"wavetank/bin/{name}")
        assert (entry.external_attr >> 16) & stat.S_IXUSR
        program = wheel.read(entry)
        assert program.startswith(b"\x7fELF")
        assert PT_INTERP not in program_header_types(program)


def test_the_wheel_carries_the_whole_kernel_recipe(wheel: zipfile.ZipFile) -> None:
    there = {str(p.relative_to(CHECKOUT)) for p in (CHECKOUT / "kernel").rglob("*") if p.is_file()}
    assert {f"wavetank/{name}" for name in there} <= set(wheel.namelist())


def test_the_wheel_carries_the_ready_studies(wheel: zipfile.ZipFile) -> None:
    there = {str(path.relative_to(CHECKOUT)) for path in (CHECKOUT / "studies").rglob("*.toml")}
    assert there
    assert {f"wavetank/{name}" for name in there} <= set(wheel.namelist())


def test_the_wheel_carries_the_reports_assets(wheel: zipfile.ZipFile) -> None:
    assets = CHECKOUT / "src/wavetank/report/assets"
    there = {f"wavetank/report/assets/{path.name}" for path in assets.iterdir() if path.is_file()}
    assert there <= set(wheel.namelist())
