"""Ctrl-C and its kin as a flag to look at, so that nothing is torn while it is being written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

USUAL = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signals_as_flag(numbers: Sequence[signal.Signals] = USUAL) -> Iterator[threading.Event]:
    """The signals set a flag instead of tearing whatever is going on.

    The first one restores what was done before on each, so that a second Ctrl-C ends at once;
    a terminal that closes says so several times, so SIGHUP is ignored from the second on.
    Threads that receive no signals (a notebook's worker) get a flag that nothing sets.
    """
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        flag.set()
        restore()
        if signal.SIGHUP in before:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield flag
    finally:
        restore()
