"""A network in netem's terms, against arithmetic done by hand and against tc-netem's own tables."""

from __future__ import annotations

import math
import struct
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavetank.lab.guest import netem
from wavetank.lab.guest.netlink import attributes
from wavetank.study.model import GilbertElliottLoss, IndependentLoss, Network, Queue

MS = 1_000_000
QOPT_BYTES = 24


def network(**changes: object) -> Network:
    return Network(name="test", **changes)  # type: ignore[arg-type]


def options(asked: Network, seed: int = 1) -> tuple[tuple[int, ...], dict[int, bytes]]:
    data = netem.netem_options(asked, "to-server", seed)
    return struct.unpack_from("=6I", data), attributes(data[QOPT_BYTES:])


def test_the_round_trip_is_shared_by_both_directions() -> None:
    _, found = options(network(rtt_ns=50 * MS))
    assert struct.unpack("=q", found[netem.TCA_NETEM_LATENCY64])[0] == 25 * MS


def test_two_directions_of_normal_jitter_add_up_to_the_declared_deviation() -> None:
    each = netem.one_way_jitter_ns(network(rtt_ns=50 * MS, jitter_ns=10 * MS))
    assert math.hypot(each, each) == pytest.approx(10 * MS)


def test_two_directions_of_uniform_jitter_reach_as_far_as_declared() -> None:
    asked = network(rtt_ns=50 * MS, jitter_ns=10 * MS, jitter_distribution="uniform")
    assert 2 * netem.one_way_jitter_ns(asked) == 10 * MS
    assert netem.TCA_NETEM_DELAY_DIST not in options(asked)[1]


@given(st.floats(0, 1))
def test_half_of_the_loss_is_applied_in_each_direction(probability: float) -> None:
    qopt, _ = options(network(loss=IndependentLoss(probability)))
    assert qopt[2] / 0xFFFFFFFF == pytest.approx(probability / 2, abs=1e-9)


def test_bursts_are_told_to_netem_as_its_chain_has_them() -> None:
    loss = GilbertElliottLoss(to_bad=0.01, to_good=0.25, loss_in_bad=0.8, loss_in_good=0.001)
    qopt, found = options(network(loss=loss))
    inner = attributes(found[netem.TCA_NETEM_LOSS])[netem.NETEM_LOSS_GE]
    chain = [value / 0xFFFFFFFF for value in struct.unpack("=4I", inner)]
    assert qopt[2] == 0
    assert chain == pytest.approx([0.01, 0.25, 0.2, 0.001], abs=1e-9)
    assert netem.one_way_loss(network(loss=loss)) == pytest.approx(
        0.01 / 0.26 * 0.8 + 0.25 / 0.26 * 0.001
    )


def test_the_limit_holds_what_is_in_flight_and_the_buffer() -> None:
    """100 Mbit/s and 25 ms one way: 2.5 Mbit in flight are 206.4 frames of 1514 bytes."""
    asked = network(rate_bit_per_s=100_000_000, rtt_ns=50 * MS)
    assert netem.queue_packets(asked) == 1000
    assert netem.limit_packets(asked) == 1000 + 207


def test_a_buffer_in_bdps_counts_full_frames() -> None:
    asked = network(rate_bit_per_s=10**9, rtt_ns=100 * MS, queue=Queue(bdp=2))
    assert netem.queue_packets(asked) == round(2 * 1e9 * 0.1 / (8 * 1514))
    assert netem.queue_packets(network(rate_bit_per_s=10**9, queue=Queue(packets=7))) == 7


def test_a_long_fat_path_has_a_buffer_of_its_own_product() -> None:
    asked = network(rate_bit_per_s=25 * 10**9, rtt_ns=100 * MS)
    assert netem.queue_packets(asked) == math.ceil(25e9 * 0.1 / (8 * 1514))


@pytest.mark.parametrize("rate", [100_000_000, 25 * 10**9])
def test_the_rate_is_told_in_bytes_and_fits_its_field(rate: int) -> None:
    _, found = options(network(rate_bit_per_s=rate))
    assert struct.unpack_from("=I", found[netem.TCA_NETEM_RATE])[0] == rate // 8


def test_the_seed_differs_by_direction_and_by_seed_and_by_nothing_else() -> None:
    seeds = {netem.netem_seed(seed, way) for seed in (1, 2) for way in ("to-server", "to-client")}
    assert len(seeds) == 4
    assert netem.netem_seed(1, "to-server") == netem.netem_seed(1, "to-server")


@pytest.mark.parametrize("kind", ["normal", "pareto", "paretonormal"])
def test_a_distribution_has_mean_zero_and_unit_deviation(kind: str) -> None:
    scale = netem.DISTRIBUTION_SCALE / netem.tail_factor(kind)
    table = [value / scale for value in netem.distribution(kind)]
    assert fmean(table) == pytest.approx(0, abs=0.01)
    assert pstdev(table) == pytest.approx(1, abs=0.06)


def test_the_jitter_told_to_netem_makes_up_for_the_size_of_the_table() -> None:
    asked = network(rtt_ns=50 * MS, jitter_ns=10 * MS, jitter_distribution="pareto")
    told = struct.unpack("=q", options(asked)[1][netem.TCA_NETEM_JITTER64])[0]
    assert told == netem.one_way_jitter_ns(asked) * netem.tail_factor("pareto")


def test_the_normal_table_is_the_normal_law() -> None:
    table = sorted(netem.distribution("normal"))
    share = sum(abs(value) <= netem.DISTRIBUTION_SCALE for value in table) / len(table)
    assert share == pytest.approx(0.6827, abs=0.001)


def test_a_path_without_impairment_needs_no_netem() -> None:
    assert netem.is_plain(network())
    assert not netem.is_plain(network(rate_bit_per_s=1))
    assert not netem.is_plain(network(reorder_probability=0.1))


def test_coalescing_is_netems_slot_of_one_length() -> None:
    _, found = options(network(coalesce_ns=50_000))
    slot = struct.unpack("=qqiiqq", found[netem.TCA_NETEM_SLOT])
    assert slot == (50_000, 50_000, 0, 0, 0, 0)
    assert netem.TCA_NETEM_SLOT not in options(network(rtt_ns=MS))[1]
    assert not netem.is_plain(network(coalesce_ns=50_000))


def test_a_packet_alone_waits_for_its_interrupt_once() -> None:
    assert netem.delivered_ns(network(coalesce_ns=50_000), 500.0) == 50_000
    far = network(rtt_ns=20 * MS, coalesce_ns=50_000)
    assert netem.delivered_ns(far, 500.0) == 10 * MS + 500 + 50_000
