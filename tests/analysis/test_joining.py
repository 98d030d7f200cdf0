"""Rows: repeats are joined, unusable trials stay visible and never become numbers."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_runs import IDEAL, REALISTIC, cell, grid, run

from wavetank.analysis import CellRow, build_rows
from wavetank.analysis.facets import conditions
from wavetank.analysis.histograms import decode_histogram, merge_histograms
from wavetank.runs.records import Series, TrialRecord, Verification
from wavetank.study import disks
from wavetank.study.model import Client

CONTRACT = (
    "system network workload operation parameters clock seed status operations operations_per_s "
    "throughput_bytes_per_s latency_ns_p50 latency_ns_p99 link_bytes link_packets simulated_s "
    "wall_s"
).split()
NUMBERS = (
    "operations operations_per_s throughput_bytes_per_s latency_ns_p50 latency_ns_p90 "
    "latency_ns_p99 latency_ns_p999 latency_ns_max link_bytes link_packets simulated_s wall_s "
    "payload_bytes failed_operations amplification round_trips_p50 link_utilisation"
).split()


def rows_of(made: object) -> list[CellRow]:
    return build_rows(made.plan, made.trials, made.walls, np.random.default_rng(0))  # type: ignore[attr-defined]


def void(record: TrialRecord) -> TrialRecord:
    return msgspec.structs.replace(record, status="void", reason="RTT 61 ms, declared 50 ms")


def lost(record: TrialRecord) -> None:
    return None


def without_phase(record: TrialRecord) -> TrialRecord:
    return msgspec.structs.replace(record, phases=[])


def nothing_completed(record: TrialRecord) -> TrialRecord:
    phase = record.phases[0]
    primary = msgspec.structs.replace(phase.operations[0], count=0, failed=12)
    return msgspec.structs.replace(
        record, phases=[msgspec.structs.replace(phase, operations=[primary])]
    )


def wrong_content(record: TrialRecord) -> TrialRecord:
    checked = Verification(checked_bytes=4096, mismatched_operations=3)
    phase = msgspec.structs.replace(record.phases[0], verification=checked)
    return msgspec.structs.replace(record, phases=[phase])


def network_off(record: TrialRecord) -> TrialRecord:
    assert record.network_measured is not None
    measured = msgspec.structs.replace(record.network_measured, violations=["rate 20 % low"])
    return msgspec.structs.replace(record, network_measured=measured)


SPOILED: list[tuple[Callable[[TrialRecord], TrialRecord | None], str, str]] = [
    (void, "void", "declared 50 ms"),
    (lost, "missing", "not run yet"),
    (without_phase, "failed", "no phase 'measure'"),
    (nothing_completed, "failed", "12 failed"),
    (wrong_content, "failed", "3 operations read back other content"),
    (network_off, "void", "rate 20 % low"),
]


@pytest.mark.parametrize(("spoil", "status", "reason"), SPOILED)
def test_an_unusable_trial_keeps_its_row_and_has_no_number(
    spoil: Callable[[TrialRecord], TrialRecord | None], status: str, reason: str
) -> None:
    (row,) = rows_of(run([cell()], spoil=lambda index, record: spoil(record)))
    assert row.status == status
    assert row.reason is not None
    assert reason in row.reason
    assert [getattr(row, name) for name in NUMBERS] == [None] * len(NUMBERS)
    assert row.trials[0].operations_per_s is None


def test_the_json_contract_is_kept() -> None:
    (row,) = rows_of(run([cell()]))
    plain = msgspec.to_builtins(row)
    assert set(CONTRACT) <= plain.keys()
    assert all(plain[name] is not None for name in CONTRACT)


def test_repeats_with_seeds_of_their_own_make_one_row() -> None:
    made = run([cell(seed=3)], repeats=4)
    (row,) = rows_of(made)
    assert (row.repeats, row.repeats_ok, row.seed) == (4, 4, 3)
    assert [trial.seed for trial in row.trials] == [3, 4, 5, 6]
    rates = [trial.throughput_bytes_per_s for trial in row.trials]
    assert row.throughput_bytes_per_s == pytest.approx(np.median(rates))
    assert row.throughput_interval is not None
    assert row.throughput_interval.spans(row.throughput_bytes_per_s)


def test_counts_are_sums_over_repeats() -> None:
    made = run([cell()], repeats=3, count=100)
    (row,) = rows_of(made)
    assert row.operations == 300
    assert row.payload_bytes == 300 * 4096
    links = [record.link for record in made.trials if record.link]
    assert row.link_bytes == sum(link.to_server.bytes + link.to_client.bytes for link in links)
    assert row.amplification == pytest.approx(row.link_bytes / (300 * 4096))


def test_percentiles_come_from_the_merged_histogram_of_all_repeats() -> None:
    made = run([cell()], repeats=3)
    (row,) = rows_of(made)
    merged = merge_histograms(
        [decode_histogram(one.phases[0].operations[0].latency_histogram) for one in made.trials]
    )
    assert row.latency_ns_p99 == merged.percentile_ns(99)
    largest = max(one.phases[0].operations[0].latency_ns_max for one in made.trials)
    assert row.latency_ns_max == largest


def test_no_percentile_exceeds_the_exact_maximum() -> None:
    for row in rows_of(run(grid(), count=40)):
        assert row.latency_ns_p999 is not None
        assert row.latency_ns_p50 <= row.latency_ns_p90 <= row.latency_ns_p99  # type: ignore[operator]
        assert row.latency_ns_p99 <= row.latency_ns_p999 <= row.latency_ns_max  # type: ignore[operator]


def test_one_void_repeat_is_left_out_and_told() -> None:
    made = run([cell()], repeats=3, spoil=lambda i, record: void(record) if i == 1 else record)
    (row,) = rows_of(made)
    assert row.status == "ok"
    assert row.repeats_ok == 2
    assert row.reason == "1 of 3 repeats left out, void: RTT 61 ms, declared 50 ms"
    usable = [trial.operations_per_s for trial in row.trials if trial.status == "ok"]
    assert row.operations_per_s == pytest.approx(np.median(usable))


def test_of_two_records_of_a_trial_the_later_stands() -> None:
    made = run([cell()])
    first = void(made.trials[0])
    rows = build_rows(made.plan, [first, made.trials[0]], made.walls, np.random.default_rng(0))
    assert rows[0].status == "ok"


def test_systems_of_one_name_are_told_apart_by_what_differs() -> None:
    made = run(
        [
            cell("nfs4.2", options={"nconnect": streams, "export": "sync", "delegations": yes})
            for streams, yes in ((1, True), (8, True))
        ]
        + [cell("iscsi", options={"scheduler": "none"})]
    )
    names = [row.system for row in rows_of(made)]
    assert names == ["nfs4.2:nconnect=1", "nfs4.2:nconnect=8", "iscsi"]


def test_what_the_software_chooses_needs_no_words() -> None:
    made = run(
        [
            cell("nfs3", options={"rsize_bytes": size, "actimeo_s": seconds})
            for size, seconds in ((0, -1), (65536, -1), (0, 30))
        ]
    )
    assert [row.system for row in rows_of(made)] == ["nfs3", "nfs3:rsize=64KiB", "nfs3:actimeo=30"]


def test_networks_of_one_name_are_told_apart_too() -> None:
    bbr = msgspec.structs.replace(
        REALISTIC, tcp=msgspec.structs.replace(REALISTIC.tcp, congestion_control="bbr")
    )
    names = [row.network for row in rows_of(run([cell(network=one) for one in (REALISTIC, bbr)]))]
    assert names == [
        "realistic:cc=cubic",
        "realistic:cc=bbr",
    ]


def test_the_baseline_has_no_share_of_a_link_it_does_not_use() -> None:
    (row,) = rows_of(run([cell("local", network=IDEAL)]))
    assert row.baseline
    assert row.amplification is None
    assert row.link_utilisation is None
    assert row.round_trips_p50 is None


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(12)))
def test_the_order_in_which_trials_ended_changes_nothing(order: list[int]) -> None:
    made = run(grid(sizes=(4096,), threads=(1,)), count=60)
    shuffled = [made.trials[index] for index in order]
    walls = [made.walls[index] for index in order]
    again = build_rows(made.plan, shuffled, walls, np.random.default_rng(0))
    assert msgspec.json.encode(again) == msgspec.json.encode(rows_of(made))


def test_what_is_declared_of_the_client_stands_in_its_rows() -> None:
    disk = msgspec.structs.replace(disks.parse_client("c16-ssd:completion=1ms"), size_bytes=1 << 30)
    declared = Client(disk=disk, memory_bytes=1 << 28)
    asked = msgspec.structs.replace(cell(), client=declared)
    (row,) = rows_of(run([asked]))
    assert (row.client_disk, row.client_memory_bytes) == ("c16-ssd:completion=1ms", 1 << 28)
    assert row.client_processors is None
    assert conditions(row)["client_disk"] == row.client_disk
    assert "client_disk" not in conditions(rows_of(run([cell()]))[0])


def test_the_warm_up_counts_in_the_overall_rate_alone() -> None:
    """A memory takes the first second whole, and its disk what comes then."""
    made = run([cell()])
    (record,) = made.trials
    bins = [100.0] * 10 + [10.0] * 190
    measured = record.phases[0]
    series = Series(
        bin_ns=10**8,
        operations=[int(count) for count in bins],
        bytes=[int(count) * 4096 for count in bins],
    )
    total = int(sum(bins))
    primary = msgspec.structs.replace(measured.operations[0], count=total, bytes=total * 4096)
    phase = msgspec.structs.replace(
        measured,
        elapsed_ns=20 * 10**9,
        busy_until_ns=20 * 10**9,
        ended_by="duration",
        operations=[primary, *measured.operations[1:]],
        series=series,
    )
    again = msgspec.structs.replace(record, phases=[phase])
    (row,) = build_rows(made.plan, [again], made.walls, np.random.default_rng(0))
    assert row.throughput_bytes_per_s == pytest.approx(100 * 4096, rel=0.01)
    assert row.overall_bytes_per_s == pytest.approx(total * 4096 / 20, rel=0.01)


@pytest.mark.parametrize(("cut_off", "share"), [(0, 1.0), (100, 0.875)])
def test_processors_are_told_where_they_count_and_half_of_what_was_cut_off(
    cut_off: int, share: float
) -> None:
    asked = msgspec.structs.replace(cell(), clock="real")
    made = run([asked])
    (record,) = made.trials
    measured = record.phases[0]
    primary = msgspec.structs.replace(measured.operations[0], count=300)
    phase = msgspec.structs.replace(
        measured,
        operations=[primary],
        user_cpu_ns=measured.elapsed_ns // 10,
        system_cpu_ns=measured.elapsed_ns // 10,
        cut_off=cut_off,
    )
    again = msgspec.structs.replace(record, phases=[phase])
    (row,) = build_rows(made.plan, [again], made.walls, np.random.default_rng(0))
    assert row.processors_used == pytest.approx(0.2 * share, rel=0.01)
    assert rows_of(run([cell()]))[0].processors_used is None
