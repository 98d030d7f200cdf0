"""Which processor a guest stays on: the idlest that no other guest of this process has.

A guest is one kernel and the processes that it runs in turn, never two at once. Left to itself the
host's scheduler gives each turn to another core that happens to be idle, and waking an idle core
takes longer than the turn: on a quiet machine, boot and everything else that makes many system
calls took twice as long (bench/speed.py). Other programs are free to move out of a guest's way.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

# How long a look at the processors lasts, and how long what it saw is good for: guests that start
# together share one, and none sees the work of a guest that has just ended.
LOOK_S, GOOD_FOR_S = 0.05, 0.2
# Fields of a processor's line in /proc/stat (proc(5)) that count idle time: idle and iowait.
_IDLE_FIELDS = slice(4, 6)


def busy_ticks() -> dict[int, int]:
    """Ticks of work done by each processor since boot; none where the host does not tell."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
    except OSError:
        return {}
    found = {}
    for fields in (line.split() for line in lines):
        if fields and fields[0].startswith("cpu") and fields[0] != "cpu":
            ticks = [int(field) for field in fields[1:9]]
            found[int(fields[0][3:])] = sum(ticks) - sum(map(int, fields[_IDLE_FIELDS]))
    return found


def allowed_processors() -> set[int]:
    """Those that this process may run on."""
    return os.sched_getaffinity(0)


class Processors:
    """Hands out processors to guests; shared by all threads of a process."""

    def __init__(
        self,
        allowed: Callable[[], set[int]] = allowed_processors,
        busy: Callable[[], dict[int, int]] = busy_ticks,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._allowed, self._busy = allowed, busy
        self._monotonic, self._sleep = monotonic, sleep
        self._lock = threading.Lock()
        self._guests: Counter[int] = Counter()
        self._looked_at = float("-inf")
        self._work: dict[int, int] = {}

    def claim(self) -> int | None:
        """A processor for a new guest, to be released; None where there is no choice."""
        with self._lock:
            allowed = self._allowed()
            if len(allowed) < 2:
                return None
            self._look()
            chosen = min(
                sorted(allowed), key=lambda one: (self._guests[one], self._work.get(one, 0))
            )
            self._guests[chosen] += 1
            return chosen

    def release(self, processor: int | None) -> None:
        """The guest has ended."""
        if processor is not None:
            with self._lock:
                self._guests[processor] -= 1

    def _look(self) -> None:
        """What each processor does right now."""
        if self._monotonic() - self._looked_at < GOOD_FOR_S:
            return
        before = self._busy()
        self._sleep(LOOK_S)
        self._work = {one: ticks - before.get(one, ticks) for one, ticks in self._busy().items()}
        self._looked_at = self._monotonic()


PROCESSORS = Processors()
