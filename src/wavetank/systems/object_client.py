"""A FUSE client of object storage: what a file like `client_s3fs` has to say of its own.

Most clients make files of objects as they are, so that a set is put there without them
(`as_objects`); one that keeps files in a form of its own fills itself (`Client.filled`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import msgspec

from wavetank import quantity
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems import object_requests
from wavetank.systems.bed import Bed
from wavetank.systems.endpoint import Endpoint


@contextmanager
def as_objects(
    bed: Bed, endpoint: Endpoint, _settings: Settings, _folder: Path, /
) -> Iterator[None]:
    """The workload's set in the endpoint's container, without the network: as plain files where
    the server keeps such; else through the server's own interface, from inside its namespace.
    """
    if endpoint.tree is not None:
        bed.fill(endpoint.tree)
    else:
        with set_aside(bed) as directory, bed.topology.server.entered():
            object_requests.put_tree(endpoint, directory)
    os.sync()
    yield


@contextmanager
def set_aside(bed: Bed) -> Iterator[Path]:
    """The workload's set in a directory of its own, for a while; empty where it needs none."""
    directory = Path(mkdtemp(prefix="wavetank-set-"))
    try:
        bed.fill(directory)
        yield directory
    finally:
        shutil.rmtree(directory)


def anything(_settings: Settings) -> None:
    """Every combination goes."""


class Client(msgspec.Struct, frozen=True):
    """A FUSE program: its settings, the command line that keeps it in the foreground (its files
    of one trial are in a folder, which is empty), and the servers it fails on, with why.

    `filled` runs before the mount: the set is where the client will find it, and what the client
    needs beside the endpoint is up until the context is left. `check` raises UsageError for
    settings that can't go together.
    """

    program: str
    label: str
    programs: Callable[[Settings], tuple[str, ...]]
    parameters: tuple[Parameter, ...]
    command: Callable[[Endpoint, Settings, Path], list[str]]
    filled: Callable[[Bed, Endpoint, Settings, Path], AbstractContextManager[None]] = as_objects
    check: Callable[[Settings], None] = anything
    fails_on: Mapping[str, str] = {}


def count(text: str) -> int:
    """Of parts, connections, seconds: one at least."""
    return quantity.parse_count(text, 1)
