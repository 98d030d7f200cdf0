"""The networks of the papers by name, in groups: what a name means, as data.

H14 table 3.1, section 3.4 and figure 3.4 (rates of the latter are its testbed's 100 Mbit/s);
R04 4.6; C16 IV-C.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from wavetank.study.model import IndependentLoss, Network

MS = 10**6
MBIT = 10**6

# H14 figure 3.4 (b): mean RTT from Finland, ms.
_AWS_RTT_MS = {
    "virginia": 120,
    "oregon": 185,
    "california": 184,
    "ireland": 50,
    "singapore": 341,
    "tokyo": 298,
    "sydney": 332,
    "sao-paulo": 254,
}

GROUPS = ("papers", "sweep", "nistnet", "geo", "aws")


@cache
def named() -> Mapping[str, Network]:
    """Every named network, in the order of the papers."""
    return {network.name: network for group in GROUPS for network in _group(group)}


def group(name: str) -> list[Network]:
    """The networks of one group of `GROUPS`."""
    return list(_group(name))


def _group(name: str) -> list[Network]:
    match name:
        case "papers":
            return _papers()
        case "sweep":
            return _sweep()
        case "nistnet":
            return [_of(f"nistnet-{ms}", 1000, ms) for ms in range(10, 100, 10)]
        case "geo":
            return [
                Network(name="geo-near", rate_bit_per_s=1000 * MBIT, rtt_ns=280_000),
                _of("geo-far", 1000, 176),
            ]
        case _:
            return [_of(f"aws-{region}", 100, ms) for region, ms in _AWS_RTT_MS.items()]


def _papers() -> list[Network]:
    conditions: list[tuple[str, int, float, int]] = [
        ("latency-50", 50, 0.0, 0),
        ("loss-0.1", 0, 0.1, 0),
        ("realistic", 50, 0.1, 10),
    ]
    result = [_of("ideal-100", 100, 0)]
    result += [_of(name, 100, rtt, loss, jitter) for name, rtt, loss, jitter in conditions]
    result += [_of("ideal-1000", 1000, 0)]
    result += [_of(f"{name}-1000", 1000, rtt, loss, jit) for name, rtt, loss, jit in conditions]
    return result


def _sweep() -> list[Network]:
    """H14 3.4's grid. Jitter needs a delay to vary, so it is left out where the RTT is zero."""
    return [
        _of(
            f"sweep-{rate}-rtt{rtt}-loss{loss:g}" + (f"-jitter{jitter}" if jitter else ""),
            rate,
            rtt,
            loss,
            jitter,
        )
        for rate in (100, 1000)
        for rtt in (0, 20, 50, 160, 250)
        for loss in (0.0, 0.1, 1.0, 2.5)
        for jitter in ((0, 10) if rtt else (0,))
    ]


def _of(
    name: str, mbit: int, rtt_ms: int, loss_percent: float = 0.0, jitter_ms: int = 0
) -> Network:
    return Network(
        name=name,
        rate_bit_per_s=mbit * MBIT,
        rtt_ns=rtt_ms * MS,
        jitter_ns=jitter_ms * MS,
        loss=IndependentLoss(loss_percent / 100) if loss_percent else None,
    )
