"""Claims about `wavetank doctor` and `wavetank kernel build` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from wavetank.cli.app import app
from wavetank.conduct import doctor, tools
from wavetank.conduct.doctor import Finding
from wavetank.lab.host import kernel
from wavetank.lab.host.kernel import BuiltKernel
from wavetank.lab.host.kernel_build import BuildProgress, BuildStep
from wavetank.lab.host.kernel_errors import SourceMissing

Lab = Any  # tests/conftest.py, PlayedLab
WELL = Finding(name="guest kernel", status="ok", detail="Linux 6.12")
LACKING = Finding(
    name="iscsistart", status="missing", detail="not installed", remedy="sudo apt-get install it"
)


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What the examination finds, to be filled by the test."""
    found: list[Finding] = []
    monkeypatch.setattr(doctor.Machine, "here", lambda: None)
    monkeypatch.setattr(doctor, "examine", lambda _machine: found)
    return found


def test_a_fit_machine_is_exit_code_0(findings: list[Finding]) -> None:
    findings.append(WELL)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert result.stdout == "ok       guest kernel: Linux 6.12\n"


def test_what_is_missing_is_exit_code_3_with_its_remedy(findings: list[Finding]) -> None:
    findings += [WELL, LACKING]
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 3
    assert "missing  iscsistart: not installed" in result.stdout
    assert "sudo apt-get install it" in result.stdout


def test_the_doctors_json_says_the_same(findings: list[Finding]) -> None:
    findings.append(LACKING)
    result = CliRunner().invoke(app, ["doctor", "--json"])
    document = json.loads(result.stdout)
    assert document == {"fit": False, "findings": [msgspec.to_builtins(LACKING)]}
    assert result.exit_code == 3


@pytest.mark.parametrize(("void", "code"), [(False, 0), (True, 1)])
def test_repeating_is_judged_by_the_exit_code(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, void: bool, code: int
) -> None:
    lab.void = void
    monkeypatch.setattr(tools, "find_tools", lab.tools)
    result = CliRunner().invoke(app, ["doctor", "--repeat", "--json"])
    assert result.exit_code == code
    assert json.loads(result.stdout)["identical"] is not void


def test_a_kernel_build_prints_its_path_alone_on_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_source: Path | None, progress: Callable[[BuildProgress], None]) -> BuiltKernel:
        progress(BuildProgress(BuildStep.CONFIGURING, 1.0))
        for done in range(100):
            progress(BuildProgress(BuildStep.COMPILING, 2.0 + done / 10, done, 100))
        return BuiltKernel(path=Path("/cache/linux"), release="6.12", digest="abc")

    monkeypatch.setattr(kernel, "build", build)
    result = CliRunner().invoke(app, ["kernel", "build"])
    assert result.stdout == "/cache/linux\n"
    assert result.stderr.splitlines() == [
        "kernel: configuring, 1 s",
        "kernel: compiling, 2 s, 0 of about 100 (0%)",
    ]


def test_a_missing_source_is_one_sentence_and_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_source: Path | None, _progress: object) -> BuiltKernel:
        raise SourceMissing("no kernel source. Try: sudo apt-get install linux-source")

    monkeypatch.setattr(kernel, "build", build)
    result = CliRunner().invoke(app, ["kernel", "build"])
    assert result.exit_code == 3
    assert result.stderr.strip() == (
        "wavetank: no kernel source. Try: sudo apt-get install linux-source"
    )
