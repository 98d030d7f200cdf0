"""Comparisons and verdicts: like with like, the baseline beside, level when it is level."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from sample_runs import IDEAL, REALISTIC, Sample, cell, grid, phase, run

from wavetank.analysis import Analysis, Comparison, analyse, compare, sentence
from wavetank.analysis.verdicts import finding
from wavetank.runs.records import TrialRecord


def analysed(made: Sample) -> Analysis:
    return analyse(made.plan, made.trials, made.walls)


def at_rate(record: TrialRecord, operations_per_s: float, jitter: float = 0.0) -> TrialRecord:
    """The trial as it would be at an even rate, one thread, 4 KiB."""
    gap = 1e9 / operations_per_s * (1 + jitter)
    count = 400
    made = phase([gap] * count, [gap * (i + 1) for i in range(count)], "read", 4096)
    return msgspec.structs.replace(record, phases=[made])


def duel(left: list[float], right: list[float]) -> Comparison:
    """NFS 4.2 against iSCSI with these rates, one repeat each."""
    rates = [*left, *right]
    made = run(
        [cell("nfs4.2"), cell("iscsi")],
        repeats=len(left),
        spoil=lambda index, record: at_rate(record, rates[index]),
    )
    (comparison,) = analysed(made).comparisons
    return comparison


def test_the_faster_system_wins_by_the_ratio_of_medians() -> None:
    comparison = duel([100.0], [980.0])
    assert comparison.outcome == "wins"
    assert comparison.winner == "iscsi"
    assert comparison.factor == pytest.approx(9.8, rel=0.01)
    assert sentence(comparison) == (
        "On realistic, reading: iSCSI is 9.8x NFS 4.2 (4.01 MB/s against 410 kB/s)."
    )


@pytest.mark.parametrize(("right", "outcome"), [(104.0, "level"), (107.0, "wins")])
def test_less_than_five_percent_is_level(right: float, outcome: str) -> None:
    assert duel([100.0], [right]).outcome == outcome


def test_repeats_that_cross_are_level_however_large_the_ratio() -> None:
    comparison = duel([100.0, 180.0, 90.0], [110.0, 95.0, 150.0])
    assert comparison.outcome == "level"
    assert comparison.winner is None


def test_repeats_that_agree_win_with_an_interval() -> None:
    comparison = duel([100.0, 101.0, 99.0], [150.0, 148.0, 151.0])
    assert comparison.outcome == "wins"
    assert comparison.factor_interval is not None
    assert 1.4 < comparison.factor_interval.low <= comparison.factor_interval.high < 1.6
    assert "95 % interval" in finding(comparison)


def test_the_local_disk_is_beside_the_contest() -> None:
    analysis = analysed(run(grid(sizes=(4096,), threads=(1,))))
    for comparison in analysis.comparisons:
        assert comparison.winner != "local"
        assert all(standing.system != "local" for standing in comparison.standings)
        assert [standing.system for standing in comparison.baselines] == ["local"]


def test_the_local_disk_is_told_when_nothing_else_was_measured() -> None:
    (comparison,) = analysed(run([cell("local")])).comparisons
    assert comparison.outcome == "alone"
    assert comparison.winner == "local"


def test_a_system_whose_trials_are_void_neither_wins_nor_loses() -> None:
    def spoil(index: int, record: TrialRecord) -> TrialRecord:
        if index == 1:
            return msgspec.structs.replace(record, status="void", reason="rate low")
        return record

    (comparison,) = analysed(run([cell("nfs4.2"), cell("iscsi")], spoil=spoil)).comparisons
    assert comparison.outcome == "alone"
    assert comparison.unusable == {"iscsi": "void: rate low"}
    assert finding(comparison).startswith("only NFS 4.2 has a usable result")
    assert "iSCSI void" in finding(comparison)


def test_no_usable_trial_is_no_result() -> None:
    made = run([cell("nfs4.2"), cell("iscsi")], spoil=lambda index, record: None)
    analysis = analysed(made)
    assert analysis.comparisons[0].outcome == "none"
    assert analysis.networks[0].headline == "No usable result."


def test_clocks_networks_and_conditions_are_never_mixed() -> None:
    cells = [
        cell(system, network, threads=threads, clock=clock)
        for system in ("nfs4.2", "iscsi")
        for network in (IDEAL, REALISTIC)
        for threads in (1, 8)
        for clock in ("virtual", "real")
    ]
    comparisons = analysed(run(cells, count=60)).comparisons
    assert len(comparisons) == 8
    assert all(len(one.standings) == 2 for one in comparisons)
    points = {(one.network, one.clock, one.conditions["threads"]) for one in comparisons}
    assert len(points) == 8


def test_a_lead_is_over_the_first_that_is_not_level() -> None:
    rates = [100.0, 102.0, 50.0]
    made = run(
        [cell(name) for name in ("nfs3", "iscsi", "nfs4.2")],
        spoil=lambda index, record: at_rate(record, rates[index]),
    )
    (comparison,) = analysed(made).comparisons
    assert comparison.outcome == "level"
    assert comparison.factor == pytest.approx(2.04, rel=0.01)
    assert finding(comparison).endswith("and 2.0x NFS 4.2")


def test_only_what_varies_is_put_in_words() -> None:
    analysis = analysed(run(grid(sizes=(4096, 1 << 20), threads=(1,))))
    assert analysis.comparisons[0].varying == ["file_size_bytes"]
    assert "4 KiB files:" in sentence(analysis.comparisons[0])


def test_round_trips_are_told_where_waiting_makes_the_latency() -> None:
    made = run([cell("nfs4.2", operation="write"), cell("iscsi", operation="write")])
    (comparison,) = analysed(made).comparisons
    assert any(
        text.startswith("Round trips in the median operation: 4.") for text in comparison.evidence
    )


def test_what_rests_on_too_little_is_cautioned_against() -> None:
    (comparison,) = analysed(run([cell("nfs4.2"), cell("iscsi")], count=20)).comparisons
    told = (
        "No steady state, so the whole phase counts: NFS 4.2 (20 operations) and iSCSI "
        "(20 operations)."
    )
    assert comparison.caution == told


def test_a_steady_comparison_needs_no_caution() -> None:
    assert duel([100.0], [980.0]).caution == ""


def test_a_full_link_is_told() -> None:
    made = run(
        [cell(name, IDEAL, file_size_bytes=1 << 20, threads=8) for name in ("nfs4.2", "iscsi")]
    )
    (comparison,) = analysed(made).comparisons
    assert "the link (payload limit 12.0 MB/s)" in comparison.evidence[0]


def test_writes_faster_than_the_link_are_told_as_caching() -> None:
    made = run(
        [cell("nfs4.2", operation="write"), cell("iscsi", operation="write")],
        spoil=lambda index, record: at_rate(record, 20_000.0) if index else record,
    )
    (comparison,) = analysed(made).comparisons
    assert any(
        text.startswith("Caching on the client: iSCSI ran at 6") for text in comparison.evidence
    )


def test_a_headline_names_the_system_that_is_never_behind() -> None:
    analysis = analysed(run(grid()))
    realistic = next(one for one in analysis.networks if one.network == "realistic")
    assert realistic.headline.startswith("iSCSI wins ")
    assert realistic.headline.endswith("the rest are level.")


def test_a_report_rebuilt_says_the_same() -> None:
    made = run(grid(sizes=(4096,)), repeats=3, count=60)
    assert msgspec.json.encode(analysed(made)) == msgspec.json.encode(analysed(made))


def test_comparisons_do_not_depend_on_the_order_of_systems() -> None:
    made = run([cell("nfs4.2"), cell("iscsi"), cell("nfs3")])
    rows = analysed(made).rows
    forward = compare(rows, np.random.default_rng(0))
    backward = compare(rows[::-1], np.random.default_rng(0))
    assert [one.system for one in forward[0].standings] == [
        one.system for one in backward[0].standings
    ]
