"""The parameters that file workloads share, and the rules that join them."""

from __future__ import annotations

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of

WHOLE_FILE = "file"


def positive_size(text: str) -> int:
    """A size of at least one byte."""
    size_bytes = quantity.parse_size(text)
    if size_bytes == 0:
        raise UsageError(f"'{text}' is nothing; the least is 1B.")
    return size_bytes


def unit_size(text: str) -> int:
    """An access unit; `file` (the whole file at once) is 0 until the file size is known."""
    return 0 if text == WHOLE_FILE else positive_size(text)


def threads(text: str) -> int:
    """1 to 64 workers, as the studies have them."""
    count = quantity.parse_count(text, 1)
    if count > 64:
        raise UsageError(f"'{text}' is more than 64, the most the load engine starts.")
    return count


def some_duration(text: str) -> int:
    """A duration above zero."""
    duration_ns = quantity.parse_duration(text)
    if duration_ns == 0:
        raise UsageError(f"'{text}' is no time at all.")
    return duration_ns


FILE_SIZE = Parameter("file-size", "file_size_bytes", "1MiB", positive_size, "size of each file")
UNIT = Parameter(
    "unit", "unit_bytes", WHOLE_FILE, unit_size, "bytes per read or write call; `file`: all at once"
)
ACCESS = Parameter(
    "access",
    "access",
    "sync",
    one_of("sync", "direct", "default"),
    "how files are opened: O_SYNC, O_DIRECT or neither",
)
OPERATION = Parameter(
    "operation", "operation", "read", one_of("read", "write"), "read files, or create them"
)
VERIFY = Parameter(
    "verify", "verify", "no", quantity.parse_yes, "compare what is read with what was written"
)


def with_unit(workload: str, settings: Settings) -> Settings:
    """The settings with the unit known and every joint rule of file access kept."""
    file_size_bytes, unit_bytes = whole(settings, "file_size_bytes"), whole(settings, "unit_bytes")
    unit_bytes = unit_bytes or file_size_bytes
    size, unit = quantity.size_text(file_size_bytes), quantity.size_text(unit_bytes)
    if unit_bytes > file_size_bytes:
        raise UsageError(f"{workload}: the unit {unit} exceeds the file size {size}.")
    if settings["access"] == "direct" and (file_size_bytes % 4096 or unit_bytes % 4096):
        raise UsageError(
            f"{workload}: direct access needs file size and unit in multiples of 4KiB, "
            f"not {size} by {unit}; take access sync or another size."
        )
    if settings["verify"] and settings["operation"] == "write":
        raise UsageError(f"{workload}: verify goes with operation read; a write reads nothing.")
    return {**settings, "unit_bytes": unit_bytes}


def whole(settings: Settings, key: str) -> int:
    """The integer at `key`."""
    value = settings[key]
    if not isinstance(value, int):
        raise UsageError(f"{key} must be a whole number, not {value!r}.")
    return value


def real(settings: Settings, key: str) -> float:
    """The number at `key`."""
    value = settings[key]
    if not isinstance(value, int | float):
        raise UsageError(f"{key} must be a number, not {value!r}.")
    return float(value)
