"""The path's counters: what left the router in each direction, and what its queue dropped."""

from __future__ import annotations

from pathlib import Path

import msgspec

from wavetank.lab.guest.netlink import Route
from wavetank.lab.guest.topology import ROUTER_TO_CLIENT, ROUTER_TO_SERVER, Topology
from wavetank.runs.records import LinkDirection, LinkRecord

# /proc/net/dev: bytes and packets of the transmit side, counted from the interface's name.
_TX_BYTES, _TX_PACKETS = 8, 9


class LinkReading(msgspec.Struct, frozen=True):
    """Both directions' counters at one moment."""

    to_server: LinkDirection
    to_client: LinkDirection


def read(topology: Topology) -> LinkReading:
    """The counters now. Bytes are those of Ethernet frames without FCS."""
    with topology.router.entered():
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]
        columns = (line.partition(":") for line in lines)
        counters = {name.strip(): rest.split() for name, _, rest in columns}
        route = Route()
        try:
            to_server, to_client = (
                LinkDirection(
                    bytes=int(counters[name][_TX_BYTES]),
                    packets=int(counters[name][_TX_PACKETS]),
                    dropped=route.qdisc_drops(name),
                )
                for name in (ROUTER_TO_SERVER, ROUTER_TO_CLIENT)
            )
        finally:
            route.close()
    return LinkReading(to_server, to_client)


def between(before: LinkReading, after: LinkReading) -> LinkRecord:
    """What crossed the link between two readings."""
    return LinkRecord(
        to_server=_difference(before.to_server, after.to_server),
        to_client=_difference(before.to_client, after.to_client),
    )


def _difference(before: LinkDirection, after: LinkDirection) -> LinkDirection:
    return LinkDirection(
        bytes=after.bytes - before.bytes,
        packets=after.packets - before.packets,
        dropped=after.dropped - before.dropped,
    )
