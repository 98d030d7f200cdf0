"""A run of a made-up study: claims of each verdict, plots of each kind, published values, an
outlier and a void trial.
"""

from __future__ import annotations

from functools import cache

import msgspec
from sample_runs import IDEAL, LATENCY, Sample, cell, run

from wavetank.runs.records import TrialRecord
from wavetank.study.model import Cell
from wavetank.study.study import Part, Plot, Published, Source, Study

KIB, MIB = 1024, 1024 * 1024

STUDY = Study(
    id="h14/sample",
    title="Small and large files by threads",
    question="Do threads help NFS and iSCSI over 50 ms?",
    source=Source(paper="H14", place="figure 4.5"),
    repeats=5,
    parts=[Part(name="threads", systems=["nfs4.2", "iscsi"], networks=[], workload="batch")],
    plots=[
        Plot(
            title="Throughput of small files",
            x="threads",
            series=["system", "access"],
            panels=["network", "operation"],
            where={"file_size_bytes": [4 * KIB]},
        ),
        Plot(
            title="Amplification of synchronous writes",
            x="file_size_bytes",
            y="amplification",
            panels=["network"],
            where={"operation": ["write"], "threads": [1], "access": ["sync"]},
            model="batch-write",
        ),
        Plot(
            title="Large files at 16 threads",
            x="network",
            kind="bars",
            panels=["operation"],
            where={"file_size_bytes": [MIB], "threads": [16]},
            y_scale="linear",
        ),
        Plot(title="Nothing of this was run", x="threads", where={"operation": ["append"]}),
    ],
    findings=["thr-1", "thr-3", "thr-4", "bat-2", "amp-3", "acc-1"],
    published=[
        Published(
            system="iscsi",
            quantity="throughput_bytes_per_s",
            value=2 * MIB,
            printed=2.0,
            unit="MiB/s",
            relation="below",
            network="latency-50",
            parameters={"operation": "read", "threads": 16, "file_size_bytes": 4 * KIB},
            source=Source(paper="H14", place="4.6.1"),
        ),
        Published(
            system="nfs4.2",
            quantity="throughput_bytes_per_s",
            value=9e5,
            printed=0.9,
            unit="MB/s",
            relation="about",
            network="ideal-100",
            parameters={"operation": "read", "file_size_bytes": 4 * KIB},
            source=Source(paper="O15", place="IV-E"),
            note="read off the text",
        ),
    ],
    notes=["Swift is not in this study yet."],
)


def cells() -> list[Cell]:
    made = [
        cell(system, network, operation, size, threads, access=access)
        for system in ("nfs4.2", "iscsi")
        for network in (IDEAL, LATENCY)
        for operation in ("read", "write")
        for access in ("sync", "direct")
        for size in (4 * KIB, MIB)
        for threads in (1, 2, 4, 16)
    ]
    more = [
        cell(system, IDEAL, "write", size)
        for system in ("nfs4.2", "iscsi")
        for size in (16 * KIB, 64 * KIB, 256 * KIB)
    ]
    return made + more


def spoiled(index: int, record: TrialRecord) -> TrialRecord:
    """Every 97th trial void; every 61st four times as slow."""
    if index % 97 == 40:
        return msgspec.structs.replace(record, status="void", reason="RTT 61 ms, declared 50 ms")
    if index % 61 != 30:
        return record
    phase = record.phases[0]
    series = msgspec.structs.replace(phase.series, bin_ns=phase.series.bin_ns * 4)
    slow = msgspec.structs.replace(
        phase, elapsed_ns=phase.elapsed_ns * 4, busy_until_ns=phase.busy_until_ns * 4, series=series
    )
    return msgspec.structs.replace(record, phases=[slow])


@cache
def study_run(repeats: int = 5, count: int = 80) -> Sample:
    made = run(cells(), repeats=repeats, count=count, spoil=spoiled)
    planned = [msgspec.structs.replace(one, parts=["threads"]) for one in made.plan.trials]
    plan = msgspec.structs.replace(made.plan, question=STUDY.question, study=STUDY, trials=planned)
    return msgspec.structs.replace(made, plan=plan)
