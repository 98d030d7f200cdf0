"""Claims about `wavetank compare` from words to exit code, with guests that are played."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wavetank.cli import conducting
from wavetank.cli.app import app
from wavetank.conduct.events import Event, TrialEnded
from wavetank.runs import directory

Lab = Any  # tests/conftest.py, PlayedLab
Wavetank = Callable[..., Result]
ASK = "compare --systems nfs4.2,iscsi --networks realistic --file-size 4KiB,1MiB --workers 2"
FIELDS = {
    "system",
    "network",
    "workload",
    "operation",
    "parameters",
    "clock",
    "seed",
    "status",
    "operations",
    "operations_per_s",
    "throughput_bytes_per_s",
    "latency_ns_p50",
    "latency_ns_p99",
    "link_bytes",
    "link_packets",
    "simulated_s",
    "wall_s",
}


@pytest.fixture
def wavetank(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wavetank:
    """`wavetank("compare --systems ...")` in an empty directory."""
    monkeypatch.setattr(conducting, "find_tools", lab.tools)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    return lambda words: runner.invoke(app, shlex.split(words))


def test_a_comparison_ends_with_tables_a_report_and_exit_code_0(wavetank: Wavetank) -> None:
    result = wavetank(f"{ASK} --out first")
    assert result.exit_code == 0, result.stderr
    assert Path("first/report.html").stat().st_size > 10_000
    assert result.stdout.rstrip().endswith("first/report.html")
    assert "NFS 4.2" in result.stdout


def test_json_is_one_document_with_every_promised_field(wavetank: Wavetank) -> None:
    result = wavetank(f"{ASK} --out first --json")
    cells = json.loads(result.stdout)["cells"]
    assert len(cells) == 2 * 2 * 2
    assert all(set(cell) >= FIELDS for cell in cells)
    assert {cell["status"] for cell in cells} == {"ok"}
    assert {cell["operation"] for cell in cells} == {"read", "write"}


def test_progress_goes_to_stderr_as_plain_lines_when_piped(wavetank: Wavetank) -> None:
    result = wavetank(f"{ASK} --out first")
    lines = result.stderr.splitlines()
    assert lines[0] == "8 of 8 trials to run, 2 at a time"
    assert "[8/8]" in lines[-1]
    assert "simulated in" in lines[-1]
    assert "\x1b" not in result.stderr


def test_the_default_directory_is_named_by_moment_and_workload(wavetank: Wavetank) -> None:
    wavetank("compare --systems local --networks ideal-100")
    (run,) = Path("wavetank-runs").iterdir()
    assert run.name.endswith("Z-batch")


def test_the_recorded_command_repeats_the_run(wavetank: Wavetank) -> None:
    wavetank(f"{ASK} --repeats 2 --packet-digest --disk ssd --out first")
    command = directory.read(Path("first")).plan.command
    assert command[:2] == ["wavetank", "compare"]
    wavetank(shlex.join([*command[1:], "--out", "second"]))
    for name in (directory.PLAN, directory.TRIALS):
        assert Path("first", name).read_bytes() == Path("second", name).read_bytes()


def test_a_clients_machine_is_asked_for_again_by_the_recorded_command(wavetank: Wavetank) -> None:
    client = "--client-disk c16-magnetic,ram --client-memory 120MiB"
    wavetank(f"compare --systems s3 --networks ideal-100 --workload object {client} --out first")
    plan = directory.read(Path("first")).plan
    assert len(plan.trials) == 4
    wavetank(shlex.join([*plan.command[1:], "--out", "second"]))
    assert directory.read(Path("second")).plan == plan


def test_a_lost_trial_is_exit_code_3_and_resuming_mends_it(wavetank: Wavetank, lab: Lab) -> None:
    lab.mortal = 1
    lost = wavetank(f"{ASK} --out first")
    assert lost.exit_code == 3
    assert "failed" in lost.stderr
    before = lab.trials_run
    mended = wavetank("compare --resume --out first")
    assert mended.exit_code == 0
    assert lab.trials_run == before + 1


def test_a_void_trial_is_exit_code_4(wavetank: Wavetank, lab: Lab) -> None:
    lab.void = True
    assert wavetank("compare --systems iscsi --networks ideal-100 --out first").exit_code == 4


def test_resuming_with_the_same_words_is_fine_and_with_others_refused(wavetank: Wavetank) -> None:
    wavetank(f"{ASK} --out first")
    assert wavetank(f"{ASK} --resume --out first").exit_code == 0
    other = wavetank("compare --systems local --networks ideal-100 --resume --out first")
    assert other.exit_code == 2
    assert "another plan" in other.stderr


def test_ctrl_c_leaves_a_run_that_the_message_tells_how_to_resume(
    wavetank: Wavetank, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting:
        interrupted = False

        def __enter__(self) -> Interrupting:
            return self

        def __exit__(self, *error: object) -> None:
            return None

        def __call__(self, event: Event) -> None:
            if isinstance(event, TrialEnded) and not self.interrupted:
                self.interrupted = True
                os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(conducting, "progress_of", lambda *_: Interrupting())
        result = wavetank(f"{ASK} --out first --workers 1")
    assert result.exit_code == 4
    assert result.stdout == ""
    _, _, command = result.stderr.strip().partition("To go on: wavetank ")
    assert wavetank(command).exit_code == 0
    assert directory.read(Path("first")).missing == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare", "--systems nfs4.2,iscsi"),
        ("compare --systems local", "--networks"),
        ("compare --systems nfs9 --networks realistic", "'nfs9'"),
        ("compare --systems local --networks realstic", "did you mean realistic"),
        ("compare --systems local --networks realistic --file-size 4KX", "4KX"),
        ("compare --systems local --networks realistic --workload btch", "batch"),
        ("compare --systems local --networks realistic --disk tape", "tape"),
        (
            "compare --systems s3 --networks realistic --workload object --client-disk ssd",
            "client-memory",
        ),
        (
            "compare --systems local --networks realistic --client-disk ssd --client-memory 1GiB",
            "workload object",
        ),
        ("compare --systems local, --networks realistic", "empty part"),
        ("compare --systems local --networks realistic --syscall-cost 2", "'2'"),
        (
            "compare --systems local --networks realistic --access direct --file-size 5000",
            "multiples of 4KiB",
        ),
        ("compare --resume", "--out DIR"),
        ("compare --resume --out nowhere", "not a run directory"),
        ("show nowhere", "not a run directory"),
        ("report nowhere", "not a run directory"),
        ("logs", "wavetank-runs"),
    ],
)
def test_bad_words_are_answered_in_one_sentence_with_exit_code_2(
    wavetank: Wavetank, words: str, said: str
) -> None:
    result = wavetank(words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("wavetank: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    "words", ["compare --bogus", "compare --repeats 0", "compare --clock sundial", "list tides"]
)
def test_words_the_command_line_does_not_know_are_exit_code_2(
    wavetank: Wavetank, words: str
) -> None:
    assert wavetank(words).exit_code == 2


def test_a_directory_in_use_is_refused_with_exit_code_2(wavetank: Wavetank) -> None:
    Path("first").mkdir()
    Path("first/thesis.tex").write_text("years of work")
    result = wavetank(f"{ASK} --out first")
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
    assert [path.name for path in Path("first").iterdir()] == ["thesis.tex"]


def test_too_little_memory_is_exit_code_3_and_says_what_to_do(wavetank: Wavetank, lab: Lab) -> None:
    lab.memory_bytes = 2**30
    result = wavetank(f"{ASK} --out first")
    assert result.exit_code == 3
    assert "--set-size" in result.stderr


def test_a_missing_program_is_exit_code_3_and_says_what_installs_it(
    wavetank: Wavetank, lab: Lab
) -> None:
    lab.lacking = {"rpc.mountd"}
    result = wavetank(f"{ASK} --out first")
    assert result.exit_code == 3
    assert "nfs4.2 needs rpc.mountd" in result.stderr
    assert "apt-get install" in result.stderr
    assert not Path("first").exists()


def test_a_newer_run_is_refused_in_one_sentence(wavetank: Wavetank) -> None:
    wavetank("compare --systems local --networks ideal-100 --out first")
    plan = json.loads(Path("first/plan.json").read_text())
    Path("first/plan.json").write_text(json.dumps(plan | {"schema": 2}))
    result = wavetank("show first")
    assert result.exit_code == 2
    assert "upgrade wavetank" in result.stderr


def test_a_defect_of_ours_is_not_taken_for_a_finding(
    wavetank: Wavetank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(conducting, "make_plan", broken)
    result = wavetank("compare --systems local --networks ideal-100")
    assert result.exit_code == 3
    assert "defect of wavetank" in result.stderr


def test_show_and_report_rebuild_what_compare_told(wavetank: Wavetank) -> None:
    told = wavetank(f"{ASK} --out first --json").stdout
    page = Path("first/report.html").read_bytes()
    Path("first/report.html").unlink()
    assert wavetank("show first --json").stdout == told
    assert wavetank("report first").stdout.strip() == "first/report.html"
    assert Path("first/report.html").read_bytes() == page


def test_logs_name_what_was_lost_and_print_a_console(wavetank: Wavetank, lab: Lab) -> None:
    lab.mortal = 1
    wavetank("compare --systems iscsi --networks ideal-100 --out wavetank-runs/one")
    listed = wavetank("logs").stdout.splitlines()
    assert listed[0].startswith("g0000  failed: ")
    assert listed[1] == "g0000-2  all well"
    assert wavetank("logs wavetank-runs/one g0000-2").stdout == "console of g0000-2\n"
    wrong = wavetank("logs wavetank-runs/one g0009")
    assert wrong.exit_code == 2
    assert "did you mean g0000" in wrong.stderr
