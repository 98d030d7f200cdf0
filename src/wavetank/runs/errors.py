"""What can go wrong with a run directory."""

from __future__ import annotations

from wavetank.errors import UsageError, WavetankError


class RunDirectoryError(WavetankError):
    """A run directory can't be read or written."""


class RunDirectoryRefused(UsageError):
    """The directory named is not one this command can work on."""
