"""Claims about `wavetank run` and `wavetank reproduce`, with guests that are played."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wavetank.cli import conducting
from wavetank.cli.app import app
from wavetank.conduct import memory
from wavetank.runs import directory

Lab = Any  # tests/conftest.py, PlayedLab
Wavetank = Callable[..., Result]

STUDY = """\
title = "Small files"
question = "Which system writes small files fastest?"
repeats = 2

[[part]]
name = "one thread"
systems = ["nfs4.2", "iscsi"]
networks = ["ideal-100", "realistic"]
workload = "batch"
parameters = { operation = "write", file-size = "4KiB" }

[[part]]
name = "threads"
systems = ["iscsi"]
networks = ["ideal-100"]
workload = "batch"
parameters = { operation = "write", file-size = "4KiB", threads = [1, 8] }
"""
# 4 cells of the first part, 1 more of the second; the two on the realistic network twice.
CELLS, TRIALS = 5, 7


@pytest.fixture
def wavetank(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wavetank:
    """`wavetank("run mine.toml")` in a directory with that study and nothing else."""
    monkeypatch.setattr(conducting, "find_tools", lab.tools)
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**36)
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(STUDY)
    runner = CliRunner()
    return lambda words: runner.invoke(app, shlex.split(words))


def test_a_study_ends_with_tables_a_report_and_exit_code_0(wavetank: Wavetank) -> None:
    result = wavetank("run mine.toml --out first --workers 2")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines()[0] == f"{TRIALS} of {TRIALS} trials to run, 2 at a time"
    assert result.stdout.rstrip().endswith("first/report.html")


def test_the_run_directory_holds_the_whole_study(wavetank: Wavetank) -> None:
    wavetank("run mine.toml --out first")
    plan = directory.read(Path("first")).plan
    assert plan.study is not None
    assert (plan.study.id, plan.study.question) == ("mine", plan.question)
    assert plan.command == ["wavetank", "run", "mine.toml"]
    Path("mine.toml").unlink()
    assert wavetank("report first").exit_code == 0


def test_a_cell_of_two_parts_runs_once_and_names_both(wavetank: Wavetank) -> None:
    wavetank("run mine.toml --out first")
    plan = directory.read(Path("first")).plan
    shared = [trial for trial in plan.trials if len(trial.parts) == 2]
    assert [trial.parts for trial in shared] == [["one thread", "threads"]]


def test_json_is_one_document_with_the_cells(wavetank: Wavetank) -> None:
    result = wavetank("run mine.toml --out first --json")
    assert len(json.loads(result.stdout)["cells"]) == CELLS


def test_a_run_cut_off_is_resumed_and_does_only_what_is_missing(
    wavetank: Wavetank, lab: Lab
) -> None:
    lab.mortal = 1
    assert wavetank("run mine.toml --out first").exit_code == 3
    before = lab.trials_run
    left = wavetank("run mine.toml --out first --resume --dry-run")
    assert left.stdout.splitlines()[-1].startswith("1 trials")
    assert wavetank("run mine.toml --out first --resume").exit_code == 0
    assert lab.trials_run == before + 1
    assert wavetank("run mine.toml --out first --resume").exit_code == 0
    assert lab.trials_run == before + 1


def test_a_study_that_was_changed_does_not_resume_another_run(wavetank: Wavetank) -> None:
    wavetank("run mine.toml --out first")
    Path("mine.toml").write_text(STUDY.replace("[1, 8]", "[1, 16]"))
    result = wavetank("run mine.toml --out first --resume")
    assert result.exit_code == 2
    assert "another plan" in result.stderr


def test_a_title_that_was_changed_does(wavetank: Wavetank) -> None:
    wavetank("run mine.toml --out first")
    Path("mine.toml").write_text(STUDY.replace("Small files", "Tiny files"))
    assert wavetank("run mine.toml --out first --resume").exit_code == 0


def test_a_dry_run_lists_the_cells_estimates_and_runs_nothing(wavetank: Wavetank, lab: Lab) -> None:
    result = wavetank("run mine.toml --dry-run --workers 1")
    assert result.exit_code == 0, result.stderr
    *cells, last = result.stdout.splitlines()
    assert len(cells) == CELLS
    assert cells[0].startswith("nfs4.2, ideal-100, batch write 4KiB\t")
    assert last.startswith(f"{TRIALS} trials, 1 at a time: about ")
    assert "estimated: " in last
    assert lab.trials_run == 0
    assert [path.name for path in Path().iterdir()] == ["mine.toml"]


def test_a_dry_run_tells_settings_as_they_would_be_typed(wavetank: Wavetank) -> None:
    more = 'file-size = "4KiB", duration = ["20s", "2m"], set-size = ["1MiB", "2MiB"] }'
    Path("mine.toml").write_text(STUDY.replace('file-size = "4KiB" }', more, 1))
    result = wavetank("run mine.toml --dry-run")
    assert result.exit_code == 0, result.stderr
    assert "duration=20s" in result.stdout
    assert "set-size=1MiB" in result.stdout
    assert "_ns" not in result.stdout


def test_a_dry_run_as_json_is_one_document(wavetank: Wavetank) -> None:
    document = json.loads(wavetank("run mine.toml --dry-run --json").stdout)
    assert (len(document["cells"]), document["trials"]) == (CELLS, TRIALS)
    assert document["wall_s"] > 0
    assert document["simulated_s"] == pytest.approx(
        sum(cell["simulated_s"] * cell["repeats"] for cell in document["cells"]), rel=1e-3
    )


def test_reproduce_runs_a_ready_study_by_name(wavetank: Wavetank, lab: Lab) -> None:
    result = wavetank("reproduce o15/fig2")
    assert result.exit_code == 0, result.stderr
    (run,) = Path("wavetank-runs").iterdir()
    assert run.name.endswith("Z-o15-fig2")
    plan = directory.read(run).plan
    assert plan.study is not None
    assert plan.study.id == "o15/fig2"
    assert plan.command == ["wavetank", "reproduce", "o15/fig2"]
    assert lab.trials_run == len(plan.trials) == 84


def test_a_paper_is_all_of_its_studies_one_after_the_other(wavetank: Wavetank, lab: Lab) -> None:
    result = wavetank("reproduce r04 --out papers")
    assert result.exit_code == 0, result.stderr
    assert sorted(path.name for path in Path("papers").iterdir()) == ["r04-fig6", "r04-table4"]
    done = [line for line in result.stderr.splitlines() if ": done, " in line]
    assert [line.partition(":")[0] for line in done] == ["r04/fig6", "r04/table4"]
    assert lab.trials_run == 72 + 14
    assert wavetank("reproduce r04 --out papers --resume").exit_code == 0
    assert lab.trials_run == 72 + 14


def test_several_studies_resume_those_begun_and_begin_the_others(
    wavetank: Wavetank, lab: Lab
) -> None:
    lab.mortal = 1
    assert wavetank("reproduce r04/table4 --out papers/r04-table4").exit_code == 3
    before = lab.trials_run
    assert wavetank("reproduce r04/table4 o15/fig2 --out papers --resume").exit_code == 0
    assert lab.trials_run == before + 1 + 84


def test_a_dry_run_of_a_paper_is_a_line_for_each_study_and_the_sum(wavetank: Wavetank) -> None:
    *studies, total = wavetank("reproduce o15 --dry-run").stdout.splitlines()
    assert [line.partition(":")[0] for line in studies] == [f"o15/fig{n}" for n in range(2, 8)]
    assert total.startswith("6 studies, ")


def test_list_studies_names_every_one(wavetank: Wavetank) -> None:
    lines = wavetank("list studies").stdout.splitlines()
    assert any(line.startswith("h14/fig4.5\t") for line in lines)
    documents = json.loads(wavetank("list studies --json").stdout)["studies"]
    assert len(documents) == len(lines)
    assert set(documents[0]) == {"id", "title", "question", "source", "findings"}


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        (("iscsi", "iscs"), "run mine.toml", "mine.toml:7:22: no system is called 'iscs'"),
        (("title =", "titel ="), "run mine.toml --dry-run", "did you mean title?"),
        (("repeats = 2", 'disk = "ram:size=128MiB"'), "run mine.toml", "mine.toml:3:8: disk 'ram"),
        (("repeats = 2", 'findings = ["thr-11"]'), "run mine.toml", "mine.toml:3:13: no finding"),
        (("", ""), "run yours.toml", "yours.toml: cannot be read"),
        (("", ""), "run mine.toml --resume", "--out DIR"),
        (("", ""), "reproduce h14/fig4.55 --dry-run", "did you mean h14/fig4.5"),
        (("", ""), "reproduce d09", "no ready study is called 'd09'"),
        (("", ""), "reproduce o15/fig2 o15/fig3 --json", "--json tells of one study"),
        (("", ""), "reproduce r04 --resume", "--out DIR"),
    ],
)
def test_bad_input_is_answered_in_one_sentence_with_exit_code_2(
    wavetank: Wavetank, change: tuple[str, str], words: str, said: str
) -> None:
    Path("mine.toml").write_text(STUDY.replace(*change, 1))
    result = wavetank(words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("wavetank: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert [path.name for path in Path().iterdir()] == ["mine.toml"]


@pytest.mark.parametrize("words", ["run mine.toml --out first", "run mine.toml --dry-run"])
def test_sets_that_exceed_the_memory_are_one_sentence(
    wavetank: Wavetank, lab: Lab, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    lab.memory_bytes = 2**30
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    result = wavetank(words)
    assert result.exit_code == 3
    assert "of memory" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("first").exists()
