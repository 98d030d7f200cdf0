"""The guest's init: every trial of its batch, one after another, each record written at once.

Composes the rooms inside the guest: the lab's path and disk, one system, one workload, the
gauges. What a trial leaves behind is taken down by context managers; when that fails the guest
says it is spent, and the host gives the rest of the batch to a new one.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import traceback
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import msgspec

from wavetank import systems, workloads
from wavetank.conduct import client_side, object_engine, plausibility
from wavetank.conduct.client_side import ClientSide
from wavetank.conduct.guest_job import (
    Booted,
    Ended,
    Finished,
    GuestEvent,
    GuestJob,
    GuestTrial,
    Spent,
    Started,
)
from wavetank.gauges import link, memory, packets, requests, tcp
from wavetank.lab.errors import LabError
from wavetank.lab.guest import mounts, programs
from wavetank.lab.guest.disks import attached
from wavetank.lab.guest.topology import Topology, write_sysctl
from wavetank.lab.guest.verify import verify
from wavetank.runs.records import (
    NetworkMeasured,
    PhaseRecord,
    StateProof,
    TrialRecord,
)
from wavetank.study.model import canonical_json
from wavetank.systems import syscall_cost
from wavetank.systems.bed import CLIENT_ROOT, Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.workloads.job import EngineJob
from wavetank.workloads.object_job import ObjectJob

JOB, OUTPUT = Path("/run/wavetank-load.json"), Path("/run/wavetank-load.jsonl")
# The engine's own limit is its job's; this one only ends what would never end by itself. The host
# holds the wall-clock deadline.
ENGINE_DEADLINE_S = 20 * 86400.0  # poll(2) takes no more than 24 days
# Trials start on a grid of the virtual clock, so that timers' phases do not depend on what ran
# before in the same guest.
START_GRID_S = 100
SOCKET_BUFFER_MOST_BYTES = 16 << 20

Target = Path | Endpoint
"""What a system yields and a workload works on: a directory, or an address to speak to."""


def main(scratch: str) -> None:
    """Runs as process 1 of the guest; `scratch` is the host's path of the exchange directory."""
    try:
        mounts.enter_overlay_root(scratch)
        mounts.mount_kernel_interfaces()
        prepare_kernel()
        tell(Booted())
        job = msgspec.json.decode((mounts.EXCHANGE / "job.json").read_bytes(), type=GuestJob)
        # Everything imported lives as long as the guest: nothing for the collector to look for.
        gc.freeze()
        run_all(job)
    except BaseException:
        traceback.print_exc()
        sys.stdout.flush()
    mounts.power_off()


def prepare_kernel() -> None:
    """Limits that are the whole machine's, not a namespace's (H14 listing 3.2)."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    for name in ("rmem_max", "wmem_max"):
        write_sysctl(f"net/core/{name}", str(SOCKET_BUFFER_MOST_BYTES))
    write_sysctl("net/core/netdev_max_backlog", "10000")


def tell(event: GuestEvent) -> None:
    """One line to the host, on the host's side when this returns."""
    with (mounts.EXCHANGE / "records.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(event) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def run_all(job: GuestJob) -> None:
    """Every trial in order; stops early when a trial could not be taken down."""
    verified: dict[bytes, NetworkMeasured] = {}
    for trial in job.trials:
        tell(Started(trial.index))
        record = run_trial(trial, job, verified)
        tell(Ended(trial.index, record))
        if record.status == "failed" and trial is not job.trials[-1]:
            tell(Spent())
            return
    tell(Finished())


def run_trial(
    trial: GuestTrial, job: GuestJob, verified: dict[bytes, NetworkMeasured]
) -> TrialRecord:
    """One trial; its failure is a record with the reason, never an exception."""
    if trial.cell.clock == "virtual":
        time.sleep(START_GRID_S - time.monotonic() % START_GRID_S)
    try:
        return _Trial(trial, job, verified).run()
    except Exception as error:  # whatever it is, it costs this trial only
        traceback.print_exc()
        sys.stderr.flush()
        expected = isinstance(error, LabError | OSError)
        return TrialRecord(
            cell=trial.cell.digest,
            repeat=trial.repeat,
            status="failed",
            reason=str(error) if expected else f"{type(error).__name__}: {error}",
        )


class _Trial:
    """One trial's way through the rooms."""

    def __init__(
        self, trial: GuestTrial, job: GuestJob, verified: dict[bytes, NetworkMeasured]
    ) -> None:
        self._trial = trial
        self._cell = trial.seeded_cell
        self._job = job
        self._verified = verified
        self._client: ClientSide | None = None

    def run(self) -> TrialRecord:
        """Path, verification, disk, system, measurement."""
        system = systems.get(self._cell.system.name)
        with ExitStack() as stack:
            topology = stack.enter_context(Topology(self._cell.network, self._trial.seed))
            measured = self._network(topology) if system.needs_network else None
            if measured is not None and measured.violations:
                return self._void(measured)
            self._client = stack.enter_context(client_side.made(self._cell, self._engine))
            device = stack.enter_context(attached(self._cell.disk))
            bed = Bed(topology, device, self._fill, self._cell.cache_state)
            target = stack.enter_context(self._up(bed))
            if self._cell.cache_state == "warm":
                self._measure(target)
            elif self._cell.cache_state == "cold":
                memory.drop_caches()
            return self._measured(bed, target, measured)

    def _up(self, bed: Bed) -> AbstractContextManager[Target]:
        """The system, filled, with the face it has."""
        name, options = self._cell.system.name, self._cell.system.options
        if systems.serves(name) == "files":
            return systems.file_system(name).up(bed, options)

        def put(endpoint: Endpoint) -> None:
            prepared = workloads.on_objects(self._cell.workload.name).prepare(self._cell)
            if prepared is not None:
                object_engine.put_set(prepared, endpoint, bed.topology, self._engine)

        return systems.object_store(name).serving(bed, options, put)

    def _network(self, topology: Topology) -> NetworkMeasured:
        """As measured in this guest: once for each network, before anything else uses it."""
        key = canonical_json(self._cell.network)
        if key not in self._verified:
            cost_ns = syscall_cost.of_cell(self._cell)
            self._verified[key] = verify(topology, self._job.probe, self._cell.clock, cost_ns)
            topology.shape(self._cell.network)  # the probe's packets are not the trial's
        return self._verified[key]

    def _void(self, measured: NetworkMeasured) -> TrialRecord:
        return TrialRecord(
            cell=self._trial.cell.digest,
            repeat=self._trial.repeat,
            status="void",
            reason="the network is not what was declared: " + "; ".join(measured.violations),
            network_measured=measured,
        )

    def _fill(self, directory: Path) -> None:
        """The set that the workload needs, on the server's side."""
        prepared = workloads.on_files(self._cell.workload.name).prepare(self._cell)
        if prepared is not None:
            self._engine(msgspec.structs.replace(prepared, root=str(directory)))
            os.sync()

    def _measure(self, target: Target) -> list[PhaseRecord]:
        """The cell's work on what the system yielded."""
        name = self._cell.workload.name
        if isinstance(target, Endpoint):
            job = workloads.on_objects(name).measure(self._cell)
            job = msgspec.structs.replace(job, object=object_engine.store_of(target))
            if self._client is None:
                return self._engine(job)
            with self._client.within_memory():
                return self._engine(self._client.with_files(job), self._client.group)
        files = workloads.on_files(name).measure(self._cell)
        return self._engine(msgspec.structs.replace(files, root=str(target)))

    def _measured(self, bed: Bed, target: Target, network: NetworkMeasured | None) -> TrialRecord:
        hosts = {"client": bed.topology.client, "server": bed.topology.server}
        capture = (
            packets.captured(bed.topology, self._job.tap)
            if self._job.packet_digest
            else nullcontext(packets.PacketDigest())
        )
        cached = memory.cached_bytes()
        with capture as digest:
            disk, sent, link_before, tcp_before = (
                bed.device.traffic(),
                requests.read(CLIENT_ROOT),
                link.read(bed.topology),
                tcp.read(hosts),
            )
            start = time.monotonic_ns()
            phases = self._measure(target)
            simulated_ns = time.monotonic_ns() - start
            tcp_after, link_after = tcp.read(hosts), link.read(bed.topology)
            read, written = (
                after - before for before, after in zip(disk, bed.device.traffic(), strict=True)
            )
            asked = requests.between(sent, requests.read(CLIENT_ROOT))
        crossed = msgspec.structs.replace(
            link.between(link_before, link_after),
            packet_digest=digest.sha256,
            packets_captured=digest.packets,
        )
        proof = StateProof(
            cached_bytes_before=cached,
            disk_read_bytes=read,
            disk_written_bytes=written,
            client_mounted_fresh=self._cell.cache_state != "warm" and isinstance(target, Path),
        )
        doubt = plausibility.doubt(self._cell, phases, crossed, proof)
        return TrialRecord(
            cell=self._trial.cell.digest,
            repeat=self._trial.repeat,
            status="void" if doubt else "ok",
            reason=doubt,
            simulated_ns=simulated_ns,
            phases=phases,
            link=crossed,
            network_measured=network,
            state_proof=proof,
            tcp=tcp.between(tcp_before, tcp_after),
            requests=asked,
            effective=effective_settings() | bed.notes,
        )

    def _engine(
        self, job: EngineJob | ObjectJob, surroundings: programs.Surroundings | None = None
    ) -> list[PhaseRecord]:
        """The load engine; its phases' records."""
        JOB.write_bytes(msgspec.json.encode(job))
        OUTPUT.unlink(missing_ok=True)
        programs.run(
            [self._job.engine, str(JOB), "--output", str(OUTPUT)],
            surroundings,
            deadline_s=ENGINE_DEADLINE_S,
        )
        return [
            msgspec.json.decode(line, type=PhaseRecord) for line in OUTPUT.read_bytes().splitlines()
        ]


def effective_settings() -> dict[str, str]:
    """What client and kernel made of the settings: the mount as the kernel tells it."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        source, target, kind, options, *_ = line.split()
        if target == str(CLIENT_ROOT):
            return {"mount_source": source, "mount_type": kind, "mount_options": options}
    return {}
