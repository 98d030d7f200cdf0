"""What the installer installs against what the program asks for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from wavetank.conduct import doctor
from wavetank.lab.host import kernel_build

CHECKOUT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((CHECKOUT / "install").glob("*.sh"))
# Of Debian's and Ubuntu's essential system, there without being asked for.
ALWAYS_THERE = {"tar"}


def installed_packages() -> set[str]:
    """Every package that stands in an echo of packages.sh."""
    text = (CHECKOUT / "install/packages.sh").read_text()
    return {word for line in re.findall(r'echo "([^"]*)"', text) for word in line.split()}


def test_every_package_that_the_doctor_names_is_installed() -> None:
    assert set(doctor.PACKAGES.values()) <= installed_packages()


def test_every_package_that_a_kernel_build_needs_is_installed() -> None:
    assert set(kernel_build.PROGRAMS.values()) - ALWAYS_THERE <= installed_packages()


@pytest.mark.parametrize("script", [*SCRIPTS, CHECKOUT / ".ci/run"], ids=lambda path: path.name)
def test_scripts_are_well_formed(script: Path) -> None:
    shell = "bash" if script.parent.name == ".ci" else "sh"
    assert subprocess.run([shell, "-n", str(script)], check=False).returncode == 0
