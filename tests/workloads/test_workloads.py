"""Claims about workloads: the jobs they make, the room they need, what they refuse."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavetank import workloads
from wavetank.errors import UsageError
from wavetank.study import networks
from wavetank.study.model import Cell, Disk, SystemChoice, WorkloadChoice
from wavetank.workloads.job import EngineJob
from wavetank.workloads.reach import set_footprint_bytes

MakeCell = Callable[..., Cell]
GIB = 2**30


def measured(cell: Cell) -> EngineJob:
    return workloads.get(cell.workload.name).measure(cell)


def test_batch_defaults_are_those_of_the_papers() -> None:
    settings = workloads.get("batch").resolve({"file-size": "4KiB"})
    assert settings == {
        "operation": "read",
        "file_size_bytes": 4096,
        "threads": 1,
        "access": "sync",
        "unit_bytes": 4096,
        "set_bytes": 2 * GIB,
        "duration_ns": 90 * 10**9,
        "rate_per_s": 0.0,
        "verify": False,
    }


def test_a_whole_batch_has_the_524288_files_of_the_papers(make_cell: MakeCell) -> None:
    job = measured(make_cell(cache_state="warm", file_size="4KiB"))
    assert job.set.files == 524288
    assert job.set.files_per_directory == 4096


def test_a_read_is_prepared_with_the_very_set_that_is_measured(make_cell: MakeCell) -> None:
    cell = make_cell(file_size="1MiB", threads="8")
    prepared = workloads.get("batch").prepare(cell)
    assert prepared is not None
    assert prepared.set == measured(cell).set
    assert prepared.seed == measured(cell).seed == cell.seed
    assert prepared.phases[0].access == "default"


def test_a_write_is_not_prepared_and_creates_its_files(make_cell: MakeCell) -> None:
    cell = make_cell(operation="write")
    assert workloads.get("batch").prepare(cell) is None
    assert measured(cell).phases[0].create
    assert measured(cell).phases[0].action == "write"


def test_the_job_carries_every_parameter(make_cell: MakeCell) -> None:
    cell = make_cell(
        file_size="16MiB",
        threads="4",
        access="direct",
        unit="1MiB",
        duration="20s",
        rate="5.5",
        verify="yes",
    )
    (phase,) = measured(cell).phases
    assert (phase.unit_bytes, phase.threads, phase.access) == (2**20, 4, "direct")
    assert (phase.duration_ns, phase.rate_per_s, phase.verify) == (20 * 10**9, 5.5, True)


def test_no_rate_is_a_closed_loop(make_cell: MakeCell) -> None:
    assert measured(make_cell()).phases[0].rate_per_s is None


def test_single_file_has_one_file_in_one_call_and_no_limit(make_cell: MakeCell) -> None:
    job = measured(make_cell("single-file", file_size="64MiB"))
    assert job.set.files == 1
    assert job.phases[0].unit_bytes == 64 * 2**20
    assert job.phases[0].duration_ns is None


def test_the_job_speaks_the_engines_schema(make_cell: MakeCell) -> None:
    job = msgspec.json.decode(msgspec.json.encode(measured(make_cell(file_size="4KiB"))))
    assert job["schema"] == 1
    assert set(job) == {"schema", "backend", "root", "seed", "set", "phases"}
    assert set(job["set"]) == {"files", "file_size_bytes", "files_per_directory"}
    assert set(job["phases"][0]) == {
        "name",
        "action",
        "item",
        "access",
        "unit_bytes",
        "order",
        "threads",
        "duration_ns",
        "max_items",
        "create",
        "fsync",
        "rate_per_s",
        "verify",
        "timing",
    }


def test_no_more_files_are_made_than_the_rate_can_carry(make_cell: MakeCell) -> None:
    cell = make_cell(network="ideal-100", file_size="4KiB", duration="10s")
    carried = 100e6 / 8 * 10 / 4096
    assert carried < measured(cell).set.files < 1.1 * carried


def test_no_more_files_are_made_than_round_trips_allow(make_cell: MakeCell) -> None:
    cell = make_cell(network="latency-50", file_size="4KiB", threads="8")
    allowed = 8 * 90 / 0.05
    assert allowed < measured(cell).set.files <= 2 * allowed + 8


@pytest.mark.parametrize(
    "words",
    [
        {"system": "local", "clock": "real"},
        {"cache_state": "warm"},
        {"operation": "write", "access": "default"},
    ],
)
def test_where_nothing_must_cross_the_path_the_set_is_whole(
    make_cell: MakeCell, words: dict[str, str]
) -> None:
    cell = make_cell(network="realistic", file_size="4KiB", **words)
    assert measured(cell).set.files == 524288


@pytest.mark.parametrize("network", ["ideal-100", "realistic", "ideal-1000"])
@pytest.mark.parametrize("operation", ["read", "write"])
def test_systems_are_compared_on_equal_sets(
    make_cell: MakeCell, network: str, operation: str
) -> None:
    sets = {
        measured(make_cell(system=system, network=network, operation=operation)).set.files
        for system in ("local", "nfs4.2", "iscsi")
    }
    assert len(sets) == 1


def test_access_unit_defaults_are_those_of_the_papers() -> None:
    settings = workloads.get("access-unit").resolve({})
    assert settings == {
        "operation": "read",
        "file_size_bytes": 16 * 2**20,
        "unit_bytes": 4096,
        "access": "sync",
        "verify": False,
    }


@pytest.mark.parametrize("operation", ["read", "write"])
def test_access_unit_has_its_file_before_either_operation(
    make_cell: MakeCell, operation: str
) -> None:
    cell = make_cell("access-unit", operation=operation, access="direct", unit="64KiB")
    prepared = workloads.get("access-unit").prepare(cell)
    assert prepared is not None
    assert prepared.set == measured(cell).set
    (phase,) = measured(cell).phases
    assert (phase.action, phase.access, phase.create) == (operation, "direct", False)
    assert phase.unit_bytes == 65536


def test_random_sequential_defaults_are_those_of_the_paper() -> None:
    settings = workloads.get("random-sequential").resolve({})
    assert settings == {
        "operation": "read",
        "order": "sequential",
        "file_size_bytes": 128 * 2**20,
        "unit_bytes": 4096,
        "access": "default",
        "flush": False,
        "verify": False,
    }


def test_random_sequential_writes_a_new_file_and_reads_one_that_is_there(
    make_cell: MakeCell,
) -> None:
    write = make_cell("random-sequential", operation="write", order="random")
    assert workloads.get("random-sequential").prepare(write) is None
    (phase,) = measured(write).phases
    assert (phase.item, phase.order, phase.create, phase.fsync) == ("access", "random", True, False)
    read = make_cell("random-sequential")
    assert workloads.get("random-sequential").prepare(read) is not None
    assert not measured(read).phases[0].create


def test_a_read_has_nothing_to_flush() -> None:
    flushed, plain = (
        workloads.get("random-sequential").resolve({"flush": word}) for word in ("yes", "no")
    )
    assert flushed == plain


@given(
    threads=st.integers(1, 64),
    kib=st.sampled_from([4, 64, 1024, 16384]),
    network=st.sampled_from(["ideal-100", "realistic", "ideal-1000", "25gbit/1ms"]),
)
def test_the_reached_set_keeps_every_thread_busy_and_within_the_whole(
    threads: int, kib: int, network: str
) -> None:
    cell = _cell_of(threads, kib, network)
    files = measured(cell).set.files
    assert threads <= files <= 2 * GIB // (kib * 1024)


def _cell_of(threads: int, kib: int, network: str) -> Cell:
    raw = {"threads": str(threads), "file-size": f"{kib}KiB"}
    return Cell(
        system=SystemChoice(name="iscsi", options={}),
        network=networks.parse(network),
        disk=Disk(name="ram", size_bytes=2**30),
        workload=WorkloadChoice(name="batch", parameters=workloads.get("batch").resolve(raw)),
        clock="virtual",
        cache_state="cold",
        seed=1,
    )


def test_the_footprint_counts_whole_blocks_and_inodes(make_cell: MakeCell) -> None:
    cell = make_cell("single-file", file_size="1B")
    assert 4096 < workloads.get("single-file").footprint_bytes(cell) < 16384


def test_the_whole_set_takes_the_same_room_on_every_network(make_cell: MakeCell) -> None:
    batch = workloads.get("batch")
    near, far = make_cell(cache_state="warm"), make_cell(network="realistic")
    assert batch.footprint_bytes(far) < batch.footprint_bytes(near)
    assert batch.whole_set_bytes(far.workload.parameters) == batch.footprint_bytes(near)


@given(st.integers(1, 10**6), st.integers(1, 2**24))
def test_the_footprint_holds_the_data_at_least(files: int, size_bytes: int) -> None:
    assert set_footprint_bytes(files, size_bytes) > files * size_bytes


@pytest.mark.parametrize(
    ("workload", "raw", "said"),
    [
        ("batch", {"file-size": "5000", "access": "direct"}, "multiples of 4KiB"),
        ("batch", {"file-size": "16MiB", "unit": "1000", "access": "direct"}, "multiples of 4KiB"),
        ("batch", {"file-size": "1MiB", "set-size": "4MiB", "threads": "8"}, "only 4 files"),
        ("batch", {"file-size": "4MiB", "set-size": "1MiB"}, "no file"),
        ("batch", {"file-size": "4KiB", "unit": "8KiB"}, "exceeds"),
        ("batch", {"threads": "65"}, "64"),
        ("batch", {"threads": "0"}, "'0'"),
        ("batch", {"operation": "mkdir"}, "read, write"),
        ("batch", {"access": "mmap"}, "direct"),
        ("batch", {"duration": "0s"}, "no time"),
        ("batch", {"rate": "fast"}, "'fast'"),
        ("batch", {"rate": "nan"}, "'nan'"),
        ("batch", {"verify": "yes", "operation": "write"}, "reads nothing"),
        ("batch", {"file-sise": "4KiB"}, "did you mean file-size"),
        ("single-file", {"threads": "2"}, "no parameter 'threads'"),
        ("single-file", {"file-size": "0"}, "nothing"),
        ("access-unit", {"unit": "32MiB"}, "exceeds"),
        ("access-unit", {"threads": "2"}, "no parameter 'threads'"),
        ("random-sequential", {"order": "backwards"}, "sequential, random"),
        ("random-sequential", {"unit": "1000", "access": "direct"}, "multiples of 4KiB"),
    ],
)
def test_impossible_parameters_are_refused_in_one_sentence(
    workload: str, raw: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        workloads.get(workload).resolve(raw)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_workload_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean batch"):
        workloads.get("bacth")
