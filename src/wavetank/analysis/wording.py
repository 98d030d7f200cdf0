"""Numbers and names in words, the same in every report: units, factors, conditions, systems.

Rates are powers of ten (MB/s), sizes of files powers of two (KiB), as in DESIGN's records; three
significant digits, because no measurement here deserves more. Exact values stay in the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wavetank.analysis.labels import Scalar, scalar_text
from wavetank.study.model import AS_IT_IS, LOOPBACK, GilbertElliottLoss, Network

_SYSTEM_NAMES = {
    "local": "local disk",
    "nfs2": "NFS 2",
    "nfs3": "NFS 3",
    "nfs4.0": "NFS 4.0",
    "nfs4.1": "NFS 4.1",
    "nfs4.2": "NFS 4.2",
    "iscsi": "iSCSI",
    "nvme": "NVMe/TCP",
    "smb3": "SMB 3",
    "swift": "Swift",
    "s3": "S3",
}
_VERBS = {
    "read": "reading",
    "write": "writing",
    "put": "PUT",
    "get": "GET",
    "head": "HEAD",
    "delete": "DELETE",
    "list": "listing",
    "mix": "mixed requests",
}


def system_text(label: str) -> str:
    """`NFS 4.2 (nconnect=8)` for `nfs4.2:nconnect=8`."""
    name, _, options = label.partition(":")
    shown = _SYSTEM_NAMES.get(name, name)
    return f"{shown} ({options.replace(':', ', ')})" if options else shown


def operation_text(operation: str) -> str:
    """`writing` for `write`; an operation without a word for it stays as it is."""
    return _VERBS.get(operation, operation)


def significant(value: float) -> str:
    """Three significant digits, never an exponent, thin groups of thousands as blanks."""
    if value == 0:
        return "0"
    digits = max(0, 2 - _magnitude(value))
    rounded = round(value, 2 - _magnitude(value))
    return f"{rounded:,.{max(0, min(digits, 2 - _magnitude(rounded)))}f}".replace(",", " ")


def _magnitude(value: float) -> int:
    return int(f"{abs(value):e}".partition("e")[2])


def byte_rate_text(bytes_per_s: float) -> str:
    """`1.20 MB/s`."""
    for unit, factor in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_s >= factor * 0.9995:
            return f"{significant(bytes_per_s / factor)} {unit}"
    return f"{significant(bytes_per_s)} B/s"


def operation_rate_text(operations_per_s: float) -> str:
    return f"{significant(operations_per_s)}/s"


def duration_text(duration_ns: float) -> str:
    """`50.4 ms`, `12.0 s`, `350 µs`."""
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if duration_ns >= factor * 0.9995:
            return f"{significant(duration_ns / factor)} {unit}"
    return f"{significant(duration_ns)} ns"


def span_text(seconds: float) -> str:
    """A stretch of time as people say it: `12 s`, `4 min 10 s`, `3 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{significant(seconds)} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def size_text(size_bytes: float) -> str:
    """`4 KiB`; sizes that are no whole unit get three digits of the largest that fits."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= factor:
            return f"{_plain_or_significant(size_bytes / factor)} {unit}"
    return f"{_plain_or_significant(size_bytes)} B"


def _plain_or_significant(value: float) -> str:
    return str(int(value)) if value == int(value) else significant(value)


def kib_text(size_bytes: float) -> str:
    """`148 KiB`, `2.4 KiB`, `0 KiB`: a fitted size, one decimal at most, may be negative."""
    kib = size_bytes / 2**10
    text = f"{kib:.0f}" if abs(kib) >= 99.5 else f"{kib:.1f}".removesuffix(".0")
    return f"{'0' if text == '-0' else text} KiB"


def factor_text(ratio: float) -> str:
    """`9.8x`; below 1.2 a second decimal, because there it matters."""
    if ratio < 1.195:
        return f"{ratio:.2f}x"
    if ratio < 9.95:
        return f"{ratio:.1f}x"
    return f"{significant(ratio) if ratio >= 99.5 else round(ratio)}x"


def percent_text(fraction: float) -> str:
    """Two significant digits: `2.4 %`, `97 %`, `0.31 %`."""
    percent = fraction * 100
    if percent >= 9.95 or percent == 0:
        return f"{percent:.0f} %"
    digits = 1 - _magnitude(percent)
    return f"{round(percent, digits):.{digits}f}".rstrip("0").rstrip(".") + " %"


def bit_rate_text(rate_bit_per_s: float) -> str:
    for unit, factor in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if rate_bit_per_s >= factor * 0.9995:
            return f"{_plain_or_significant(rate_bit_per_s / factor)} {unit}"
    return f"{_plain_or_significant(rate_bit_per_s)} bit/s"


def network_text(network: Network) -> str:
    """`100 Mbit/s, 50 ms RTT, ±10 ms jitter, 0.1 % loss`: the declared path in words."""
    if network.name == AS_IT_IS:
        return "not emulated: the path as it is"
    if network.name == LOOPBACK:
        return "not emulated: this machine's own loopback"
    rate = network.rate_bit_per_s
    parts = [bit_rate_text(rate) if rate else "no rate limit"]
    parts.append(f"{_short_duration(network.rtt_ns)} RTT" if network.rtt_ns else "no added delay")
    if network.jitter_ns:
        parts.append(f"±{_short_duration(network.jitter_ns)} jitter")
    loss = network.loss
    if isinstance(loss, GilbertElliottLoss):
        parts.append(f"{percent_text(loss.mean)} loss each way, in bursts")
    elif loss is not None:
        parts.append(f"{percent_text(loss.probability)} loss")
    else:
        parts.append("no loss")
    if network.reorder_probability:
        parts.append(f"{percent_text(network.reorder_probability)} reordered")
    if network.coalesce_ns:
        parts.append(f"interrupts {_short_duration(network.coalesce_ns)} apart")
    return ", ".join(parts)


def _short_duration(duration_ns: int) -> str:
    text = duration_text(duration_ns)
    number, _, unit = text.partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def condition_text(name: str, value: Scalar) -> str:
    """One condition in words: `4 KiB files`, `8 threads`, `units of 64 KiB`, `direct`."""
    if value is None and name.startswith("client_"):
        return f"client's {name_text(name).removeprefix('client ')} not limited"
    shown = value_text(name, value)
    phrases = {
        "file_size_bytes": f"{shown} files",
        "object_size_bytes": f"{shown} objects",
        "parallel": f"{shown} connection{'' if value == 1 else 's'}",
        "parts": f"{shown} part{'' if value == 1 else 's'}",
        "unit_bytes": f"units of {shown}",
        "set_bytes": f"a set of {shown}",
        "threads": f"{shown} thread{'' if value == 1 else 's'}",
        "access": f"{shown} access",
        "disk": f"disk {shown}",
        "client_disk": f"client's disk {shown}",
        "client_memory_bytes": f"{shown} of client's memory",
        "client_processors": f"{shown} processors for the client",
        "cache_state": f"{shown.replace('-', ' ')} cache",
        "rate_per_s": f"{shown} offered per second",
    }
    return phrases.get(name, f"{name_text(name)} {shown}")


def name_text(name: str) -> str:
    """`file size` for `file_size_bytes`: the unit is with the value."""
    for suffix in ("_bytes", "_ns", "_s", "_per"):
        name = name.removesuffix(suffix)
    return name.replace("_", " ")


def value_text(name: str, value: Scalar) -> str:
    """A condition's value alone, by the unit that its name carries."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return scalar_text(value)
    if name.endswith("_bytes"):
        return size_text(value)
    if name.endswith("_processors"):
        return f"{value:g}"
    if name.endswith("_ns"):
        return _short_duration(int(value))
    return _plain_or_significant(value)


def conditions_text(values: Mapping[str, Scalar], names: Sequence[str]) -> str:
    """The named conditions, joined: `4 KiB files, 1 thread`. Empty where nothing varies."""
    return ", ".join(condition_text(name, values.get(name)) for name in names)


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
