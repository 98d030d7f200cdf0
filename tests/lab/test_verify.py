"""What counts as the network that was declared, and what makes its trials void."""

from __future__ import annotations

import msgspec
import pytest

from wavetank.lab.guest.verify import violations
from wavetank.runs.records import DirectionMeasured, NetworkMeasured
from wavetank.study.model import GilbertElliottLoss, IndependentLoss, Network

MS = 1_000_000.0
DECLARED = Network(
    name="declared",
    rate_bit_per_s=100_000_000,
    rtt_ns=50_000_000,
    jitter_ns=10_000_000,
    loss=IndependentLoss(0.001),
)


def direction(**changes: float | None) -> DirectionMeasured:
    right = DirectionMeasured(
        rate_bit_per_s=1e8,
        loss_probability=0.0005,
        reorder_probability=0.0,
        packets_sent=16000,
        delay_ns_mean=25 * MS,
        delay_ns_stddev=7 * MS,
    )
    return msgspec.structs.replace(right, **changes)


def measured(
    to_server: DirectionMeasured | None = None,
    to_client: DirectionMeasured | None = None,
    stddev: float = 10 * MS,
) -> NetworkMeasured:
    return NetworkMeasured(
        rtt_ns_median=50 * MS,
        rtt_ns_min=20 * MS,
        rtt_ns_stddev=stddev,
        to_server=to_server or direction(),
        to_client=to_client or direction(),
        violations=[],
    )


def test_the_declared_network_is_within_tolerance() -> None:
    assert violations(DECLARED, measured(), "virtual") == []


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (measured(direction(delay_ns_mean=35 * MS)), "RTT 60"),
        (measured(stddev=1 * MS), "jitter 1.000 ms instead of 10.000 ms"),
        (measured(direction(rate_bit_per_s=95e6)), "95.00 Mbit/s to the server"),
        (measured(None, direction(rate_bit_per_s=None)), "no rate could be measured to the client"),
        (measured(direction(loss_probability=0.005)), "of packets lost to the server"),
        (measured(None, direction(reorder_probability=0.01)), "out of order to the client"),
    ],
)
def test_a_network_that_is_another_says_in_what(seen: NetworkMeasured, told: str) -> None:
    (sentence,) = violations(DECLARED, seen, "virtual")
    assert told in sentence


def test_loss_on_a_path_without_any_is_a_violation_from_the_first_packet() -> None:
    clean = msgspec.structs.replace(DECLARED, loss=None)
    one = direction(loss_probability=1 / 16000)
    quiet = direction(loss_probability=0.0)
    assert violations(clean, measured(quiet, quiet), "virtual") == []
    assert len(violations(clean, measured(one, quiet), "virtual")) == 1


def test_bursts_may_scatter_more_than_single_losses() -> None:
    bursts = msgspec.structs.replace(DECLARED, loss=GilbertElliottLoss(0.0005, 0.05))
    share = GilbertElliottLoss(0.0005, 0.05).mean
    even = direction(loss_probability=share)
    scattered = direction(loss_probability=share * 1.8)
    assert violations(bursts, measured(scattered, even), "virtual") == []
    single = msgspec.structs.replace(DECLARED, loss=IndependentLoss(2 * share))
    assert len(violations(single, measured(scattered, even), "virtual")) == 1


def test_a_slow_cpu_does_not_make_a_real_network_void() -> None:
    slow = measured(direction(rate_bit_per_s=80e6), direction(rate_bit_per_s=80e6))
    assert violations(DECLARED, slow, "real") == []
    assert len(violations(DECLARED, slow, "virtual")) == 2
