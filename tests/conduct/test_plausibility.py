"""A trial whose counters contradict its cell is not believed."""

from __future__ import annotations

import msgspec
import pytest
from tests.conftest import MakeCell

from wavetank import systems
from wavetank.conduct.plausibility import doubt
from wavetank.runs.records import (
    LinkDirection,
    LinkRecord,
    OperationRecord,
    PhaseRecord,
    Series,
    StateProof,
)
from wavetank.study import disks
from wavetank.study.model import CacheState, Cell, SystemChoice

PAYLOAD = 64 << 20


def phases(operation: str) -> list[PhaseRecord]:
    primary = OperationRecord(
        operation=operation,
        count=64,
        failed=0,
        bytes=PAYLOAD,
        errors={},
        latency_histogram="",
        latency_ns_max=1,
    )
    return [
        PhaseRecord(
            phase="measure",
            backend="posix",
            threads=1,
            elapsed_ns=1,
            busy_until_ns=1,
            ended_by="set",
            operations=[primary],
            series=Series(bin_ns=1, operations=[], bytes=[]),
            verification=None,
            user_cpu_ns=0,
            system_cpu_ns=0,
        )
    ]


def crossed(carried: int = PAYLOAD * 2) -> LinkRecord:
    none = LinkDirection(bytes=0, packets=0, dropped=0)
    return LinkRecord(to_server=none, to_client=LinkDirection(bytes=carried, packets=1, dropped=0))


def proof(from_disk: int = 0) -> StateProof:
    return StateProof(
        cached_bytes_before=0,
        disk_read_bytes=from_disk,
        disk_written_bytes=0,
        client_mounted_fresh=True,
    )


def cell_of(
    make_cell: MakeCell,
    system: str = "nfs4.2",
    state: CacheState = "cold-client-warm-server",
    **options: str,
) -> Cell:
    return msgspec.structs.replace(
        make_cell("batch", file_size="1MiB"),
        system=SystemChoice(name=system, options=systems.resolve(system, options)),
        cache_state=state,
        disk=disks.parse("ssd:size=1GiB"),
    )


def test_data_that_crossed_the_link_and_came_from_a_warm_server_is_believed(
    make_cell: MakeCell,
) -> None:
    assert doubt(cell_of(make_cell), phases("read"), crossed(), proof()) is None


def test_data_that_did_not_cross_the_link_is_not_believed(make_cell: MakeCell) -> None:
    told = doubt(cell_of(make_cell), phases("read"), crossed(PAYLOAD - 1), proof())
    assert told is not None
    assert "crossed the link" in told


def test_a_warm_client_and_a_local_disk_need_no_link(make_cell: MakeCell) -> None:
    warm = cell_of(make_cell, state="warm")
    assert doubt(warm, phases("read"), crossed(0), proof()) is None
    local = cell_of(make_cell, "local")
    assert doubt(local, phases("read"), crossed(0), proof(PAYLOAD)) is None


@pytest.mark.parametrize("system", ["nfs3", "iscsi", "nvme"])
def test_a_warm_server_that_reads_its_disk_was_not_warm(make_cell: MakeCell, system: str) -> None:
    told = doubt(cell_of(make_cell, system), phases("read"), crossed(), proof(PAYLOAD))
    assert told is not None
    assert "not warm" in told


def test_a_server_without_a_cache_may_read_its_disk(make_cell: MakeCell) -> None:
    uncached = cell_of(make_cell, "iscsi", backstore="iblock")
    assert doubt(uncached, phases("read"), crossed(), proof(PAYLOAD)) is None


def test_a_cold_cache_that_spares_the_disk_was_not_cold(make_cell: MakeCell) -> None:
    cold = cell_of(make_cell, state="cold")
    assert doubt(cold, phases("read"), crossed(), proof(PAYLOAD)) is None
    told = doubt(cold, phases("read"), crossed(), proof(PAYLOAD // 2))
    assert told is not None
    assert "not cold" in told


def test_a_write_says_nothing_of_what_is_cached(make_cell: MakeCell) -> None:
    assert doubt(cell_of(make_cell), phases("write"), crossed(), proof(PAYLOAD)) is None
