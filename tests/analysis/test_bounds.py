"""Claims about what bounds a measurement and is no condition of it."""

from __future__ import annotations

import msgspec
import pytest
from sample_runs import cell, run

from wavetank.analysis import Analysis, analyse
from wavetank.study.model import Cell

NAMES = pytest.mark.parametrize("name", ["duration_ns", "set_bytes"])


def bounded(system: str, name: str, value: int) -> Cell:
    made = cell(system)
    parameters = made.workload.parameters | {name: value}
    workload = msgspec.structs.replace(made.workload, parameters=parameters)
    return msgspec.structs.replace(made, workload=workload)


def analysed(cells: list[Cell]) -> Analysis:
    made = run(cells)
    return analyse(made.plan, made.trials, made.walls)


@NAMES
def test_systems_measured_for_unlike_times_are_compared(name: str) -> None:
    found = analysed([bounded("nfs4.2", name, 6 << 30), bounded("iscsi", name, 45 << 30)])
    (comparison,) = found.comparisons
    assert name not in comparison.conditions
    assert [row.parameters[name] for row in found.rows] == [6 << 30, 45 << 30]


@NAMES
def test_where_one_system_has_both_they_are_told_apart(name: str) -> None:
    values = [1 << 30, 2 << 30]
    found = analysed([bounded(one, name, value) for one in ("nfs4.2", "iscsi") for value in values])
    assert [one.conditions[name] for one in found.comparisons] == values
