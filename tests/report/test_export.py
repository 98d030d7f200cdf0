"""JSON and CSV: complete, exact, and made of plain values."""

from __future__ import annotations

import csv
import io
import json

import msgspec
from sample_runs import Sample, cell, grid, run

from wavetank import report
from wavetank.analysis import analyse
from wavetank.runs.records import TrialRecord


def document(made: Sample) -> dict[str, object]:
    return report.json_document(analyse(made.plan, made.trials, made.walls), made.environment)


def test_the_document_survives_json_unchanged() -> None:
    made = document(run(grid(sizes=(4096,)), repeats=2, count=60))
    assert json.loads(json.dumps(made)) == made


def test_the_document_holds_every_cell_and_verdict() -> None:
    made = document(run(grid(sizes=(4096,))))
    assert made["schema"] == 1
    assert made["clock"] == "virtual"
    assert len(made["cells"]) == 24  # type: ignore[arg-type]
    assert len(made["verdicts"]) == 8  # type: ignore[arg-type]
    assert all(one["verdict"].startswith("On ") for one in made["verdicts"])  # type: ignore[attr-defined]
    assert made["environment"]["kernel_digest"] == "3f0c9a1e5b7d2846"  # type: ignore[index]


def test_cells_of_both_clocks_are_said_to_be_mixed() -> None:
    made = document(run([cell(clock="virtual"), cell(clock="real")]))
    assert made["clock"] == "mixed"


def test_a_void_cell_is_null_in_json_and_empty_in_csv() -> None:
    def spoil(index: int, record: TrialRecord) -> TrialRecord:
        return msgspec.structs.replace(record, status="void", reason="loss 0.4 %, declared 0.1 %")

    made = run([cell()], spoil=spoil)
    (plain,) = document(made)["cells"]  # type: ignore[misc]
    assert plain["status"] == "void"
    assert plain["throughput_bytes_per_s"] is None
    (line,) = csv.DictReader(
        io.StringIO(report.csv_text(analyse(made.plan, made.trials, made.walls).rows))
    )
    assert line["reason"] == "loss 0.4 %, declared 0.1 %"
    assert line["throughput_bytes_per_s"] == ""


def test_csv_holds_the_rows_numbers_unrounded() -> None:
    made = run(grid(sizes=(4096,)), repeats=2, count=60)
    rows = analyse(made.plan, made.trials, made.walls).rows
    lines = list(csv.DictReader(io.StringIO(report.csv_text(rows))))
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert float(line["throughput_bytes_per_s"]) == row.throughput_bytes_per_s
        assert int(line["threads"]) == row.parameters["threads"]
        assert row.throughput_interval is not None
        assert float(line["throughput_low"]) == row.throughput_interval.low
