"""Every packet on the link, digested: what proves that two runs were the same run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank.lab.errors import LabError
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import ROUTER_TO_CLIENT, ROUTER_TO_SERVER, Topology

_OUTPUT = Path("/run/wavetank-tap.json")
_READY = Path("/run/wavetank-tap.json.ready")
READY_S = 10.0


class PacketDigest(msgspec.Struct):
    """What the tap saw; filled in when the capture has ended."""

    sha256: str | None = None
    packets: int = 0


class _Summary(msgspec.Struct, frozen=True):
    packets: int
    dropped: int
    complete: bool
    sha256: str | None


@contextmanager
def captured(topology: Topology, tap: str) -> Iterator[PacketDigest]:
    """Captures the router's egress in both directions until the context is left."""
    digest = PacketDigest()
    for path in (_OUTPUT, _READY):
        path.unlink(missing_ok=True)
    arguments = [tap, "--digest", "--output", str(_OUTPUT)]
    for name in (ROUTER_TO_SERVER, ROUTER_TO_CLIENT):
        arguments += ["--interface", name]
    with Daemon(arguments, topology.router) as daemon:
        daemon.wait_until_exists(_READY, READY_S)
        yield digest
        daemon.stop(signal.SIGTERM)
    summary = msgspec.json.decode(_OUTPUT.read_bytes(), type=_Summary)
    if not summary.complete:
        raise LabError(f"the packet capture missed {summary.dropped} packets; its digest is void")
    digest.sha256, digest.packets = summary.sha256, summary.packets
