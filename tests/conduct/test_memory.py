"""Claims about memory: what guests need, and what is said when there is too little."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wavetank.conduct import memory
from wavetank.study.model import Cell

GIB = 2**30


def test_a_guest_holds_disk_server_cache_and_client_cache(make_cell: Callable[..., Cell]) -> None:
    cell = make_cell(file_size="1MiB", set_size="1GiB", network="ideal-1000")
    assert 3 * GIB < memory.guest_memory_bytes([cell]) < 4 * GIB


def test_without_a_network_there_is_one_cache_less(make_cell: Callable[..., Cell]) -> None:
    cell = make_cell(system="local", file_size="1MiB", set_size="1GiB")
    assert 2 * GIB < memory.guest_memory_bytes([cell]) < 3 * GIB


def test_a_guest_is_as_large_as_its_largest_cell(make_cell: Callable[..., Cell]) -> None:
    small, large = make_cell(set_size="64MiB"), make_cell(set_size="512MiB")
    both = memory.guest_memory_bytes([small, large])
    assert both == memory.guest_memory_bytes([large])


def test_available_memory_is_read_from_meminfo(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 100 kB\nMemAvailable:    64 kB\n")
    assert memory.available_bytes(meminfo) == 65536


@pytest.mark.parametrize(("available_gib", "workers"), [(16, 4), (9, 2), (5, 1)])
def test_as_many_workers_run_as_fit(available_gib: int, workers: int) -> None:
    assert memory.fitting_workers([4 * GIB] * 4, 4, available_gib * GIB + GIB) == workers


def test_a_guest_that_never_fits_is_refused_with_what_to_do() -> None:
    with pytest.raises(memory.TooLittleMemory, match=r"8\.0 GiB.*--set-size"):
        memory.fitting_workers([8 * GIB, GIB], 2, 4 * GIB)


def test_stated_workers_that_do_not_fit_are_refused_with_the_number_that_does() -> None:
    with pytest.raises(memory.TooLittleMemory, match="--workers 2"):
        memory.require_workers([4 * GIB] * 4, 4, 9 * GIB)
    assert memory.require_workers([GIB] * 2, 8, 9 * GIB) == 8
