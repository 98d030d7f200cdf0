"""Units of published numbers, by quantity: a paper's number in the quantity's own unit."""

from __future__ import annotations

from collections.abc import Mapping

from wavetank.errors import UsageError
from wavetank.study.study import Quantity

_BYTES: Mapping[str, float] = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
}
_SECONDS: Mapping[str, float] = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
_NANOSECONDS = {unit: factor * 1e9 for unit, factor in _SECONDS.items()}
_BYTE_RATES = {
    **{f"{unit}/s": factor for unit, factor in _BYTES.items()},
    "kbit/s": 125,
    "Mbit/s": 125e3,
    "Gbit/s": 125e6,
}
UNITS: Mapping[Quantity, Mapping[str, float]] = {
    "throughput_bytes_per_s": _BYTE_RATES,
    "overall_bytes_per_s": _BYTE_RATES,
    "processors_used": {"processors": 1, "%": 0.01},
    "operations_per_s": {"1/s": 1},
    "elapsed_s": _SECONDS,
    "latency_ns_mean": _NANOSECONDS,
    "latency_ns_p50": _NANOSECONDS,
    "latency_ns_p99": _NANOSECONDS,
    "link_bytes": _BYTES,
    "link_packets": {"packets": 1},
    "requests": {"requests": 1, "messages": 1},
    "amplification": {"ratio": 1},
    "fixed_overhead_bytes": _BYTES,
    "journal_bytes": _BYTES,
    "metadata_bytes_per_file": _BYTES,
}


def in_base_unit(quantity: Quantity, value: float, unit: str) -> float:
    """`value` in bytes, seconds, ns, or whatever the quantity's name ends with."""
    known = UNITS[quantity]
    if unit not in known:
        raise UsageError(f"'{unit}' is no unit of {quantity}; there are {', '.join(known)}.")
    # Powers of ten below one are not exact in binary: 3.58 s is 3580000000 ns all the same.
    return float(f"{value * known[unit]:.12g}")
