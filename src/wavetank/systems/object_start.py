"""The first minute of an object server: it answers, its container is made, its durability known."""

from __future__ import annotations

import os
import socket
import time

from wavetank.lab.errors import LabError
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.systems import durability
from wavetank.systems.bed import Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.object_requests import Requests

START_S = 120.0
LOOK_EVERY_S = 0.05
PROBE_CONTAINER = "wavetank-probe"


def begin(bed: Bed, endpoint: Endpoint, daemons: list[tuple[Daemon, int]]) -> None:
    """Waits for every daemon's port, makes the container, probes; leaves the disk in order.

    What was found is noted on the bed. Raises LabError when a daemon ends or is late.
    """
    with bed.topology.server.entered():
        for daemon, port in daemons:
            _wait_for_port(daemon, port)
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


def _wait_for_port(daemon: Daemon, port: int) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection((SERVER_ADDRESS, port), START_S).close()
            return
        except OSError as error:
            daemon.require_alive()
            if time.monotonic() > deadline:
                raise LabError(
                    f"nothing answered on port {port} within {START_S:.0f} s: {error.strerror}"
                ) from error
        time.sleep(LOOK_EVERY_S)
