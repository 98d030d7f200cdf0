"""A FUSE program that serves a directory, from when it is mounted until it is taken off."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from wavetank.lab.errors import LabError
from wavetank.lab.guest.namespaces import Namespace
from wavetank.lab.guest.programs import Daemon
from wavetank.systems import filesystem, object_programs

MOUNTED_WITHIN_S = 60.0
LOOK_EVERY_S = 0.02


@contextmanager
def mounted(
    command: Sequence[str], directory: Path, namespace: Namespace | None = None
) -> Iterator[None]:
    """The program, which stays in the foreground, with what it serves mounted at `directory`.

    LabError with its last words when it ends, or mounts nothing in time.
    """
    directory.mkdir(parents=True, exist_ok=True)
    program, *arguments = command
    with ExitStack() as stack:
        daemon = stack.enter_context(Daemon([object_programs.find(program), *arguments], namespace))
        _wait_for_mount(daemon, directory)
        stack.callback(filesystem.take_off, directory)
        yield


def _wait_for_mount(daemon: Daemon, directory: Path) -> None:
    deadline = time.monotonic() + MOUNTED_WITHIN_S
    while not os.path.ismount(directory):
        daemon.require_alive()
        if time.monotonic() > deadline:
            raise LabError(f"the client mounted nothing within {MOUNTED_WITHIN_S:.0f} s")
        time.sleep(LOOK_EVERY_S)
