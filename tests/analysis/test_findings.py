"""Claims about the papers' claims: each can be reproduced, changed and left unjudged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from sample_rows import IDEAL, KIB, LATENCY, LOSS, MIB, REALISTIC, UNITS, row, void

from wavetank.analysis.errors import UnknownClaimError
from wavetank.analysis.findings import CLAIMS, claim, clients, judge_claims, objects
from wavetank.analysis.rows import CellRow
from wavetank.study.model import Network

Rate = Callable[[int], float]
FILE_STUDIES = (
    "acc-1 acc-2 acc-3 acc-4 acc-5 acc-6 acc-7 sgl-1 sgl-2 sgl-3 bat-1 bat-2 bat-3 bat-4 bat-5 "
    "thr-1 thr-2 thr-3 thr-4 thr-5 thr-6 sch-1 sch-2 amp-1 amp-2 amp-3 amp-4 amp-5 amp-6 bdp-1 "
    "rs-1 rs-2"
).split()


def by_unit(
    system: str, network: Network, operation: str, access: str, rate: Rate
) -> list[CellRow]:
    return [
        row(
            system,
            network,
            "access-unit",
            operation,
            rate(unit),
            access=access,
            unit_bytes=unit,
            file_size_bytes=16 * MIB,
        )
        for unit in UNITS
    ]


def by_size(
    system: str, network: Network, operation: str, rate: Rate, constant_kib: float = 0.0
) -> list[CellRow]:
    return [
        row(
            system,
            network,
            "single-file",
            operation,
            rate(size),
            amplification=1.05 + constant_kib * KIB / size,
            unit_bytes=size,
            file_size_bytes=size,
        )
        for size in UNITS
    ]


def batch(
    system: str, network: Network, operation: str, size: int, rate: float, **more: object
) -> CellRow:
    return row(
        system,
        network,
        "batch",
        operation,
        rate,
        file_size_bytes=size,
        unit_bytes=size,
        **{"threads": 1, **more},  # type: ignore[arg-type]
    )


def by_threads(system: str, network: Network, size: int, rate: Rate) -> list[CellRow]:
    return [
        batch(system, network, "read", size, rate(threads), threads=threads)
        for threads in (1, 2, 4, 8, 16, 32, 64)
    ]


def scheduled(name: str, operation: str, size: int, rate: float) -> CellRow:
    system = f"iscsi:scheduler={name}"
    return batch(system, LATENCY, operation, size, rate, threads=16, options={"scheduler": name})


def connected(system: str, option: str, count: int, rate: float) -> CellRow:
    label = f"{system}:{option}={count}"
    return batch(label, REALISTIC, "read", 16 * MIB, rate, threads=32, options={option: count})


def swept(system: str, operation: str, time_s: Callable[[float], float]) -> list[CellRow]:
    return [
        row(
            system,
            Network(name=f"rtt-{rtt}", rate_bit_per_s=10**9, rtt_ns=rtt * 1_000_000),
            "random-sequential",
            operation,
            128 * MIB / time_s(rtt / 1000),
            elapsed_s=time_s(rtt / 1000),
            order="sequential",
        )
        for rtt in (10, 30, 50, 70, 90)
    ]


def flushed(nfs: int, iscsi: int, operation: str = "write") -> list[CellRow]:
    """What R04 table 4 counts: requests of 4 KiB on NFS against those of iSCSI."""
    return [
        row(
            "nfs3",
            GIGABIT,
            "random-sequential",
            operation,
            8e6,
            requests=nfs,
            options={"rsize_bytes": 0 if operation == "read" else 4096},
            order="sequential",
            flush=False,
        ),
        row(
            "iscsi",
            GIGABIT,
            "random-sequential",
            operation,
            8e6,
            requests=iscsi,
            order="sequential",
            flush=operation == "write",
        ),
    ]


def rising(unit: int) -> float:
    return 11e6 * unit / (unit + 200 * KIB)


def flat(_: int) -> float:
    return 9e6


GIGABIT = Network(name="ideal-1000", rate_bit_per_s=10**9)
FAR_GIGABIT = Network(name="latency-50-1000", rate_bit_per_s=10**9, rtt_ns=50_000_000)


def journal(kib: float) -> list[CellRow]:
    return [
        batch("iscsi", IDEAL, "write", size, 1e6, amplification=1.05 + kib * KIB / size)
        for size in UNITS
    ]


def shared(fixed: bool) -> list[CellRow]:
    return [
        batch(
            "iscsi",
            IDEAL,
            "write",
            4 * KIB,
            1e6 * n,
            threads=n,
            amplification=1.1 + 36 / 4 / (1 if fixed else n),
        )
        for n in (1, 2, 4, 8)
    ]


# For each claim: rows that reproduce it, and rows that do not.
CASES: dict[str, tuple[list[CellRow], list[CellRow]]] = {
    "acc-1": (
        by_unit("nfs4.2", IDEAL, "read", "direct", rising),
        by_unit("nfs4.2", IDEAL, "read", "direct", flat),
    ),
    "acc-2": (
        by_unit("iscsi", IDEAL, "read", "sync", flat),
        by_unit("iscsi", IDEAL, "read", "sync", rising),
    ),
    "acc-3": (
        by_unit("nfs3", LATENCY, "read", "sync", flat)
        + by_unit("iscsi", LATENCY, "read", "sync", lambda unit: 2e6),
        by_unit("nfs3", LATENCY, "read", "sync", flat)
        + by_unit("iscsi", LATENCY, "read", "sync", flat),
    ),
    "acc-4": (
        by_unit("iscsi", IDEAL, "write", "default", lambda unit: 1e9),
        by_unit("iscsi", IDEAL, "write", "default", flat),
    ),
    "acc-5": (
        by_unit("iscsi", IDEAL, "write", "direct", lambda unit: 10e6)
        + by_unit("iscsi", IDEAL, "write", "sync", flat),
        by_unit("iscsi", IDEAL, "write", "direct", lambda unit: 5e6)
        + by_unit("iscsi", IDEAL, "write", "sync", flat),
    ),
    "acc-6": (
        by_unit("swift", IDEAL, "read", "default", flat),
        by_unit("swift", IDEAL, "read", "default", rising),
    ),
    "acc-7": (
        by_unit("nfs3", IDEAL, "read", "direct", flat)
        + by_unit("nfs3", LOSS, "read", "direct", rising),
        by_unit("nfs3", IDEAL, "read", "direct", rising)
        + by_unit("nfs3", LOSS, "read", "direct", flat),
    ),
    "sgl-1": (
        by_size("iscsi", IDEAL, "read", rising),
        by_size("iscsi", IDEAL, "read", flat),
    ),
    "sgl-2": (
        by_size("iscsi", IDEAL, "write", flat) + by_size("nfs3", IDEAL, "write", lambda size: 3e6),
        by_size("iscsi", IDEAL, "write", flat) + by_size("nfs3", IDEAL, "write", lambda size: 11e6),
    ),
    "sgl-3": (
        by_size("iscsi", IDEAL, "read", flat)
        + by_size("nfs3", IDEAL, "read", flat)
        + by_size("iscsi", LATENCY, "read", lambda size: 1e6)
        + by_size("nfs3", LATENCY, "read", lambda size: 2e6),
        by_size("iscsi", IDEAL, "read", flat)
        + by_size("nfs3", IDEAL, "read", flat)
        + by_size("iscsi", LATENCY, "read", lambda size: 3e6)
        + by_size("nfs3", LATENCY, "read", lambda size: 2e6),
    ),
    "bat-1": (
        [
            batch("iscsi", IDEAL, "write", 4 * KIB, 5e6),
            *by_size("iscsi", IDEAL, "write", lambda s: 1e5),
        ],
        [
            batch("iscsi", IDEAL, "write", 4 * KIB, 5e5),
            *by_size("iscsi", IDEAL, "write", lambda s: 1e5),
        ],
    ),
    "bat-2": (
        [batch("iscsi", LOSS, "write", 4 * KIB, 5e6), batch("nfs3", LOSS, "write", 4 * KIB, 1e6)],
        [batch("iscsi", LOSS, "write", 4 * KIB, 1e6), batch("nfs3", LOSS, "write", 4 * KIB, 5e6)],
    ),
    "bat-3": (
        [batch("swift", REALISTIC, "read", MIB, 5e6), batch("nfs3", REALISTIC, "read", MIB, 1e6)],
        [batch("swift", REALISTIC, "read", MIB, 1e6), batch("nfs3", REALISTIC, "read", MIB, 5e6)],
    ),
    "bat-4": (
        [
            batch("iscsi", IDEAL, "write", 4 * KIB, 5e6, access="direct"),
            batch("iscsi", IDEAL, "write", 4 * KIB, 1e6, access="sync"),
        ],
        [
            batch("iscsi", IDEAL, "write", 4 * KIB, 1.5e6, access="direct"),
            batch("iscsi", IDEAL, "write", 4 * KIB, 1e6, access="sync"),
        ],
    ),
    "bat-5": (
        [
            batch("iscsi", IDEAL, "read", 16 * MIB, 11e6),
            batch("nfs3", IDEAL, "read", 16 * MIB, 10e6),
        ],
        [
            batch("iscsi", IDEAL, "read", 16 * MIB, 11e6),
            batch("nfs3", IDEAL, "read", 16 * MIB, 5e6),
        ],
    ),
    "thr-1": (
        by_threads("iscsi", IDEAL, 4 * KIB, lambda n: 1e5 * n)
        + by_threads("nfs3", IDEAL, 4 * KIB, lambda n: 1e5 * min(n, 4)),
        by_threads("nfs3", IDEAL, 4 * KIB, lambda n: 1e5 * n),
    ),
    "thr-2": (
        by_threads("swift", IDEAL, 4 * KIB, lambda n: 1e5 * (n if n <= 32 else 30)),
        by_threads("swift", IDEAL, 4 * KIB, lambda n: 1e5 * n),
    ),
    "thr-3": (
        by_threads("iscsi", IDEAL, 4 * KIB, lambda n: 9e6)
        + by_threads("nfs3", IDEAL, 4 * KIB, lambda n: 4e6),
        by_threads("iscsi", IDEAL, 4 * KIB, lambda n: 3e6)
        + by_threads("nfs3", IDEAL, 4 * KIB, lambda n: 4e6),
    ),
    "thr-4": (
        by_threads("iscsi", LATENCY, 4 * KIB, lambda n: 9e6)
        + by_threads("nfs3", LATENCY, 4 * KIB, lambda n: 1e6),
        by_threads("iscsi", LATENCY, 4 * KIB, lambda n: 9e6)
        + by_threads("nfs3", LATENCY, 4 * KIB, lambda n: 8e6),
    ),
    "thr-5": (
        by_threads("nfs3", REALISTIC, 16 * MIB, lambda n: 3e6),
        by_threads("nfs3", REALISTIC, 16 * MIB, lambda n: 8e6),
    ),
    "thr-6": (
        [connected("nfs4.2", "nconnect", 1, 2e6), connected("nfs4.2", "nconnect", 8, 8e6)],
        [connected("iscsi", "sessions", 1, 2e6), connected("iscsi", "sessions", 4, 2.1e6)],
    ),
    "sch-1": (
        [scheduled("bfq", "read", 16 * MIB, 2e6), scheduled("mq-deadline", "read", 16 * MIB, 9e6)],
        [scheduled("bfq", "read", 16 * MIB, 9e6), scheduled("mq-deadline", "read", 16 * MIB, 9e6)],
    ),
    "sch-2": (
        [scheduled("bfq", "write", 4 * KIB, 2e6), scheduled("mq-deadline", "write", 4 * KIB, 3e6)],
        [scheduled("bfq", "read", 4 * KIB, 2e6), scheduled("mq-deadline", "read", 4 * KIB, 3e6)],
    ),
    "amp-1": (
        by_size("iscsi", IDEAL, "read", rising, 150),
        by_size("iscsi", IDEAL, "read", rising, 40),
    ),
    "amp-2": (
        by_size("iscsi", IDEAL, "write", rising, 210),
        by_size("iscsi", IDEAL, "write", rising, 100),
    ),
    "amp-3": (journal(38), journal(12)),
    "amp-4": (shared(fixed=False), shared(fixed=True)),
    "amp-5": (
        [
            batch("iscsi", IDEAL, "write", 4 * KIB, 5e6, access="direct", amplification=1.2),
            batch("iscsi", IDEAL, "write", 4 * KIB, 1e6, access="sync", amplification=9.0),
        ],
        [
            batch("iscsi", IDEAL, "write", 4 * KIB, 5e6, access="direct", amplification=8.0),
            batch("iscsi", IDEAL, "write", 4 * KIB, 1e6, access="sync", amplification=9.0),
        ],
    ),
    "amp-6": (
        by_size("nfs3", IDEAL, "read", rising, 3) + by_size("iscsi", IDEAL, "read", rising, 150),
        by_size("nfs3", IDEAL, "read", rising, 30) + by_size("iscsi", IDEAL, "read", rising, 150),
    ),
    "bdp-1": (
        [
            batch(system, network, "read", MIB, rate, threads=32)
            for system, network, rate in (
                ("iscsi", GIGABIT, 100e6),
                ("nfs3", GIGABIT, 100e6),
                ("iscsi", FAR_GIGABIT, 60e6),
                ("nfs3", FAR_GIGABIT, 20e6),
            )
        ],
        [
            batch(system, network, "read", MIB, rate, threads=32)
            for system, network, rate in (
                ("iscsi", GIGABIT, 100e6),
                ("nfs3", GIGABIT, 100e6),
                ("iscsi", FAR_GIGABIT, 10e6),
                ("nfs3", FAR_GIGABIT, 20e6),
            )
        ],
    ),
    "rs-1": (
        swept("iscsi", "write", lambda rtt: 2.0) + swept("nfs3", "write", lambda rtt: 17 + rtt),
        swept("iscsi", "write", lambda rtt: 17.0) + swept("nfs3", "write", lambda rtt: 17.0),
    ),
    "rs-2": (
        swept("iscsi", "read", lambda rtt: 10 + 100 * rtt)
        + swept("nfs3", "read", lambda rtt: 10 + 900 * rtt),
        swept("iscsi", "write", lambda rtt: 2 + 100 * rtt)
        + swept("nfs3", "write", lambda rtt: 17 + 900 * rtt),
    ),
}


def test_every_claim_of_the_file_studies_is_written_down() -> None:
    on_objects = [one.id for one in (*objects.CLAIMS, *clients.CLAIMS)]
    assert list(CLAIMS) == [*FILE_STUDIES, *on_objects]
    assert set(CASES) == set(FILE_STUDIES)


@pytest.mark.parametrize("name", FILE_STUDIES)
def test_a_claim_can_be_reproduced(name: str) -> None:
    (found,) = judge_claims(CASES[name][0], [name])
    assert found.verdict == "reproduced", [one.text for one in found.checks]
    assert all(one.cells and one.text for one in found.checks)
    assert found.reason == ""


@pytest.mark.parametrize("name", FILE_STUDIES)
def test_a_claim_can_turn_out_changed(name: str) -> None:
    (found,) = judge_claims(CASES[name][1], [name])
    assert found.verdict == "changed", [one.text for one in found.checks]
    assert found.reason == claim(name).since
    assert found.held < len(found.checks)


@pytest.mark.parametrize("name", FILE_STUDIES)
def test_without_its_cells_a_claim_is_not_judged_and_says_what_it_needs(name: str) -> None:
    unusable = [void(one) for one in CASES[name][0]]
    (found,) = judge_claims(unusable, [name])
    assert found.verdict == "not judged"
    assert found.reason == f"Needs {claim(name).needs}."


@pytest.mark.parametrize("name", FILE_STUDIES)
def test_a_claim_is_a_sentence_with_source_and_published_numbers(name: str) -> None:
    one = claim(name)
    assert one.text.endswith(".")
    assert one.source
    assert one.published


def test_messages_count_beside_the_times_of_random_and_sequential_access() -> None:
    many, few = flushed(32990, 1135), flushed(1500, 1135)
    (found,) = judge_claims(many, ["rs-1"])
    assert found.verdict == "reproduced"
    assert "requests: 1 135 against 32 990 on NFS 3" in found.checks[0].text
    assert judge_claims(few, ["rs-1"])[0].verdict == "changed"
    assert judge_claims(flushed(32860, 32827, "read"), ["rs-1"])[0].verdict == "reproduced"
    assert judge_claims(flushed(32860, 4096, "read"), ["rs-1"])[0].verdict == "changed"


def test_reading_by_less_than_the_client_would_is_not_compared_by_messages() -> None:
    nfs, iscsi = flushed(32860, 1072, "read")
    small = msgspec.structs.replace(nfs, options={"rsize_bytes": 4096})
    assert judge_claims([small, iscsi], ["rs-1"])[0].verdict == "not judged"


def test_messages_of_a_run_that_did_not_count_them_are_not_judged() -> None:
    uncounted = [msgspec.structs.replace(one, requests=None) for one in flushed(1, 1)]
    assert judge_claims(uncounted, ["rs-1"])[0].verdict == "not judged"


def test_a_pipe_is_filled_by_writing_too() -> None:
    cells = [
        batch(system, network, "write", MIB, rate, threads=32)
        for system, network, rate in (
            ("iscsi", GIGABIT, 100e6),
            ("nfs3", GIGABIT, 100e6),
            ("iscsi", FAR_GIGABIT, 60e6),
            ("nfs3", FAR_GIGABIT, 20e6),
        )
    ]
    assert judge_claims(cells, ["bdp-1"])[0].verdict == "reproduced"


def test_variants_do_not_speak_for_their_system() -> None:
    cells = CASES["sch-1"][0]
    assert judge_claims([cells[0]], ["thr-1"])[0].verdict == "not judged"


def test_the_only_scheduler_of_a_run_is_the_plain_one() -> None:
    writes = [
        batch("iscsi", IDEAL, "write", 4 * KIB, 5e6, options={"scheduler": "bfq"}),
        batch("nfs3", IDEAL, "write", 4 * KIB, 1e6),
    ]
    assert judge_claims(writes, ["bat-2"])[0].verdict == "reproduced"


def test_an_unknown_claim_is_refused_by_name() -> None:
    with pytest.raises(UnknownClaimError, match="xyz-1"):
        judge_claims([], ["xyz-1"])


def test_the_manual_has_every_claim_as_it_stands() -> None:
    text = (Path(__file__).parents[2] / "docs/method/findings.md").read_text(encoding="utf-8")
    for one in CLAIMS.values():
        assert f"| {one.id} | {one.text} | {one.published} | {one.source} |" in text
