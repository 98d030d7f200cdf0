"""Is the network what it was declared to be? Measured in the guest before it is used.

The probe (crates/probe) measures delay, rate, loss and order one way each; here is decided how
much to send and what is in tolerance. A network outside makes every trial on it void.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec

from wavetank.lab.guest.netem import (
    FRAME_OVERHEAD_BYTES,
    JITTER_REACH,
    coalesce_ns,
    delivered_ns,
    is_plain,
    limit_packets,
    one_way_delay_ns,
    one_way_jitter_ns,
    one_way_loss,
)
from wavetank.lab.guest.programs import run
from wavetank.lab.guest.topology import CLIENT_ADDRESS, SERVER_ADDRESS, Topology
from wavetank.runs.records import DirectionMeasured, NetworkMeasured
from wavetank.study.model import Clock, GilbertElliottLoss, Network

DELAY_PROBES, DELAY_PROBES_WITH_JITTER = 20, 200
TRAIN_PACKETS = 400
LOSS_PACKETS_LEAST, LOSS_PACKETS_MOST = 1000, 32000
# Losses wanted to be seen in each direction, where that many packets are affordable: enough that
# none at all is no chance (e^-16).
LOSSES_WANTED = 16
# Deliveries of coalesced packets wanted in a train: their spacing and the rate are read from them.
DELIVERIES_WANTED, DELIVERIES_LEAST = 16, 4
UDP_HEADERS_BYTES = 28
PROBE_FRAME_BITS = 8 * 60
LOSS_BURST_PACKETS = 64  # crates/probe/src/loss.rs

RELATIVE_TOLERANCE = 0.02
# Beyond these a difference is no chance: deviations from a mean, probability of a count.
SIGMAS = 5
CHANCE = 1e-6
JITTER_TOLERANCE = 0.3
DELIVERY_TOLERANCE = 0.05
DELAY_SLACK_NS = {"virtual": 20_000.0, "real": 2_000_000.0}
# Of the probe itself, between the two readings of the clock around each one-way delay.
SYSCALLS_OF_A_PROBE = 2
# A real CPU may be too slow to carry the rate: then the trial is bound by CPU, not void.
RATE_FLOOR = {"virtual": 1 - RELATIVE_TOLERANCE, "real": 0.5}


def probe_job(topology: Topology) -> dict[str, object]:
    """What the probe is to send on this network."""
    network = topology.network
    jitter_ns = one_way_jitter_ns(network)
    loss = one_way_loss(network)
    wanted = LOSSES_WANTED / loss if loss else LOSS_PACKETS_LEAST
    if isinstance(network.loss, GilbertElliottLoss):
        wanted = LOSSES_WANTED / max(network.loss.to_bad, 1e-9)  # bursts, not packets
    if network.reorder_probability:
        wanted = max(wanted, 2 * LOSSES_WANTED / network.reorder_probability)
    job: dict[str, object] = {
        "client_namespace": topology.client.path,
        "server_namespace": topology.server.path,
        "client_address": CLIENT_ADDRESS,
        "server_address": SERVER_ADDRESS,
        "rate_bit_per_s": network.rate_bit_per_s,
        "settle_ns": 2 * one_way_delay_ns(network)
        + 20 * jitter_ns
        + 10_000_000
        + 4 * coalesce_ns(network),
        "delay_probes": DELAY_PROBES_WITH_JITTER if jitter_ns else DELAY_PROBES,
        "delay_spacing_ns": 10 * jitter_ns + 1_000_000 + 4 * coalesce_ns(network),
        "train_packets": _train_packets(network),
        "train_payload_bytes": network.mtu_bytes - UDP_HEADERS_BYTES,
        "loss_packets": round(min(max(wanted, LOSS_PACKETS_LEAST), LOSS_PACKETS_MOST)),
        "loss_burst_spacing_ns": _burst_spacing_ns(network),
    }
    if coalesce_ns(network):
        job["coalesce_ns"] = coalesce_ns(network)
    return job


def _frame_ns(network: Network) -> float:
    """A full-sized frame's time on the wire."""
    if network.rate_bit_per_s is None:
        return 0.0
    return 8e9 * (network.mtu_bytes + FRAME_OVERHEAD_BYTES) / network.rate_bit_per_s


def _train_packets(network: Network) -> int:
    wanted = TRAIN_PACKETS
    if coalesce_ns(network) and network.rate_bit_per_s is not None:
        in_slot = coalesce_ns(network) / _frame_ns(network)
        wanted = max(wanted, math.ceil(DELIVERIES_WANTED * in_slot))
    return min(wanted, limit_packets(network))


def _burst_spacing_ns(network: Network) -> int:
    """Far enough apart that neither the link nor netem's packet limit fills with small probes."""
    on_wire_ns = 0.0
    if network.rate_bit_per_s is not None:
        on_wire_ns = LOSS_BURST_PACKETS * PROBE_FRAME_BITS * 1e9 / network.rate_bit_per_s
    reach_ns = one_way_delay_ns(network) + JITTER_REACH * one_way_jitter_ns(network)
    reach_ns += coalesce_ns(network)
    bursts_that_fit = limit_packets(network) / (4 * LOSS_BURST_PACKETS)
    return round(max(10_000, 4 * on_wire_ns, reach_ns / bursts_that_fit))


def verify(topology: Topology, probe: str, clock: Clock, syscall_ns: int = 0) -> NetworkMeasured:
    """Measures the path of `topology` with the probe program and judges it. `syscall_ns`: what the
    guest charges for the probe's own system calls.
    """
    job, report = Path("/run/probe-job.json"), Path("/run/probe-report.json")
    job.write_text(json.dumps(probe_job(topology)))
    run([probe, str(job), str(report)])
    measured = msgspec.json.decode(report.read_bytes(), type=_Report)
    found = NetworkMeasured(
        rtt_ns_median=measured.rtt_ns_median,
        rtt_ns_min=measured.rtt_ns_min,
        rtt_ns_stddev=measured.rtt_ns_stddev,
        to_server=measured.to_server,
        to_client=measured.to_client,
        violations=[],
    )
    if is_plain(topology.network):
        return found
    judged = violations(topology.network, found, clock, syscall_ns)
    return msgspec.structs.replace(found, violations=judged)


def violations(
    network: Network, measured: NetworkMeasured, clock: Clock, syscall_ns: int = 0
) -> list[str]:
    """What is outside tolerance, a sentence each."""
    own_ns = DELAY_SLACK_NS[clock] + 2 * SYSCALLS_OF_A_PROBE * syscall_ns
    found = _delay_violations(network, measured, clock, own_ns)
    for name, direction in (
        ("to the server", measured.to_server),
        ("to the client", measured.to_client),
    ):
        found += _rate_violations(network, direction, name, clock)
        found += _delivery_violations(network, direction, name, clock)
        found += _loss_violations(network, direction, name)
    return found


class _Report(msgspec.Struct, frozen=True):
    rtt_ns_median: float
    rtt_ns_min: float
    rtt_ns_stddev: float
    to_server: DirectionMeasured
    to_client: DirectionMeasured


def _expected_rtt_ns(network: Network) -> float:
    """Of a probe, with its own time on the wire and what it waits for an interrupt."""
    rate = network.rate_bit_per_s
    on_wire_ns = PROBE_FRAME_BITS * 1e9 / rate if rate is not None else 0.0
    odd_ns = network.rtt_ns - 2 * one_way_delay_ns(network)
    return odd_ns + 2 * delivered_ns(network, on_wire_ns)


def _delay_violations(
    network: Network, measured: NetworkMeasured, clock: Clock, own_ns: float
) -> list[str]:
    """Means, not medians: every distribution of netem's has the declared delay as its mean."""
    mean = measured.to_server.delay_ns_mean + measured.to_client.delay_ns_mean
    jitter = network.jitter_ns
    # netem cuts delays off at 0: where that matters the mean is no longer the declared one.
    if jitter * 3 <= network.rtt_ns or not jitter:
        probes = DELAY_PROBES_WITH_JITTER if jitter else DELAY_PROBES
        slack = (
            RELATIVE_TOLERANCE * network.rtt_ns
            + own_ns
            + SIGMAS * jitter / math.sqrt(probes)
            + _reordered_slack_ns(network, probes)
        )
        expected = _expected_rtt_ns(network) if coalesce_ns(network) else network.rtt_ns
        if abs(mean - _expected_rtt_ns(network)) > slack:
            return [f"RTT {mean / 1e6:.3f} ms instead of {expected / 1e6:.3f} ms"]
        strange = abs(measured.rtt_ns_stddev - jitter) > JITTER_TOLERANCE * jitter
        if jitter and strange and network.jitter_distribution == "normal" and clock == "virtual":
            seen, declared = measured.rtt_ns_stddev / 1e6, jitter / 1e6
            return [f"jitter {seen:.3f} ms instead of {declared:.3f} ms"]
    return []


def _reordered_slack_ns(network: Network, probes: int) -> float:
    """A packet that netem sends ahead has no delay at all, which moves the mean."""
    ahead = network.reorder_probability / 2
    return network.rtt_ns * (ahead + SIGMAS * math.sqrt(ahead * (1 - ahead) / probes))


def _rate_violations(
    network: Network, direction: DirectionMeasured, name: str, clock: Clock
) -> list[str]:
    declared, seen = network.rate_bit_per_s, direction.rate_bit_per_s
    if declared is None:
        return []
    if seen is None:
        return [f"no rate could be measured {name}"]
    if RATE_FLOOR[clock] <= seen / declared <= 1 + RELATIVE_TOLERANCE:
        return []
    return [f"{seen / 1e6:.2f} Mbit/s {name} instead of {declared / 1e6:.2f} Mbit/s"]


def _delivery_violations(
    network: Network, direction: DirectionMeasured, name: str, clock: Clock
) -> list[str]:
    """Packets of a train come together, as far apart as declared, or one by one where the wire is
    slower. On the real clock timers are late: there the delay alone is judged.
    """
    declared, frame_ns = coalesce_ns(network), _frame_ns(network)
    train_ns = _train_packets(network) * frame_ns
    if not declared or clock == "real" or network.jitter_ns:
        return []
    if train_ns < DELIVERIES_LEAST * declared:
        return []
    seen, expected = direction.delivery_spacing_ns, max(float(declared), frame_ns)
    if isinstance(seen, msgspec.UnsetType):
        return [f"interrupts {name} not apart instead of {expected / 1000:.1f} us"]
    if abs(seen / expected - 1) <= DELIVERY_TOLERANCE:
        return []
    return [f"interrupts {name} {seen / 1000:.1f} us apart instead of {expected / 1000:.1f} us"]


def _loss_violations(network: Network, direction: DirectionMeasured, name: str) -> list[str]:
    """Counts against Poisson's law; losses in bursts count as so many fewer, by the chain's
    memory.
    """
    found = []
    sent, probability = direction.packets_sent, one_way_loss(network)
    burst = 1.0
    if isinstance(network.loss, GilbertElliottLoss):
        memory = 1 - network.loss.to_bad - network.loss.to_good
        burst = max(1.0, (1 + memory) / max(1e-9, 1 - memory))
    lost = direction.loss_probability * sent
    if chance_of_count(lost / burst, sent * probability / burst) < CHANCE:
        found.append(
            f"{direction.loss_probability:.4%} of packets lost {name} instead of {probability:.4%}"
        )
    ahead = network.reorder_probability / 2
    counted = (network.rate_bit_per_s is not None or not network.jitter_ns) and network.rtt_ns
    overtaken = direction.reorder_probability * sent
    if counted and chance_of_count(overtaken, sent * ahead) < CHANCE:
        found.append(
            f"{direction.reorder_probability:.4%} of packets out of order {name} "
            f"instead of {ahead:.4%}"
        )
    return found


def chance_of_count(count: float, mean: float) -> float:
    """Probability that a Poisson variable of this mean is as far from it as `count`, on that side.

    Parts of a count are rounded towards the mean.
    """
    if mean <= 0:
        return 0.0 if count > 0 else 1.0
    below = count < mean
    at = math.ceil(count) if below else math.floor(count)
    term = math.exp(at * math.log(mean) - mean - math.lgamma(at + 1))
    total = 0.0
    while term > total * 1e-12:
        total += term
        term *= at / mean if below else mean / (at + 1)
        at += -1 if below else 1
    return total
