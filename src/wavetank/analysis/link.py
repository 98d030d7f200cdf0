"""What a link can carry: the payload limit of a declared network, from packet sizes alone."""

from __future__ import annotations

from wavetank.study.model import Network

ETHERNET_HEADER_BYTES = 14
"""What netem's rate counts beside the IP packet (no preamble, no frame check sequence)."""

IP_AND_TCP_HEADER_BYTES = 52
"""IPv4 20, TCP 20, and the timestamp option with its padding 12 (RFC 7323)."""

FULL_LINK_SHARE = 0.93


def payload_limit_bytes_per_s(network: Network) -> float | None:
    """TCP payload per second when every packet is full-sized, or None for an unlimited link."""
    if network.rate_bit_per_s is None:
        return None
    payload = network.mtu_bytes - IP_AND_TCP_HEADER_BYTES
    frame = network.mtu_bytes + ETHERNET_HEADER_BYTES
    return network.rate_bit_per_s / 8 * payload / frame
