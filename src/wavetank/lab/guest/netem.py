"""A network in netem's terms: which parameters each direction of the path gets.

Pure arithmetic on `Network`, and the bytes netem wants (linux/pkt_sched.h, net/sched/sch_netem.c).
The rate is of Ethernet frames without preamble and FCS, as tc counts them: at 1500 bytes MTU the
payload limit of TCP with time stamps is 1448/1514 of the rate.
"""

from __future__ import annotations

import hashlib
import math
import struct
from statistics import NormalDist, pstdev

from wavetank.lab.guest.netlink import attribute
from wavetank.study.model import GilbertElliottLoss, IndependentLoss, Network

TCA_NETEM_DELAY_DIST, TCA_NETEM_REORDER, TCA_NETEM_LOSS, TCA_NETEM_RATE = 2, 3, 5, 6
TCA_NETEM_LATENCY64, TCA_NETEM_JITTER64, TCA_NETEM_SLOT, TCA_NETEM_PRNG_SEED = 10, 11, 12, 14
NETEM_LOSS_GE = 2
FRAME_OVERHEAD_BYTES = 14
DISTRIBUTION_SIZE = 4096
DISTRIBUTION_SCALE = 8192
# netem's own default, and so that of the papers' WANem.
DEFAULT_QUEUE_PACKETS = 1000
UNLIMITED_PACKETS = 1_000_000
PARETO_SHAPE = 3.0
# netem's tables end at 4 deviations, where a heavy tail does not: such a table is stored this many
# times smaller, and the jitter told to netem is as many times larger.
HEAVY_TAIL_FACTOR = 6
# What a normal sample stays under but for one in a billion.
JITTER_REACH = 6


def one_way_delay_ns(network: Network) -> int:
    return network.rtt_ns // 2


def one_way_jitter_ns(network: Network) -> int:
    """Each direction's jitter parameter, such that the round trip shows the declared one.

    Uniform: the half-ranges of both directions add up to the declared. Others: the parameter is
    a standard deviation, and independent deviations add in squares.
    """
    if network.jitter_distribution == "uniform":
        return network.jitter_ns // 2
    return round(network.jitter_ns / math.sqrt(2))


def one_way_loss(network: Network) -> float:
    """Each direction's mean loss probability."""
    if isinstance(network.loss, IndependentLoss):
        return network.loss.probability / 2
    return network.loss.mean if network.loss is not None else 0.0


def coalesce_ns(network: Network) -> int:
    """How long a host's network card gathers packets; 0: each is told of at once."""
    return network.coalesce_ns or 0


def delivered_ns(network: Network, wire_ns: float) -> float:
    """When a packet reaches its host that is alone on its way: `wire_ns` on the wire, then what
    netem's slots make it wait. A slot begins with the packet's arrival at the queue, or, where the
    way takes longer than one, with its end (net/sched/sch_netem.c, get_slot_next).
    """
    due_ns, slot_ns = one_way_delay_ns(network) + wire_ns, coalesce_ns(network)
    return due_ns + slot_ns if due_ns > slot_ns else float(slot_ns)


def queue_packets(network: Network) -> int:
    """The bottleneck's buffer beyond what is in flight, in packets."""
    if network.queue.packets is not None:
        return network.queue.packets
    if network.rate_bit_per_s is None:
        return UNLIMITED_PACKETS
    frame_bits = 8 * (network.mtu_bytes + FRAME_OVERHEAD_BYTES)
    bdp = network.rate_bit_per_s * network.rtt_ns / 1e9 / frame_bits
    if network.queue.bdp is not None:
        return max(1, round(network.queue.bdp * bdp))
    return max(DEFAULT_QUEUE_PACKETS, math.ceil(bdp))


def limit_packets(network: Network) -> int:
    """netem's `limit` counts packets in flight as well as queued: both must fit."""
    queue = queue_packets(network)
    if network.rate_bit_per_s is None:
        return queue
    frame_bits = 8 * (network.mtu_bytes + FRAME_OVERHEAD_BYTES)
    reach_ns = one_way_delay_ns(network) + JITTER_REACH * one_way_jitter_ns(network)
    reach_ns += coalesce_ns(network)
    return queue + math.ceil(network.rate_bit_per_s * reach_ns / 1e9 / frame_bits)


def is_plain(network: Network) -> bool:
    """No impairment at all: no queueing discipline is needed."""
    return (
        network.rate_bit_per_s is None
        and network.rtt_ns == 0
        and network.jitter_ns == 0
        and network.loss is None
        and network.reorder_probability == 0
        and coalesce_ns(network) == 0
    )


def netem_seed(seed: int, direction: str) -> int:
    """netem's own generator is seeded from the trial's seed, each direction apart."""
    return int.from_bytes(hashlib.sha256(f"{seed} {direction}".encode()).digest()[:8], "little")


def tail_factor(kind: str) -> int:
    """How many times smaller than netem's convention the distribution's table is stored."""
    return 1 if kind == "normal" else HEAVY_TAIL_FACTOR


def distribution(kind: str) -> tuple[int, ...]:
    """netem's table of a distribution: quantiles of mean 0 and deviation 1, times 8192, over its
    tail factor.
    """
    points = [(i + 0.5) / DISTRIBUTION_SIZE for i in range(DISTRIBUTION_SIZE)]
    normal = [NormalDist().inv_cdf(point) for point in points]
    mean = PARETO_SHAPE / (PARETO_SHAPE - 1)
    deviation = math.sqrt(PARETO_SHAPE / (PARETO_SHAPE - 2)) / (PARETO_SHAPE - 1)
    pareto = [((1 - point) ** (-1 / PARETO_SHAPE) - mean) / deviation for point in points]
    values = {
        "normal": normal,
        "pareto": pareto,
        "paretonormal": [0.25 * n + 0.75 * p for n, p in zip(normal, pareto, strict=True)],
    }[kind]
    scale = DISTRIBUTION_SCALE / tail_factor(kind) / pstdev(values)
    return tuple(max(-32768, min(32767, round(value * scale))) for value in values)


def probability(value: float) -> int:
    """netem's fixed point: 2^32 - 1 is certainty."""
    return round(max(0.0, min(1.0, value)) * 0xFFFFFFFF)


def netem_options(network: Network, direction: str, seed: int) -> bytes:
    """TCA_OPTIONS of netem for one direction."""
    loss = probability(one_way_loss(network)) if isinstance(network.loss, IndependentLoss) else 0
    gap = 1 if network.reorder_probability else 0
    options = struct.pack("=6I", 0, limit_packets(network), loss, gap, 0, 0)
    options += attribute(TCA_NETEM_LATENCY64, struct.pack("=q", one_way_delay_ns(network)))
    options += attribute(TCA_NETEM_PRNG_SEED, struct.pack("=Q", netem_seed(seed, direction)))
    if network.jitter_ns:
        kind, jitter = network.jitter_distribution, one_way_jitter_ns(network)
        if kind != "uniform":
            jitter *= tail_factor(kind)
            table = distribution(kind)
            options += attribute(TCA_NETEM_DELAY_DIST, struct.pack(f"={len(table)}h", *table))
        options += attribute(TCA_NETEM_JITTER64, struct.pack("=q", jitter))
    if network.rate_bit_per_s is not None:
        rate = struct.pack("=IiIi", network.rate_bit_per_s // 8, 0, 0, 0)
        options += attribute(TCA_NETEM_RATE, rate)
    if coalesce_ns(network):
        # Shortest and longest spacing; packets and bytes in a slot, and a distribution: none.
        slot = struct.pack("=qqiiqq", coalesce_ns(network), coalesce_ns(network), 0, 0, 0, 0)
        options += attribute(TCA_NETEM_SLOT, slot)
    if network.reorder_probability:
        reorder = probability(network.reorder_probability / 2)
        options += attribute(TCA_NETEM_REORDER, struct.pack("=II", reorder, 0))
    if isinstance(network.loss, GilbertElliottLoss):
        model = (
            network.loss.to_bad,
            network.loss.to_good,
            1 - network.loss.loss_in_bad,
            network.loss.loss_in_good,
        )
        inner = struct.pack("=4I", *(probability(value) for value in model))
        options += attribute(TCA_NETEM_LOSS | 0x8000, attribute(NETEM_LOSS_GE, inner))
    return options
