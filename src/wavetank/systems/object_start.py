"""The first minute of an object server: it answers, its container is made, its durability known."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import Protocol

from wavetank.lab.errors import LabError
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.systems import durability
from wavetank.systems.bed import Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.object_requests import Requests

START_S = 120.0
LOOK_EVERY_S = 0.05
PROBE_CONTAINER = "wavetank-probe"


class Server(Protocol):
    """What listens, or will soon."""

    def require_alive(self) -> None:
        """LabError with its last words when it has ended."""


def begin(bed: Bed, endpoint: Endpoint, servers: Sequence[tuple[Server, int]]) -> None:
    """Waits for every server's port, makes the container, probes; leaves the disk in order.

    What was found is noted on the bed. Raises LabError when a server ends or is late.
    """
    with bed.topology.server.entered():
        for server, port in servers:
            wait_for_port(server, port)
        requests = Requests(endpoint)
        try:
            requests.make_container(PROBE_CONTAINER)
            keys: list[str] = []

            def put(key: str, content: bytes) -> None:
                keys.append(key)
                requests.put(PROBE_CONTAINER, key, content)

            bed.notes.update(durability.probe(bed.device, put))
            for key in keys:
                requests.delete(PROBE_CONTAINER, key)
            requests.make_container(endpoint.container)
        finally:
            requests.close()
    os.sync()


def wait_for_port(server: Server, port: int) -> None:
    """Waits, in the server's namespace, until it answers; LabError when it ends or is late."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection((SERVER_ADDRESS, port), START_S).close()
            return
        except OSError as error:
            server.require_alive()
            if time.monotonic() > deadline:
                raise LabError(
                    f"nothing answered on port {port} within {START_S:.0f} s: {error.strerror}"
                ) from error
        time.sleep(LOOK_EVERY_S)
