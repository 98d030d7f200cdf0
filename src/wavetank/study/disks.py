"""Modelled disks by name, and the notation that changes one: `ssd:completion=80us:size=4GiB`.

Every request costs `completion`, whatever its place or size, and requests beyond `depth` wait;
`rate` caps the bytes; a client's disk may have a `read-rate` and a `write-rate` of its own. There
is no seek model: a disk does not know sequential from random.
Figures are of a kind of disk, not of one product, and say where they come from.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Disk

SIZE_BYTES_LEAST = 64 * 2**20

# size_bytes 0: not stated by the user; planning sizes the disk from what the workload writes.
_NAMED: Mapping[str, Disk] = {
    # brd: a request costs nothing in virtual time. The control.
    "ram": Disk(name="ram", size_bytes=0),
    # A data-centre flash disk with power-loss protection: 4 KiB reads at depth 1 in 60 to 100 us,
    # some 2 GB/s, and a cache that need not be flushed (so none is advertised).
    "ssd": Disk(
        name="ssd", size_bytes=0, completion_ns=60_000, rate_bytes_per_s=2 * 10**9, queue_depth=64
    ),
    # 7200 rpm: half a turn is 60 s / 7200 / 2 = 4.17 ms, a short seek some 4.1 ms; one arm serves
    # one request at a time; media rate of the outer half of a platter.
    "hdd-7200": Disk(
        name="hdd-7200",
        size_bytes=0,
        completion_ns=8_300_000,
        rate_bytes_per_s=150 * 10**6,
        queue_depth=1,
    ),
    # C16 table II: sequential reads of 4 MiB and more, and writes; a request of 4 KiB in 0.6 and
    # 1.3 ms. An Amazon volume of 2016, reached over a network, and no single disk.
    "c16-magnetic": Disk(
        name="c16-magnetic",
        size_bytes=0,
        completion_ns=1_000_000,
        queue_depth=4,
        read_rate_bytes_per_s=61_600_000,
        write_rate_bytes_per_s=23_200_000,
    ),
    # The same table; its 3000 requests per second (C16 table I) are one in 0.33 ms.
    "c16-ssd": Disk(
        name="c16-ssd",
        size_bytes=0,
        completion_ns=333_000,
        queue_depth=4,
        read_rate_bytes_per_s=58_200_000,
        write_rate_bytes_per_s=82_700_000,
    ),
}

SUMMARIES: Mapping[str, str] = {
    "ram": "memory: a request costs nothing",
    "ssd": "data-centre flash: 60 us a request, 2 GB/s, 64 at a time",
    "hdd-7200": "one arm at 7200 rpm: 8.3 ms a request, 150 MB/s, one at a time",
    "c16-magnetic": "a client's, C16 table II: 1 ms a request, reads 61.6 MB/s, writes 23.2 MB/s",
    "c16-ssd": "a client's, C16 table II: 333 us a request, reads 58.2 MB/s, writes 82.7 MB/s",
}


def named() -> Mapping[str, Disk]:
    """Every named disk; `size_bytes` is 0 until it is stated or planned."""
    return _NAMED


def parse(text: str) -> Disk:
    """The server's disk that `text` names, with its changes; `size_bytes` 0 where no size is
    stated.
    """
    disk = parse_client(text)
    if has_two_rates(disk):
        raise UsageError(
            f"disk '{text}': rates of reading and of writing apart are for a client's disk; "
            "a server's has one: rate=150MB/s."
        )
    return disk


def has_two_rates(disk: Disk) -> bool:
    """Whether reading and writing have rates of their own."""
    rates = (disk.read_rate_bytes_per_s, disk.write_rate_bytes_per_s)
    return any(rate is not msgspec.UNSET for rate in rates)


def parse_client(text: str) -> Disk:
    """As `parse`, of a client's disk."""
    name, *changes = text.strip().split(":")
    if name not in _NAMED:
        near = difflib.get_close_matches(name, _NAMED, n=1, cutoff=0.4)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(_NAMED)}."
        raise UsageError(f"no disk is called '{name}'; {meant}")
    disk = _NAMED[name]
    try:
        for change in changes:
            disk = _changed(disk, change)
        _check(disk)
    except UsageError as error:
        raise UsageError(f"disk '{text}': {error}") from None
    return disk


def notation(disk: Disk) -> str:
    """What `parse` reads back as this disk."""
    base = _NAMED[disk.name]
    parts = [disk.name]
    if disk.completion_ns != base.completion_ns:
        parts.append(f"completion={quantity.duration_text(disk.completion_ns)}")
    if disk.rate_bytes_per_s != base.rate_bytes_per_s and disk.rate_bytes_per_s is not None:
        parts.append(f"rate={quantity.size_text(disk.rate_bytes_per_s)}/s")
    for key, field in _TWO_RATES.items():
        rate = getattr(disk, field)
        if rate != getattr(base, field) and rate is not msgspec.UNSET:
            parts.append(f"{key}={quantity.size_text(rate)}/s")
    if disk.queue_depth != base.queue_depth:
        parts.append(f"depth={disk.queue_depth}")
    if disk.write_cache != base.write_cache:
        parts.append(f"cache={quantity.yes_text(disk.write_cache)}")
    if disk.size_bytes != base.size_bytes:
        parts.append(f"size={quantity.size_text(disk.size_bytes)}")
    return ":".join(parts)


def _changed(disk: Disk, change: str) -> Disk:
    key, equals, value = change.partition("=")
    if not equals or key not in _CHANGES:
        raise UsageError(f"'{change}' is not a setting; there are {', '.join(_CHANGES)}.")
    return _CHANGES[key](disk, value)


def _check(disk: Disk) -> None:
    costs = disk.completion_ns or disk.rate_bytes_per_s or has_two_rates(disk)
    if disk.name == "ram" and (costs or disk.write_cache):
        raise UsageError("ram has no latency, rate or cache to set; take ssd and change that.")
    if disk.size_bytes and (disk.size_bytes < SIZE_BYTES_LEAST or disk.size_bytes % 4096):
        raise UsageError("the size must be at least 64MiB and a multiple of 4KiB.")
    rates = (disk.rate_bytes_per_s, disk.read_rate_bytes_per_s, disk.write_rate_bytes_per_s)
    if any(isinstance(rate, int) and rate < 10**6 for rate in rates):
        raise UsageError("the rate must be at least 1MB/s.")


def _completion(disk: Disk, text: str) -> Disk:
    return msgspec.structs.replace(disk, completion_ns=quantity.parse_duration(text))


def _rate(disk: Disk, text: str) -> Disk:
    return msgspec.structs.replace(disk, rate_bytes_per_s=quantity.parse_byte_rate(text))


def _read_rate(disk: Disk, text: str) -> Disk:
    rate = quantity.parse_byte_rate(text)
    return msgspec.structs.replace(disk, read_rate_bytes_per_s=rate)


def _write_rate(disk: Disk, text: str) -> Disk:
    rate = quantity.parse_byte_rate(text)
    return msgspec.structs.replace(disk, write_rate_bytes_per_s=rate)


def _depth(disk: Disk, text: str) -> Disk:
    return msgspec.structs.replace(disk, queue_depth=quantity.parse_count(text, 1))


def _cache(disk: Disk, text: str) -> Disk:
    return msgspec.structs.replace(disk, write_cache=quantity.parse_yes(text))


def _size(disk: Disk, text: str) -> Disk:
    return msgspec.structs.replace(disk, size_bytes=quantity.parse_size(text))


_TWO_RATES: Mapping[str, str] = {
    "read-rate": "read_rate_bytes_per_s",
    "write-rate": "write_rate_bytes_per_s",
}
_CHANGES: Mapping[str, Callable[[Disk, str], Disk]] = {
    "completion": _completion,
    "rate": _rate,
    "read-rate": _read_rate,
    "write-rate": _write_rate,
    "depth": _depth,
    "cache": _cache,
    "size": _size,
}
