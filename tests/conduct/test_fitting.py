"""Files go with directories and REST with object storage; all else is refused while planning."""

from __future__ import annotations

import pytest

from wavetank import systems, workloads
from wavetank.conduct.planning import Request, make_plan
from wavetank.errors import UsageError
from wavetank.study.model import CacheState
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
