"""What can go wrong with the guest kernel, as a user reads it."""

from __future__ import annotations

import re
from pathlib import Path

from wavetank.lab.errors import LabError

_TELLING = re.compile(r"\berror\b|\*\*\*|cannot|no such file|no space|failed", re.IGNORECASE)


class KernelMissing(LabError):
    """No kernel of this version's recipe is in the cache."""


class SourceMissing(LabError):
    """No kernel source is where one was looked for."""


class KernelBuildFailed(LabError):
    """The kernel could not be built from its source."""

    @classmethod
    def reading(cls, log: Path, what: str) -> KernelBuildFailed:
        """The error whose sentence ends with the log's last telling line and the log's path."""
        return cls(f'{what}; its log ends with "{last_error_line(log)}". The whole log: {log}')


def last_error_line(log: Path) -> str:
    """The last line that tells of an error, or the last line at all.

    make's own "*** [...] Error 2" comes last and says least, so a compiler's word goes before it.
    """
    text = log.read_text(errors="replace") if log.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    own_words = [line for line in telling if not line.startswith("make")]
    for choice in (own_words, telling, lines):
        if choice:
            return choice[-1]
    return "(nothing)"
