"""`s3`, `swift`: object storage spoken to as it is, by REST, with nothing mounted.

The same servers as below the mounts. What is measured is the protocol and the server; the client
is the load engine, which keeps nothing, so that there is no client cache that could be warm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems.bed import SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint, ObjectServer
from wavetank.systems.object_mounts import read_all

Put = Callable[[Endpoint], None]
"""Puts the set that a reading trial needs into the endpoint's container, without the network."""


class Native(msgspec.Struct, frozen=True):
    """An object server without a mount; the system's face (`systems.ObjectStore`)."""

    server: ObjectServer
    needs_network: bool = True

    @property
    def name(self) -> str:
        """s3, swift"""
        return self.server.name

    @property
    def summary(self) -> str:
        """As the server says."""
        return self.server.summary

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The server's settings."""
        return self.server.parameters

    @property
    def programs(self) -> tuple[str, ...]:
        """Those of the settings by default."""
        return self.programs_for({one.key: one.parse(one.default) for one in self.parameters})

    def programs_for(self, settings: Settings) -> tuple[str, ...]:
        """The server's."""
        return self.server.programs_for(settings)

    def server_caches(self, settings: Settings, /) -> bool:
        """As the server does."""
        return self.server.server_caches(settings)

    def check(self, settings: Settings) -> None:
        """The server's rules."""
        self.server.check(settings)

    @contextmanager
    def serving(self, bed: Bed, settings: Settings, put: Put) -> Iterator[Endpoint]:
        """The server up, its container filled by `put`, its memory as the cell declares."""
        with self.server.endpoint(bed, settings) as endpoint:
            put(endpoint)
            if bed.server_is_warm and self.server_caches(settings):
                read_all(SERVER_ROOT)
            yield endpoint
