"""Claims about the jobs of workloads as the load engine itself takes them (where it is built)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from wavetank import shipped, workloads
from wavetank.runs.records import PhaseRecord
from wavetank.study.model import Cell
from wavetank.workloads.job import EngineJob

Run = Callable[[EngineJob], PhaseRecord]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a job of one phase on a directory of the host's."""
    try:
        engine = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    root = tmp_path / "root"
    root.mkdir()

    def run_job(job: EngineJob) -> PhaseRecord:
        path = tmp_path / "job.json"
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(job, root=str(root))))
        done = subprocess.run(
            [engine, path, "--output", "-"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (line,) = done.stdout.splitlines()
        return msgspec.json.decode(line, type=PhaseRecord)

    return run_job


@pytest.mark.parametrize(
    ("workload", "raw"),
    [
        ("batch", {"file_size": "4KiB", "set_size": "256KiB", "threads": "8", "verify": "yes"}),
        ("batch", {"file_size": "64KiB", "set_size": "256KiB", "unit": "4KiB", "rate": "1000"}),
        ("single-file", {"file_size": "1MiB", "verify": "yes"}),
        ("access-unit", {"file_size": "1MiB", "unit": "1MiB", "verify": "yes"}),
    ],
)
def test_what_is_prepared_is_read_back_whole(
    run: Run, make_cell: Callable[..., Cell], workload: str, raw: dict[str, str]
) -> None:
    cell = make_cell(workload, **raw)
    face = workloads.get(workload)
    prepare, measure = face.prepare(cell), face.measure(cell)
    assert prepare is not None
    written, read = run(prepare), run(measure)
    files, size_bytes = measure.set.files, measure.set.file_size_bytes
    assert written.operations[0].count == read.operations[0].count == files
    assert (read.operations[0].operation, read.operations[0].failed) == ("read", 0)
    assert read.operations[0].bytes == files * size_bytes
    if "verify" in raw:
        assert read.verification is not None
        assert read.verification.checked_bytes == files * size_bytes
        assert read.verification.mismatched_operations == 0


def test_a_write_needs_nothing_prepared(run: Run, make_cell: Callable[..., Cell]) -> None:
    cell = make_cell(operation="write", file_size="4KiB", set_size="64KiB", threads="4")
    record = run(workloads.get("batch").measure(cell))
    assert (record.operations[0].count, record.ended_by, record.threads) == (16, "set", 4)


def prepared_and_measured(run: Run, cell: Cell) -> tuple[PhaseRecord | None, PhaseRecord]:
    """Both jobs of a cell, in their order."""
    face = workloads.get(cell.workload.name)
    prepare = face.prepare(cell)
    return run(prepare) if prepare is not None else None, run(face.measure(cell))


@pytest.mark.parametrize("operation", ["read", "write"])
@pytest.mark.parametrize(("unit", "calls"), [("4KiB", 64), ("256KiB", 1)])
def test_access_unit_passes_over_the_whole_file_in_one_call_per_unit(
    run: Run, make_cell: Callable[..., Cell], operation: str, unit: str, calls: int
) -> None:
    cell = make_cell("access-unit", operation=operation, file_size="256KiB", unit=unit)
    _, record = prepared_and_measured(run, cell)
    counts = {one.operation: one.count for one in record.operations}
    assert counts == {operation: 1, "open": 1, "transfer": calls, "close": 1}
    assert record.operations[0].bytes == 256 * 1024
    assert record.operations[0].latency_ns_max <= record.elapsed_ns


def test_access_unit_overwrites_the_file_that_is_there(
    run: Run, make_cell: Callable[..., Cell], tmp_path: Path
) -> None:
    cell = make_cell("access-unit", operation="write", file_size="64KiB", unit="4KiB")
    prepare = workloads.get("access-unit").prepare(cell)
    assert prepare is not None
    run(prepare)
    (file,) = (tmp_path / "root").rglob("f*")
    before, content = file.stat().st_ino, file.read_bytes()
    record = run(workloads.get("access-unit").measure(cell))
    assert record.operations[0].failed == 0
    assert (file.stat().st_ino, file.stat().st_size) == (before, 64 * 1024)
    assert file.read_bytes() == content


def test_access_unit_writes_nothing_where_no_file_is(
    run: Run, make_cell: Callable[..., Cell]
) -> None:
    cell = make_cell("access-unit", operation="write", file_size="64KiB")
    record = run(workloads.get("access-unit").measure(cell))
    assert (record.operations[0].count, record.operations[0].failed) == (0, 1)


@pytest.mark.parametrize("order", ["sequential", "random"])
def test_every_chunk_is_read_once_and_is_what_was_written(
    run: Run, make_cell: Callable[..., Cell], order: str
) -> None:
    cell = make_cell("random-sequential", order=order, file_size="1MiB", verify="yes")
    _, record = prepared_and_measured(run, cell)
    assert record.operations[0].count == 256
    assert record.verification is not None
    assert record.verification.checked_bytes == 2**20
    assert record.verification.mismatched_operations == 0


@pytest.mark.parametrize("order", ["sequential", "random"])
def test_a_write_in_any_order_leaves_the_same_file(
    run: Run, make_cell: Callable[..., Cell], tmp_path: Path, order: str
) -> None:
    cell = make_cell("random-sequential", operation="write", order=order, file_size="256KiB")
    run(workloads.get("random-sequential").measure(cell))
    (file,) = (tmp_path / "root").rglob("f*")
    content = file.read_bytes()
    file.unlink()
    whole = make_cell("single-file", operation="write", file_size="256KiB")
    run(workloads.get("single-file").measure(whole))
    assert file.read_bytes() == content


def test_a_flush_is_one_sync_that_counts(run: Run, make_cell: Callable[..., Cell]) -> None:
    cell = make_cell("random-sequential", operation="write", file_size="1MiB", flush="yes")
    _, record = prepared_and_measured(run, cell)
    syncs = [one for one in record.operations if one.operation == "fsync"]
    assert [one.count for one in syncs] == [1]
    closes = [one for one in record.operations if one.operation == "close"]
    assert record.elapsed_ns >= syncs[0].latency_ns_max + closes[0].latency_ns_max
