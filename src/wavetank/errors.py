"""The root of every error a user may see.

Each room derives its own base from `WavetankError`; `cli/` alone prints one and turns
`exit_code` into the process's. A message says what is wrong, where, and what to do.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line (docs/reference/cli.md)."""

    FINE = 0
    FINDING_FAILED = 1
    USAGE = 2
    TESTBED_FAILED = 3
    INCONCLUSIVE = 4


class WavetankError(Exception):
    """Something the user can act on. `str(error)` is one sentence, ready to print."""

    exit_code: ExitCode = ExitCode.TESTBED_FAILED


class UsageError(WavetankError):
    """The request itself can't be meant: unknown name, bad unit, impossible combination."""

    exit_code = ExitCode.USAGE
