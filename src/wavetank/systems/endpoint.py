"""Object storage's other face: an address to speak to in place of a directory to work in.

A native workload takes the endpoint itself; a mount (`object_mounts`) makes a directory of it.
The same address serves the client, over the emulated path, and whoever is inside the server's
namespace, over its loopback and so without the network: that is how a set is filled.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems.bed import Bed

Dialect = Literal["s3", "swift"]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where objects are, and in what words to ask for them.

    `url` is the S3 service (path style) or Swift's TempAuth v1; user and key are S3's access and
    secret key, or TempAuth's. They are the lab's own, made up and the same for everyone.
    `container` exists and is empty but for the set. `tree`: its objects as plain files on the
    server's disk, where the server keeps them so.
    """

    dialect: Dialect
    url: str
    container: str
    user: str
    key: str
    region: str = "us-east-1"
    tree: Path | None = None


class ObjectServer(Protocol):
    """A system that serves objects: `s3`, `swift`. Mounts are made on top of it."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def summary(self) -> str:
        """One line for `wavetank list systems`."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its settings."""

    def programs_for(self, settings: Settings) -> tuple[str, ...]:
        """The programs that these settings ask for."""

    def server_caches(self, settings: Settings, /) -> bool:
        """Whether the server's memory can hold the set."""

    def check(self, settings: Settings) -> None:
        """Raises UsageError for settings that can't go together."""

    def endpoint(self, bed: Bed, settings: Settings) -> AbstractContextManager[Endpoint]:
        """Runs in the guest: the server up, its container empty; how far what it answers for has
        reached its disk is probed, and noted on the bed.
        """


@runtime_checkable
class Selective(Protocol):
    """A system whose programs depend on its settings."""

    def programs_for(self, settings: Settings) -> tuple[str, ...]:
        """The programs that these settings ask for."""
