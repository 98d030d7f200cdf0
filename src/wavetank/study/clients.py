"""The client's machine as a study declares it: its disk and memory in the lab, its processors on
the host (C16 table I has the five machines of that paper).

Words become `Client` records here, every combination of what is named once; what can't be meant
is said in one sentence. Which systems and workloads a client's disk goes with is `conduct`'s.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study import disks
from wavetank.study.model import Client, Disk

MEMORY_BYTES_LEAST = 16 * 2**20
# A quota of less is not kept: the kernel's least is 1 ms in a period of at most 1 s.
PROCESSORS_LEAST, PROCESSORS_MOST = 0.01, 1024.0
NOT_DECLARED = msgspec.UNSET


def of_words(
    disk_texts: Sequence[str], memory_texts: Sequence[str], processor_texts: Sequence[str]
) -> list[Client | msgspec.UnsetType]:
    """Every combination; one that is not declared where nothing is said."""
    if not disk_texts and not memory_texts and not processor_texts:
        return [NOT_DECLARED]
    if bool(disk_texts) != bool(memory_texts):
        missing, there = ("client-disk", "client-memory")[:: 1 if memory_texts else -1]
        raise UsageError(
            f"{there} goes with {missing}: how soon a disk is felt depends on what may be kept in "
            "memory before it; state both."
        )
    stated: list[Disk | None] = [disks.parse_client(text) for text in disk_texts]
    sizes: list[int | None] = [parse_memory(text) for text in memory_texts]
    counts: list[float | None] = [parse_processors(text) for text in processor_texts]
    found = itertools.product(stated or [None], sizes or [None], counts or [None])
    return [Client(disk=disk, memory_bytes=size, processors=count) for disk, size, count in found]


def parse_memory(text: str) -> int:
    """`240MiB`: at least 16 MiB, whole pages."""
    size_bytes = quantity.parse_size(text)
    if size_bytes < MEMORY_BYTES_LEAST or size_bytes % 4096:
        raise UsageError(f"client-memory '{text}' must be at least 16MiB and a multiple of 4KiB.")
    return size_bytes


def parse_processors(text: str) -> float:
    """`0.25`: of processor time, in processors."""
    try:
        count = float(text)
    except ValueError:
        count = math.nan
    if not PROCESSORS_LEAST <= count <= PROCESSORS_MOST:
        raise UsageError(
            f"client-processors '{text}' is not a number of processors from 0.01 to 1024, "
            "such as 0.25."
        )
    return count
