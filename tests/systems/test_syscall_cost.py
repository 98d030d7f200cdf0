"""What a system call is declared to cost, and in whose cells."""

from __future__ import annotations

import pytest

from wavetank import systems
from wavetank.conduct.planning import Request, make_plan
from wavetank.study.model import Cell
from wavetank.systems import syscall_cost


def cell_of(system: str, syscall_ns: int = 0) -> Cell:
    request = Request(
        systems=[system], networks=["ideal-100"], workload="batch", syscall_ns=syscall_ns
    )
    return make_plan(request).trials[0].cell


@pytest.mark.parametrize("name", ["local", "nfs4.2", "iscsi", "nvme"])
def test_what_runs_in_the_kernel_is_not_charged(name: str) -> None:
    assert syscall_cost.of_cell(cell_of(name)) == 0
    assert syscall_cost.KEY not in systems.resolve(name, {})


@pytest.mark.parametrize("name", ["s3+s3fs", "s3+rclone", "s3+juicefs", "swift+rclone"])
def test_programs_are_charged_what_the_system_declares(name: str) -> None:
    assert syscall_cost.of_cell(cell_of(name)) == 10_000
    assert syscall_cost.of_cell(cell_of(f"{name}:syscall-cost=0")) == 0


def test_a_cost_of_the_whole_run_stands_in_place_of_the_systems_own() -> None:
    assert syscall_cost.of_cell(cell_of("swift+rclone", 2000)) == 2000
    assert syscall_cost.of_cell(cell_of("nfs4.2", 2000)) == 2000
