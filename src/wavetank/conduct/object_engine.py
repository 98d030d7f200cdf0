"""How the load engine comes to objects in a guest: the store it is told, and the set put there.

The set is put without the network: where the server keeps objects as plain files they are made as
files and given their keys' names; otherwise by requests from inside the server's namespace, over
its loopback. Credentials go in by a file that only the engine's user can read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from wavetank.lab.errors import LabError
from wavetank.lab.guest.topology import Topology
from wavetank.runs.records import PhaseRecord
from wavetank.systems.endpoint import Endpoint
from wavetank.workloads.job import EngineJob, FileSet, Phase
from wavetank.workloads.object_job import ObjectJob, Store

Run = Callable[[EngineJob | ObjectJob], list[PhaseRecord]]

CREDENTIALS = Path("/run/wavetank-credentials")
PREFIX = "wavetank/"
# 64 objects of 64 MiB over 100 Mbit/s take six minutes, longer than the engine's own patience.
REQUEST_TIMEOUT_NS = 3600 * 10**9
PREPARE_UNIT_BYTES = 4 << 20


def store_of(endpoint: Endpoint) -> Store:
    """The endpoint as the engine is told it; its credentials are in `CREDENTIALS` afterwards."""
    names = ("ST_USER", "ST_KEY")
    if endpoint.dialect == "s3":
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    CREDENTIALS.touch(mode=0o600)
    values = zip(names, (endpoint.user, endpoint.key), strict=True)
    CREDENTIALS.write_text("".join(f"{name} = {value}\n" for name, value in values))
    return Store(
        protocol=endpoint.dialect,
        endpoint=endpoint.url,
        container=endpoint.container,
        prefix=PREFIX,
        region=endpoint.region,
        credentials_file=str(CREDENTIALS),
        request_timeout_ns=REQUEST_TIMEOUT_NS,
    )


def put_set(job: ObjectJob, endpoint: Endpoint, topology: Topology, run: Run) -> None:
    """The job's set into the endpoint's container. LabError where an object could not be put."""
    if endpoint.tree is not None:
        _as_files(job, endpoint.tree, run)
    else:
        with topology.server.entered():
            phases = run(msgspec.structs.replace(job, object=store_of(endpoint)))
        _require_whole(phases)
    os.sync()


def _as_files(job: ObjectJob, tree: Path, run: Run) -> None:
    folder = tree / PREFIX
    folder.mkdir()
    files_of(job, folder, run)


def files_of(job: ObjectJob, folder: Path, run: Run) -> None:
    """The job's objects as files of `folder`, named by number in eight digits.

    Made by the engine's other backend, whose content is the same.
    """
    size_bytes = job.set.object_size_bytes
    unit_bytes = min(size_bytes, PREPARE_UNIT_BYTES)
    phase = Phase(name="prepare", action="write", unit_bytes=unit_bytes, create=True)
    files = FileSet(files=job.set.objects, file_size_bytes=size_bytes)
    staging = folder / "wavetank-staging"
    staging.mkdir()
    phases = run(EngineJob(seed=job.seed, set=files, phases=[phase], root=str(staging)))
    _require_whole(phases)
    # Both name them by number in order: dDDDDD/fFFFFFF there, eight digits here.
    for index, path in enumerate(sorted(staging.glob("d*/f*"))):
        path.rename(folder / f"{index:08}")
    shutil.rmtree(staging)


def _require_whole(phases: list[PhaseRecord]) -> None:
    for phase in phases:
        failed = phase.operations[0].errors
        if failed:
            told = ", ".join(f"{count} with {name}" for name, count in failed.items())
            raise LabError(f"the set could not be made: objects failed, {told}")
