"""Quantities as people write them: sizes, bit rates, durations, fractions, counts, lists.

Text becomes integers of the base unit (bytes, bit/s, ns) exactly, or a `UsageError` of one
sentence. Every `*_text` function writes what its parser reads back to the same value.
KiB, MiB, GiB are powers of two; KB, MB, GB and kbit, mbit, gbit powers of ten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from wavetank.errors import UsageError

_NUMBER_AND_UNIT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Zµμ%]*)\s*", re.ASCII)

_SIZE_UNITS: Mapping[str, int] = {
    "": 1,
    "b": 1,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
_RATE_UNITS: Mapping[str, int] = {
    "bit": 1,
    "kbit": 10**3,
    "mbit": 10**6,
    "gbit": 10**9,
}
_DURATION_UNITS: Mapping[str, int] = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
_YES = frozenset({"yes", "on", "true", "1"})
_NO = frozenset({"no", "off", "false", "0"})


def parse_size(text: str) -> int:
    """Bytes of `4KiB`, `1MiB`, `10MB`, `4096`."""
    return _whole("size", text, _SIZE_UNITS, "4KiB, 1MiB or 10MB")


def parse_rate(text: str) -> int:
    """Bits per second of `200mbit`, `1gbit`, `25gbit`."""
    return _whole("bit rate", text, _RATE_UNITS, "200mbit or 1gbit")


def parse_duration(text: str) -> int:
    """Nanoseconds of `35ms`, `90s`, `2us`, `1.5m`; a bare `0` needs no unit."""
    if text.strip() == "0":
        return 0
    return _whole("duration", text, _DURATION_UNITS, "35ms, 90s or 2us")


def parse_byte_rate(text: str) -> int:
    """Bytes per second of `150MB/s` or `150MB`."""
    return parse_size(text.strip().removesuffix("/s"))


def parse_count(text: str, least: int = 0) -> int:
    """A whole number of at least `least`."""
    stripped = text.strip()
    if not re.fullmatch(r"\d+", stripped, re.ASCII) or int(stripped) < least:
        raise UsageError(f"'{text}' is not a whole number of at least {least}.")
    return int(stripped)


def parse_fraction(text: str) -> float:
    """A fraction between 0 and 1, written `0.05%` or `0.0005`."""
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None or match[2] not in ("", "%"):
        raise UsageError(f"'{text}' is not a fraction; write for example 0.05% or 0.0005.")
    value = Decimal(match[1]) / (100 if match[2] else 1)
    if value > 1:
        raise UsageError(f"'{text}' is more than the whole; a fraction lies between 0 and 100%.")
    return float(value)


def parse_yes(text: str) -> bool:
    """`yes`, `on`, `true` or their opposites."""
    word = text.strip().lower()
    if word not in _YES | _NO:
        raise UsageError(f"'{text}' is neither yes nor no; write yes or no.")
    return word in _YES


def parse_list(text: str) -> list[str]:
    """The parts between commas, blanks around them removed; an empty part is an error."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"'{text}' has an empty part; write the parts with one comma between.")
    return parts


def size_text(size_bytes: int) -> str:
    """`4KiB` for 4096: the largest unit that divides, powers of two first."""
    binary = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    decimal = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3))
    for unit, factor in binary + decimal:
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{unit}"
    return f"{size_bytes}B"


def rate_text(rate_bit_per_s: int) -> str:
    """`200mbit` for 200 000 000."""
    return _shortest(rate_bit_per_s, (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)), "bit")


def duration_text(duration_ns: int) -> str:
    """`35ms` for 35 000 000; nothing lasts `0s`."""
    if duration_ns == 0:
        return "0s"
    return _shortest(duration_ns, (("s", 10**9), ("ms", 10**6), ("us", 10**3)), "ns")


def fraction_text(fraction: float) -> str:
    """`0.05%` for 0.0005."""
    percent = Decimal(repr(fraction)) * 100
    return f"{_plain(percent)}%"


def yes_text(value: bool) -> str:
    """`yes` or `no`."""
    return "yes" if value else "no"


def _whole(what: str, text: str, units: Mapping[str, int], examples: str) -> int:
    match = _NUMBER_AND_UNIT.fullmatch(text)
    factor = units.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise UsageError(f"{what} '{text}' is not understood; write for example {examples}.")
    value = Decimal(match[1]) * factor
    if value != int(value):
        raise UsageError(f"{what} '{text}' is not a whole number of its smallest unit.")
    return int(value)


def _shortest(value: int, units: tuple[tuple[str, int], ...], smallest: str) -> str:
    """`value` in the first unit that leaves at most three decimals and is not below one."""
    for unit, factor in units:
        if value >= factor and value * 1000 % factor == 0:
            return f"{_plain(Decimal(value) / factor)}{unit}"
    return f"{value}{smallest}"


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
