"""Claims of docs/howto/extend.md: the workload it shows is one file, and works as it stands."""

from __future__ import annotations

import re
import subprocess
import types
from pathlib import Path

import msgspec
import pytest

from wavetank import shipped, workloads
from wavetank.conduct.catalogue import Rooms
from wavetank.conduct.planning import plan_study
from wavetank.runs.records import PhaseRecord
from wavetank.study import study_file

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "extend.md"


def block(language: str) -> str:
    """The page's block of code in this language."""
    match = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert match is not None
    return match[1]


@pytest.fixture
def shuffled(monkeypatch: pytest.MonkeyPatch) -> workloads.Workload:
    """The page's workload, added as the page says."""
    module = types.ModuleType("shuffled")
    exec(compile(block("python"), str(PAGE), "exec"), module.__dict__)
    workload: workloads.Workload = module.Shuffled()
    monkeypatch.setattr(workloads, "_ALL", (*workloads._ALL, workload))
    return workload


def test_the_pages_study_runs_the_pages_workload(shuffled: workloads.Workload) -> None:
    study = study_file.parse(block("toml"), "page", "page", Rooms())
    plan = plan_study(study, [])
    assert len(plan.trials) == 4
    assert {trial.cell.workload.name for trial in plan.trials} == {"shuffled"}


def test_the_load_engine_takes_the_pages_jobs(shuffled: workloads.Workload, tmp_path: Path) -> None:
    try:
        engine = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    cell = plan_study(study_file.parse(block("toml"), "page", "page", Rooms()), []).trials[0].cell
    for job in (shuffled.prepare(cell), shuffled.measure(cell)):
        assert job is not None
        path = tmp_path / "job.json"
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(job, root=str(tmp_path))))
        done = subprocess.run(
            [engine, path, "--output", "-"], capture_output=True, timeout=120, check=True
        )
    record = msgspec.json.decode(done.stdout, type=PhaseRecord)
    assert (record.operations[0].operation, record.operations[0].count) == ("read", 256)
    assert record.operations[0].failed == 0
