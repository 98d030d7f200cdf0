"""What can go wrong with the testbed itself."""

from __future__ import annotations

from wavetank.errors import WavetankError


class LabError(WavetankError):
    """The testbed could not be set up or was lost."""


class GuestDied(LabError):
    """A guest ended before its work did. The message ends with the last line of its console."""
