"""What tests of several rooms share: cells made from the words a user would write, and a lab
whose guests are played, so that everything above the kernel runs in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import HealthCheck, settings

from wavetank import workloads
from wavetank.conduct.guest_job import Booted, Ended, GuestJob, GuestTrial, Started
from wavetank.conduct.session import Tools
from wavetank.lab.errors import GuestDied
from wavetank.lab.host.guest import GuestSpec
from wavetank.lab.host.kernel import BuiltKernel
from wavetank.runs.records import (
    Environment,
    LinkDirection,
    LinkRecord,
    OperationRecord,
    PhaseRecord,
    Series,
    TrialRecord,
)
from wavetank.study import networks
from wavetank.study.model import (
    CacheState,
    Cell,
    Clock,
    Disk,
    SystemChoice,
    WorkloadChoice,
)

# A shared machine may be slow at any moment: no test is judged by the clock. Deadlines of tests are
# there to end what hangs, and are a hundred times what the thing takes.
settings.register_profile(
    "wavetank", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("wavetank")

MakeCell = Callable[..., Cell]
SECOND_NS = 10**9

ENVIRONMENT = Environment(
    wavetank_version="0.1.0",
    kernel_release="6.12.0",
    kernel_digest="abc",
    engine_version="0.1.0",
    engine_ceiling_operations_per_s=None,
    isolation="namespaces",
    versions={"nfs-utils": "2.6.2"},
    host={},
)


@pytest.fixture
def make_cell() -> MakeCell:
    """`make_cell(workload, system=, network=, ..., file_size="4KiB")`: one cell, seed 7."""

    def make(
        workload: str = "batch",
        *,
        system: str = "nfs4.2",
        network: str = "ideal-100",
        cache_state: CacheState = "cold-client-warm-server",
        clock: Clock = "virtual",
        **raw: str,
    ) -> Cell:
        stated = {name.replace("_", "-"): text for name, text in raw.items()}
        return Cell(
            system=SystemChoice(name=system, options={}),
            network=networks.parse(network),
            disk=Disk(name="ram", size_bytes=2**30),
            workload=WorkloadChoice(
                name=workload, parameters=workloads.get(workload).resolve(stated)
            ),
            clock=clock,
            cache_state=cache_state,
            seed=7,
        )

    return make


class PlayedLab:
    """A lab whose guests are played. The next `mortal` trials kill their guests."""

    def __init__(self) -> None:
        self.mortal = 0
        self.void = False
        self.alter: Callable[[TrialRecord], TrialRecord] = lambda record: record
        self.trials_run = 0
        self.environment = ENVIRONMENT
        self.memory_bytes = 2**36
        self.lacking: set[str] = set()

    def tools(self) -> Tools:
        return Tools(
            kernel=BuiltKernel(path=Path("/kernel"), release="6.12.0", digest="abc"),
            engine=Path("/engine"),
            tap=Path("/tap"),
            probe=Path("/probe"),
            start_guest=self.start,
            collect_environment=lambda: self.environment,
            available_memory_bytes=lambda: self.memory_bytes,
            is_installed=lambda program: program not in self.lacking,
        )

    @contextmanager
    def start(self, spec: GuestSpec) -> Iterator[PlayedGuest]:
        guest = PlayedGuest(self, msgspec.json.decode(spec.job, type=GuestJob))
        try:
            yield guest
        finally:
            spec.log.write_text(f"console of {spec.name}\n")


class PlayedGuest:
    """One guest: boots, then one trial per look."""

    boot_wall_s = 0.1

    def __init__(self, lab: PlayedLab, job: GuestJob) -> None:
        self._lab = lab
        self._todo = list(job.trials)
        self._booted = False

    def lines(self, timeout_s: float, /) -> list[bytes]:
        if not self._booted:
            self._booted = True
            return [msgspec.json.encode(Booted())]
        if self._lab.mortal > 0 or not self._todo:
            self._lab.mortal -= 1
            raise GuestDied("guest ended early: its console is empty")
        self._lab.trials_run += 1
        trial = self._todo.pop(0)
        record = self._lab.alter(played_record(trial))
        if self._lab.void:
            record = msgspec.structs.replace(record, status="void", reason="the RTT is 7 ms")
        return [
            msgspec.json.encode(Started(trial=trial.index)),
            msgspec.json.encode(Ended(trial=trial.index, record=record)),
        ]


def played_record(trial: GuestTrial) -> TrialRecord:
    """1000 operations at 10 ms each, evenly over ten seconds, nothing drawn."""
    parameters = trial.cell.workload.parameters
    size_bytes = int(parameters["file_size_bytes"])
    histogram = HdrHistogram(1, 3600 * SECOND_NS, 3)
    histogram.record_value(SECOND_NS // 100, 1000)
    direction = LinkDirection(bytes=500 * size_bytes, packets=5000, dropped=0)
    phase = PhaseRecord(
        phase="measure",
        backend="posix",
        threads=int(parameters.get("threads", 1)),
        elapsed_ns=10 * SECOND_NS,
        busy_until_ns=10 * SECOND_NS,
        ended_by="duration",
        operations=[
            OperationRecord(
                operation=str(parameters["operation"]),
                count=1000,
                failed=0,
                bytes=1000 * size_bytes,
                errors={},
                latency_histogram=histogram.encode().decode(),
                latency_ns_max=SECOND_NS // 100,
            )
        ],
        series=Series(bin_ns=SECOND_NS // 10, operations=[10] * 100, bytes=[10 * size_bytes] * 100),
        verification=None,
        user_cpu_ns=0,
        system_cpu_ns=0,
    )
    return TrialRecord(
        cell=trial.cell.digest,
        repeat=trial.repeat,
        status="ok",
        simulated_ns=11 * SECOND_NS,
        phases=[phase],
        link=LinkRecord(
            to_server=direction,
            to_client=direction,
            packet_digest="d" * 64,
            packets_captured=10000,
        ),
    )


@pytest.fixture
def lab() -> PlayedLab:
    """A lab whose guests are played."""
    return PlayedLab()
