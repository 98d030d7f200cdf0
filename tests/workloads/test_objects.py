"""Claims about workloads on objects: the jobs they make, the sets they need, what they refuse."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from tests.conftest import MakeCell

from wavetank import shipped, systems, workloads
from wavetank.errors import UsageError
from wavetank.study.model import Cell
from wavetank.workloads.object_job import ObjectJob, ObjectPhase, Store
from wavetank.workloads.object_set import c16_objects

STORE = Store(protocol="s3", endpoint="http://127.0.0.1:1", container="c", prefix="p/", retries=0)


def job_of(cell: Cell) -> ObjectJob:
    return workloads.on_objects(cell.workload.name).measure(cell)


def test_the_sets_of_the_paper_are_those_of_its_table() -> None:
    sizes = [1 << 10, 4 << 10, 16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
    assert [c16_objects(size) for size in sizes] == [
        81920,
        40960,
        40960,
        40960,
        16384,
        4096,
        2048,
        1,
    ]


def test_the_paper_s_set_is_had_by_its_name_and_bounded_by_the_path(make_cell: MakeCell) -> None:
    words = {"size": "1KiB", "objects": "c16", "parallel": "64", "duration": "60s"}
    near = make_cell("object", system="s3", network="ideal-1000", **words)
    far = make_cell("object", system="s3", network="1gbit/176ms", **words)
    assert job_of(near).set.objects == 81920
    # 64 connections at 176 ms have some 22 000 round trips in a minute; twice that may be touched.
    assert 22_000 < job_of(far).set.objects < 50_000


def test_a_put_has_a_new_key_for_all_that_the_link_can_carry(make_cell: MakeCell) -> None:
    cell = make_cell("object", system="s3", operation="put", size="64KiB", set_size="2GiB")
    job = job_of(cell)
    carried = 100e6 / 8 * 10 / 65536
    assert carried < job.set.objects < 1.1 * carried
    assert not job.phases[0].repeat
    assert workloads.on_objects("object").prepare(cell) is None


@pytest.mark.parametrize("operation", ["get", "head", "delete", "list", "mix"])
def test_what_is_not_put_is_there_before(make_cell: MakeCell, operation: str) -> None:
    cell = make_cell("object", system="swift", operation=operation, size="1KiB")
    prepared = workloads.on_objects("object").prepare(cell)
    assert prepared is not None
    assert prepared.set == job_of(cell).set
    assert prepared.set.objects == 256
    assert prepared.phases == [ObjectPhase(name="prepare", action="put")]


def test_reads_go_round_in_a_random_order_and_deletes_take_each_once(make_cell: MakeCell) -> None:
    get, delete = (
        job_of(make_cell("object", system="s3", operation=word)).phases[0]
        for word in ("get", "delete")
    )
    assert (get.order, get.repeat) == ("random", True)
    assert (delete.order, delete.repeat) == ("sequential", False)


def test_a_mix_carries_its_weights_and_its_rate(make_cell: MakeCell) -> None:
    cell = make_cell(
        "object", system="s3", operation="mix", mix="put:1,get:2,list:1", rate="50", page="10"
    )
    (phase,) = job_of(cell).phases
    assert phase.mix == {"put": 1, "get": 2, "list": 1}
    assert (phase.rate_per_s, phase.page_limit) == (50.0, 10)


def test_chunking_moves_one_object_in_equal_parts_at_once(make_cell: MakeCell) -> None:
    (phase,) = job_of(make_cell("chunking", system="s3", size="4MiB", parts="16")).phases
    assert (phase.part_bytes, phase.part_threads, phase.threads) == (256 << 10, 16, 1)


def test_no_credential_is_in_a_job(make_cell: MakeCell) -> None:
    job = msgspec.structs.replace(job_of(make_cell("object", system="s3")), object=STORE)
    fields = {field.name for field in msgspec.structs.fields(Store)}
    assert not {name for name in fields if "key" in name or "secret" in name or "user" in name}
    assert "wavetank-secret" not in msgspec.json.encode(job).decode()


@pytest.mark.parametrize(
    ("workload", "raw", "said"),
    [
        ("object", {"size": "0"}, "nothing"),
        ("object", {"size": "2GiB"}, "1GiB"),
        ("object", {"parallel": "0"}, "'0'"),
        ("object", {"parallel": "1025"}, "1024"),
        ("object", {"operation": "write"}, "put, get, head"),
        ("object", {"mix": "get"}, "get:70,put:30"),
        ("object", {"mix": "get:0"}, "add up"),
        ("object", {"mix": "get:1,get:2"}, "once"),
        ("object", {"rate": "fast"}, "'fast'"),
        ("object", {"rate": "nan"}, "'nan'"),
        ("object", {"objects": "2000000"}, "fewer"),
        ("object", {"size": "1MiB", "set-size": "1KiB"}, "no object"),
        ("object", {"operation": "put", "size": "64MiB", "parallel": "64"}, "only 4 objects"),
        ("object", {"file-size": "4KiB"}, "no parameter 'file-size'"),
        ("chunking", {"parts": "0"}, "'0'"),
        ("chunking", {"parts": "16", "size": "8B"}, "can't be cut"),
    ],
)
def test_impossible_parameters_are_refused_in_one_sentence(
    workload: str, raw: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        workloads.get(workload).resolve(raw)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_s3_parts_below_its_least_are_refused_with_what_to_do_instead() -> None:
    chunking = workloads.on_objects("chunking")
    settings = chunking.resolve({"operation": "put", "size": "4MiB", "parts": "16"})
    with pytest.raises(UsageError, match="--size 256KiB --parallel 16"):
        chunking.check("s3", settings)
    chunking.check("swift", settings)
    chunking.check("s3", {**settings, "operation": "get"})


@pytest.mark.parametrize("operation", ["put", "get", "head", "delete", "list", "mix"])
def test_the_load_engine_takes_every_job(
    make_cell: MakeCell, tmp_path: Path, operation: str
) -> None:
    """It refuses jobs it does not understand before it looks for the server, which is not there."""
    try:
        engine = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    cell = make_cell(
        "object",
        system="s3",
        operation=operation,
        mix="put:1,get:2,head:1,delete:1,list:1",
        verify="yes",
        rate="5",
    )
    path = tmp_path / "job.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(job_of(cell), object=STORE)))
    done = subprocess.run(
        [engine, path, "--output", "-"],
        capture_output=True,
        timeout=20,
        check=False,
        env={"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"},
    )
    assert done.returncode == 3, done.stderr
    assert b"connect" in done.stderr
    assert json.loads(path.read_bytes())["backend"] == "object"


def test_every_workload_works_on_what_some_system_serves() -> None:
    for name in workloads.names():
        kind = workloads.works_on(name)
        assert any(systems.serves(system) == kind for system in systems.names())
