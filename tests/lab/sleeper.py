"""A guest's init that says it runs, and then computes for ever."""

from __future__ import annotations

import os
from pathlib import Path


def main(scratch: str) -> None:
    """Never returns."""
    with Path(scratch, "records.jsonl").open("a") as file:
        file.write('{"event":"booted"}\n')
        file.flush()
        os.fsync(file.fileno())
    while True:
        pass
