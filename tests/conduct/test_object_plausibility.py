"""Over REST every byte of an object crosses the link, once: what was counted there must match."""

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


def operation(name: str, bytes_moved: int, failed: int = 0) -> OperationRecord:
    return OperationRecord(
        operation=name,
        count=64,
        failed=failed,
        bytes=bytes_moved,
        errors={},
        latency_histogram="",
        latency_ns_max=1,
    )


def phases(*operations: OperationRecord, cut_off_bytes: int = 0) -> list[PhaseRecord]:
    return [
        PhaseRecord(
            phase="measure",
            backend="object",
            threads=1,
            elapsed_ns=1,
            busy_until_ns=1,
            ended_by="duration",
            operations=list(operations),
            series=Series(bin_ns=1, operations=[], bytes=[]),
            verification=None,
            user_cpu_ns=0,
            system_cpu_ns=0,
            cut_off_bytes=cut_off_bytes,
            retries=0,
        )
    ]


def crossed(to_server: int = 0, to_client: int = 0) -> LinkRecord:
    return LinkRecord(
        to_server=LinkDirection(bytes=to_server, packets=1, dropped=0),
        to_client=LinkDirection(bytes=to_client, packets=1, dropped=0),
    )


def proof(from_disk: int = 0) -> StateProof:
    return StateProof(
        cached_bytes_before=0,
        disk_read_bytes=from_disk,
        disk_written_bytes=0,
        client_mounted_fresh=False,
    )


def cell_of(
    make_cell: MakeCell, system: str = "s3", state: CacheState = "cold-client-warm-server"
) -> Cell:
    return msgspec.structs.replace(
        make_cell("object", size="1MiB", objects="64"),
        system=SystemChoice(name=system, options=systems.resolve(system, {})),
        cache_state=state,
        disk=disks.parse("ssd:size=1GiB"),
    )


ENOUGH = round(PAYLOAD * 1.06)


def test_objects_that_crossed_the_link_their_way_are_believed(make_cell: MakeCell) -> None:
    got = phases(operation("get", PAYLOAD))
    assert doubt(cell_of(make_cell), got, crossed(100_000, ENOUGH), proof()) is None
    put = phases(operation("put", PAYLOAD))
    assert doubt(cell_of(make_cell), put, crossed(ENOUGH, 100_000), proof()) is None


@pytest.mark.parametrize("name", ["put", "get"])
def test_objects_that_crossed_the_other_way_are_not_believed(
    make_cell: MakeCell, name: str
) -> None:
    other = crossed(PAYLOAD // 2, ENOUGH) if name == "put" else crossed(ENOUGH, PAYLOAD // 2)
    told = doubt(cell_of(make_cell), phases(operation(name, PAYLOAD)), other, proof())
    assert told is not None
    assert "bytes crossed to the" in told


def test_what_was_in_flight_at_the_end_must_have_crossed_as_well(make_cell: MakeCell) -> None:
    late = phases(operation("get", PAYLOAD), cut_off_bytes=PAYLOAD // 4)
    told = doubt(cell_of(make_cell), late, crossed(0, ENOUGH), proof())
    assert told is not None
    assert "only" in told


def test_a_link_that_carried_several_times_the_data_is_not_believed(make_cell: MakeCell) -> None:
    got = phases(operation("get", PAYLOAD))
    told = doubt(cell_of(make_cell), got, crossed(0, 3 * PAYLOAD), proof())
    assert told is not None
    assert "for" in told
    # Requests that failed carried bytes nobody counted.
    failed = phases(operation("get", PAYLOAD, failed=3))
    assert doubt(cell_of(make_cell), failed, crossed(0, 3 * PAYLOAD), proof()) is None


def test_a_single_large_put_is_acknowledged_the_other_way(make_cell: MakeCell) -> None:
    one = msgspec.structs.replace(operation("put", PAYLOAD), count=1)
    acknowledged = crossed(ENOUGH, ENOUGH // 40)
    assert doubt(cell_of(make_cell), phases(one), acknowledged, proof()) is None
    assert doubt(cell_of(make_cell), phases(one), crossed(ENOUGH, ENOUGH // 8), proof())


def test_a_mix_is_judged_by_its_kinds(make_cell: MakeCell) -> None:
    half = PAYLOAD // 2
    mixed = phases(operation("mix", PAYLOAD), operation("put", half), operation("get", half))
    assert doubt(cell_of(make_cell), mixed, crossed(half + 99999, half + 99999), proof()) is None
    assert doubt(cell_of(make_cell), mixed, crossed(half + 99999, half - 1), proof()) is not None


def test_requests_without_content_need_no_more_than_their_headers(make_cell: MakeCell) -> None:
    heads = phases(operation("head", 0))
    assert doubt(cell_of(make_cell), heads, crossed(50_000, 50_000), proof()) is None
    assert doubt(cell_of(make_cell), heads, crossed(0, PAYLOAD), proof()) is not None


def test_a_warm_server_reads_no_disk_and_one_without_a_cache_may(make_cell: MakeCell) -> None:
    got = phases(operation("get", PAYLOAD))
    told = doubt(cell_of(make_cell), got, crossed(0, ENOUGH), proof(PAYLOAD))
    assert told is not None
    assert "not warm" in told
    swift = cell_of(make_cell, "swift")
    assert doubt(swift, got, crossed(0, ENOUGH), proof(PAYLOAD)) is None


def test_a_cold_server_reads_each_object_once_however_often_it_is_got(make_cell: MakeCell) -> None:
    cold = cell_of(make_cell, state="cold")
    often = phases(operation("get", 2 * PAYLOAD))
    assert doubt(cold, often, crossed(0, 2 * ENOUGH), proof(PAYLOAD)) is None
    told = doubt(cold, often, crossed(0, 2 * ENOUGH), proof(PAYLOAD // 2))
    assert told is not None
    assert "not cold" in told


def test_the_records_of_files_are_as_they_were() -> None:
    plain = msgspec.structs.replace(phases(operation("read", 1))[0], retries=msgspec.UNSET)
    assert b"retries" not in msgspec.json.encode(plain)
    assert b'"retries":0' in msgspec.json.encode(phases(operation("get", 1))[0])
