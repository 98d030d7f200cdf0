"""An S3 server of the lab: a program, and how it is told where to listen and what to serve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

PORT = 9000
ACCESS_KEY, SECRET_KEY = "wavetank", "wavetank-secret"  # of the lab: no secret at all


class Server(msgspec.Struct, frozen=True):
    """`arguments`: of the program, for a directory whose folders are its buckets."""

    program: str
    arguments: Callable[[Path], list[str]]
