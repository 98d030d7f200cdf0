"""Files go with directories and REST with object storage; all else is refused while planning."""

from __future__ import annotations

import msgspec
import pytest

from wavetank import systems, workloads
from wavetank.conduct import client_files
from wavetank.conduct.planning import Request, make_plan
from wavetank.errors import UsageError
from wavetank.study.model import CacheState, Client
from wavetank.systems import syscall_cost


def request(
    names: list[str],
    workload: str,
    cache_state: CacheState = "cold-client-warm-server",
    **grid: list[str],
) -> Request:
    return Request(
        systems=names,
        networks=["ideal-100"],
        workload=workload,
        parameters={name.replace("_", "-"): values for name, values in grid.items()},
        cache_state=cache_state,
    )


def refused(asked: Request) -> str:
    with pytest.raises(UsageError) as caught:
        make_plan(asked)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_workload_on_files_is_refused_on_object_storage_with_its_mounts() -> None:
    told = refused(request(["nfs4.2", "s3"], "batch"))
    assert "batch works on files and s3 is object storage" in told
    assert "s3+s3fs" in told
    assert "object" in told


@pytest.mark.parametrize("name", ["nfs4.2", "s3+rclone", "local"])
def test_a_workload_on_objects_is_refused_on_a_file_system(name: str) -> None:
    told = refused(request([name], "object"))
    assert f"{name} is a file system; take s3 or swift" in told


def test_there_is_no_client_cache_to_be_warm_over_rest() -> None:
    assert "no client cache" in refused(request(["swift"], "object", cache_state="warm"))


def test_small_parts_are_refused_where_s3_is_among_the_systems() -> None:
    grid = {"size": ["4MiB"], "parts": ["4"], "operation": ["put"]}
    assert "below 5MiB" in refused(request(["swift", "s3"], "chunking", **grid))
    assert len(make_plan(request(["swift"], "chunking", **grid)).trials) == 1


def test_a_mix_alone_asks_for_mixed_requests() -> None:
    plan = make_plan(request(["s3"], "object", mix=["get:9,put:1", "get:1,put:9"]))
    assert [one.cell.workload.parameters["operation"] for one in plan.trials] == ["mix", "mix"]
    plan = make_plan(request(["s3"], "object"))
    assert [one.cell.workload.parameters["operation"] for one in plan.trials] == ["put", "get"]


def test_the_faces_are_told_apart() -> None:
    assert [one for one in systems.names() if systems.serves(one) == "objects"] == ["s3", "swift"]
    with pytest.raises(UsageError, match="a mount of it: swift"):
        systems.file_system("swift")
    with pytest.raises(UsageError, match="take s3 or swift"):
        systems.object_store("nfs4.2")
    with pytest.raises(UsageError, match="works on objects"):
        workloads.on_files("object")
    with pytest.raises(UsageError, match="works on files"):
        workloads.on_objects("batch")


@pytest.mark.parametrize("name", ["s3", "swift"])
def test_servers_over_rest_are_charged_for_their_system_calls_as_below_a_mount(name: str) -> None:
    (planned, *_) = make_plan(request([name], "object")).trials
    assert syscall_cost.of_cell(planned.cell) == 10_000
    (planned, *_) = make_plan(request([f"{name}:syscall-cost=0"], "object")).trials
    assert syscall_cost.of_cell(planned.cell) == 0


def of_client(**grid: list[str]) -> Request:
    asked = request(["s3"], "object", **({"operation": ["get"]} | grid))
    return msgspec.structs.replace(asked, client_disks=["c16-ssd"], client_memory=["120MiB"])


def test_a_clients_disk_holds_what_it_uploads_and_twice_its_memory_of_what_it_gets() -> None:
    put, get = (
        make_plan(of_client(operation=[operation], size=["1MiB"], duration=["60s"])).trials[0].cell
        for operation in ("put", "get")
    )
    assert client_files.count(put) == 256  # the set's bytes
    assert client_files.count(get) == 240
    assert isinstance(get.client, Client)
    assert get.client.disk is not None
    assert get.client.disk.size_bytes == 512 << 20


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({"operation": ["head"]}, "object, head has none"),
        ({"operation": ["mix"]}, "object, mix has none"),
        ({"size": ["16MiB"], "parallel": ["8"]}, "120MiB can't hold 8 objects of 16MiB"),
    ],
)
def test_a_clients_disk_goes_with_objects_that_fit_its_memory(
    grid: dict[str, list[str]], said: str
) -> None:
    assert said in refused(of_client(**grid))


def test_chunks_and_files_have_no_files_at_the_client() -> None:
    asked = msgspec.structs.replace(of_client(), workload="chunking")
    assert "chunking, get has none" in refused(asked)
    files = msgspec.structs.replace(
        request(["s3+s3fs"], "batch"), client_disks=["ssd"], client_memory=["1GiB"]
    )
    assert "client-disk goes with workload object" in refused(files)


def test_a_disk_of_the_clients_that_is_too_small_is_refused() -> None:
    asked = msgspec.structs.replace(of_client(), client_disks=["ssd:size=64MiB"])
    assert "is too small for the client's files" in refused(asked)


def test_processors_are_of_the_host() -> None:
    asked = msgspec.structs.replace(request(["s3"], "object"), client_processors=["0.5"])
    assert 'place = "host"' in refused(asked)
