"""How many objects a trial has before it, and how many it can write.

What is read, asked for, listed or deleted is there before: `objects` of them, or as many as the
paper's table has (C16 table III) at this size. What is written has a key of its own each time, so
that a put needs as many keys as it can reach. Both are bounded by the most bytes, and by what the
path could carry (as in `reach`): making a set costs wall time, above all in Swift.
"""

from __future__ import annotations

import math

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Value
from wavetank.workloads.parameters import whole
from wavetank.workloads.reach import RATE_MARGIN, ROUND_TRIP_MARGIN

TABLE = "c16"
MOST_OBJECTS = 1_000_000
# C16 table III: object size to number of objects; 64 MiB is in its text, and in no set.
_C16_TABLE_3 = (
    (1 << 10, 81920),
    (256 << 10, 40960),
    (1 << 20, 16384),
    (4 << 20, 4096),
    (16 << 20, 2048),
)


def objects_word(text: str) -> Value:
    """A number of objects, or `c16` (0): that of the paper's table."""
    if text == TABLE:
        return 0
    count = quantity.parse_count(text, 1)
    if count > MOST_OBJECTS:
        raise UsageError(f"'{text}' is more than {MOST_OBJECTS} objects; take fewer.")
    return count


def c16_objects(size_bytes: int) -> int:
    """Objects in the paper's set of this size; between its sizes, the next larger one's."""
    for size, count in _C16_TABLE_3:
        if size_bytes <= size:
            return count
    return 1


def written_objects(cell: Cell) -> int:
    """The most keys that a trial can write within its duration, and the set's bytes."""
    settings = cell.workload.parameters
    return min(most_objects(settings), reachable_objects(cell))


def standing_objects(cell: Cell) -> int:
    """Objects that are there before the trial: no more than it can touch."""
    settings = cell.workload.parameters
    asked = whole(settings, "objects") or c16_objects(whole(settings, "object_size_bytes"))
    if settings["operation"] not in ("get", "mix"):
        return min(asked, most_objects(settings))  # what moves no bytes is not bounded by the rate
    return min(asked, most_objects(settings), reachable_objects(cell))


def most_objects(settings: Settings) -> int:
    """How many the set's bytes hold, at least one."""
    return max(1, whole(settings, "set_bytes") // whole(settings, "object_size_bytes"))


def reachable_objects(cell: Cell) -> int:
    """What rate and round trips let through, twice as a rule, and one for each worker."""
    settings, network = cell.workload.parameters, cell.network
    size_bytes, duration_ns = whole(settings, "object_size_bytes"), whole(settings, "duration_ns")
    workers = whole(settings, "parallel")
    bounds = [float(MOST_OBJECTS)]
    if network.rate_bit_per_s is not None:
        carried_bytes = network.rate_bit_per_s / 8 * duration_ns / 1e9
        bounds.append(carried_bytes / size_bytes * RATE_MARGIN + workers)
    if network.rtt_ns:
        bounds.append(workers * duration_ns / network.rtt_ns * ROUND_TRIP_MARGIN + workers)
    return math.ceil(min(bounds))
