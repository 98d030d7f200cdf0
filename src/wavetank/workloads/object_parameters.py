"""The parameters that the workloads on objects share, and what they refuse together."""

from __future__ import annotations

import math

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.workloads.object_set import most_objects
from wavetank.workloads.parameters import positive_size, some_duration, whole

MOST_PARALLEL = 1024  # the engine's own limit on threads (crates/load, MAX_THREADS)
MOST_SIZE_BYTES = 1 << 30


def object_size(text: str) -> int:
    """1 byte to 1 GiB, the largest object that the engine moves."""
    size_bytes = positive_size(text)
    if size_bytes > MOST_SIZE_BYTES:
        raise UsageError(f"'{text}' is more than 1GiB, the largest object the load engine moves.")
    return size_bytes


def parallel(text: str) -> int:
    """1 to 1024 connections."""
    count = quantity.parse_count(text, 1)
    if count > MOST_PARALLEL:
        raise UsageError(f"'{text}' is more than {MOST_PARALLEL}, the most connections there are.")
    return count


def request_rate(text: str) -> float:
    """Requests per second; 0 is no limit."""
    try:
        rate_per_s = float(text)
    except ValueError:
        rate_per_s = math.nan
    if not 0 <= rate_per_s <= 1e9:
        raise UsageError(f"'{text}' is not a number of requests per second; 0 means no limit.")
    return rate_per_s


SIZE = Parameter("size", "object_size_bytes", "1MiB", object_size, "size of each object")
PARALLEL = Parameter(
    "parallel", "parallel", "1", parallel, "connections, each with one request in flight"
)
SET_SIZE = Parameter(
    "set-size", "set_bytes", "256MiB", positive_size, "the most bytes a trial stores"
)
DURATION = Parameter(
    "duration", "duration_ns", "10s", some_duration, "how long a trial measures; C16: 60s"
)
VERIFY = Parameter(
    "verify", "verify", "no", quantity.parse_yes, "compare what is got with what was put"
)


def require_room(workload: str, settings: Settings) -> None:
    """UsageError unless the set's bytes hold an object for each connection that writes."""
    size_bytes, connections = whole(settings, "object_size_bytes"), whole(settings, "parallel")
    held = whole(settings, "set_bytes") // size_bytes
    if held == 0:
        raise UsageError(
            f"{workload}: a set of {quantity.size_text(whole(settings, 'set_bytes'))} holds no "
            f"object of {quantity.size_text(size_bytes)}; take a larger set-size."
        )
    if settings["operation"] in ("put", "delete") and connections > most_objects(settings):
        raise UsageError(
            f"{workload}: {connections} connections have only {held} objects to share; "
            "take fewer or a larger set-size."
        )
