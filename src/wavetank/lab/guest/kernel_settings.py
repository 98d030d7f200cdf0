"""Kernel settings are files (procfs, sysfs, configfs, nfsd's): one write, one answer.

Unbuffered, because Python's buffered files write a refused value a second time on closing, and
some of these files answer that with another error that hides the first.
"""

from __future__ import annotations

import os
from pathlib import Path

from wavetank.lab.errors import LabError


def write_setting(path: Path | str, value: str) -> None:
    """Writes `value` in one call; LabError says which file refused what, and why."""
    try:
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise LabError(f"the kernel refused {value!r} for {path}: {error.strerror}") from error
