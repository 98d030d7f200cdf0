"""Settings in the words that a user writes: `rsize=64KiB`, `duration=20s`, `set-size=2GiB`.

A record's keys carry their unit; what a user says carries it in the value.
"""

from __future__ import annotations

from wavetank import quantity

Scalar = str | int | float | bool | None

_SUFFIXES = ("_bytes", "_per_s", "_ns", "_s", "_limit")
# Where the name that a user writes is not the key without its unit.
_NAMES = {
    "set_bytes": "set-size",
    "object_size_bytes": "size",
    "syscall_ns": "syscall-cost",
    "tcp.congestion_control": "cc",
}


def setting_text(key: str, value: Scalar) -> str:
    """`rsize=64KiB` for rsize_bytes and 65536."""
    return f"{name_of(key)}={value_of(key, value)}"


def name_of(key: str) -> str:
    """`file-size` for file_size_bytes."""
    if key in _NAMES:
        return _NAMES[key]
    suffix = next((one for one in _SUFFIXES if key.endswith(one)), "")
    return key.removesuffix(suffix).replace("_", "-")


def value_of(key: str, value: Scalar) -> str:
    """`64KiB`, `20s`, `yes`; `auto` where the software chooses."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return quantity.yes_text(value)
    if is_automatic(key, value):
        return "auto"
    if isinstance(value, int) and key.endswith("_bytes"):
        return quantity.size_text(value)
    if isinstance(value, int) and key.endswith("_ns"):
        return quantity.duration_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_automatic(key: str, value: Scalar) -> bool:
    """Whether the value leaves the choice to client and server."""
    return (key.endswith("_bytes") and value == 0) or (key.endswith("_s") and value == -1)
