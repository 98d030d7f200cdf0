"""Claims about Wavetank from Python, with guests that are played."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import wavetank
from wavetank import shipped
from wavetank.conduct.on_host_directory import DirectoryRefused
from wavetank.errors import UsageError
from wavetank.notebook import running
from wavetank.runs.errors import RunDirectoryRefused

Lab = Any  # tests/conftest.py, PlayedLab
HOW_TO = Path(__file__).parents[2] / "docs/howto/notebook.md"


@pytest.fixture(autouse=True)
def played(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(running, "find_tools", lab.tools)
    monkeypatch.chdir(tmp_path)


def compared(**changes: Any) -> wavetank.Results:
    asked: dict[str, Any] = {
        "systems": ["nfs4.2", "iscsi"],
        "networks": "realistic",
        "file_size": ["4KiB", "1MiB"],
        "progress": False,
    }
    return wavetank.compare(**(asked | changes))


def test_the_example_of_the_how_to_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", HOW_TO.read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(HOW_TO), "exec"), names)
    assert Path("wavetank-runs/first/report.html").is_file()
    assert capsys.readouterr().out.endswith("0 cells changed\n")
    assert names["small"].height == 2 * 2 * 2


def test_rows_are_the_cells_of_the_plan_with_their_numbers() -> None:
    run = compared(out="first")
    rows = run.rows()
    assert len(rows) == 2 * 2 * 2
    assert {row.status for row in rows} == {"ok"}
    assert all(row.operations_per_s for row in rows)
    assert run.complete
    assert len(run.trials) == 8


def test_a_frame_has_a_line_for_each_row_and_units_in_its_names() -> None:
    frame = compared().data_frame()
    assert frame.height == 8
    assert {"system", "throughput_bytes_per_s", "latency_ns_p99", "file_size_bytes"} <= set(
        frame.columns
    )
    assert sorted(set(frame["file_size_bytes"])) == [4096, 1048576]


def test_pandas_gets_the_same_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("pandas")
    fake.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", fake)
    run = compared()
    assert run.data_frame("pandas") == run.data_frame().to_dict(as_series=False)


def test_without_pandas_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        compared().data_frame("pandas")
    with pytest.raises(UsageError, match="polars or pandas"):
        compared(out="b").data_frame("arrow")


def test_what_was_made_can_be_loaded_again() -> None:
    made = compared(out="first")
    again = wavetank.load("first")
    assert again.rows() == made.rows()
    assert again.path == Path("first")
    page = made.report()
    first = page.read_text()
    assert again.report() == page
    assert page.read_text() == first
    assert again.report("elsewhere.html") == Path("elsewhere.html")


def test_the_command_that_repeats_the_run_is_the_command_lines() -> None:
    run = compared(threads=[1, 8], duration="5s", repeats=2, clock="real", verify=False)
    assert " ".join(run.plan.command) == (
        "wavetank compare --systems nfs4.2,iscsi --networks realistic --clock real --repeats 2 "
        "--file-size 4KiB,1MiB --threads 1,8 --duration 5s --verify no"
    )


def test_verdicts_are_sentences_and_a_notebook_shows_them() -> None:
    run = compared()
    assert len(run.verdicts()) == 4
    shown = run._repr_html_()
    assert "<table" in shown
    assert run.plan.question in shown
    assert "8 of 8 trials" in repr(run)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"systems": "nfs9"}, "'nfs9'"),
        ({"systems": []}, "at least one"),
        ({"file_size": "4KX"}, "4KX"),
        ({"file_size": []}, "no value"),
        ({"flie_size": "4KiB"}, "did you mean file-size"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_what_can_not_be_meant_is_raised_in_one_sentence(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        compared(**changes)
    assert not Path("wavetank-runs").exists()


def test_a_directory_in_use_is_refused() -> None:
    compared(out="first")
    with pytest.raises(RunDirectoryRefused, match="not empty"):
        compared(out="first")
    with pytest.raises(RunDirectoryRefused, match="not a run directory"):
        wavetank.load("nowhere")


def test_progress_is_told_on_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    compared(progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert "[8/8]" in told.err


def test_a_directory_of_ones_own_can_be_measured() -> None:
    try:
        shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    Path("mine").mkdir()
    run = wavetank.bench("mine", warm=True, file_size="4KiB", set_size="64KiB", progress=False)
    assert {row.status for row in run.rows()} == {"ok"}
    assert list(Path("mine").iterdir()) == []
    with pytest.raises(DirectoryRefused):
        wavetank.bench("nowhere", progress=False)


def test_a_ready_study_is_run_by_its_id_and_an_unknown_one_refused() -> None:
    with pytest.raises(UsageError, match=r"h14/fig9\.9"):
        wavetank.run("h14/fig9.9", progress=False)


def test_importing_the_package_loads_no_room() -> None:
    script = (
        "import sys, wavetank; print(*[m for m in sys.modules if m.startswith('wavetank.')]);"
        "wavetank.load; print('wavetank.notebook' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["", "True"]


def test_a_name_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="tides"):
        wavetank.tides  # type: ignore[attr-defined]  # noqa: B018
    assert "compare" in dir(wavetank)


def test_each_function_sends_the_other_kind_of_place_to_the_other() -> None:
    with pytest.raises(UsageError, match=r'bench_store\("s3://bucket/x", endpoint='):
        wavetank.bench("s3://bucket/x")
    with pytest.raises(UsageError, match=r"bench\(\) is for directories"):
        wavetank.bench_store("/mnt/nas")


def test_a_bucket_is_asked_about_before_anything_is_made() -> None:
    with pytest.raises(UsageError, match="endpoint"):
        wavetank.bench_store("s3://bucket/x")
    with pytest.raises(UsageError, match="works on files"):
        wavetank.bench_store("s3://bucket/x", "batch", endpoint="http://127.0.0.1:1")
    assert not Path("wavetank-runs").exists()
