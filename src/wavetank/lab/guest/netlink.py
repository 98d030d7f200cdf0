"""rtnetlink, as much as the testbed needs: links, addresses, routes, queueing disciplines.

Ours, because in the guest a library's imports cost more wall time than the whole boot (1.2 s for
pyroute2 against 0.5 s), and because it does not know netem's seed (TCA_NETEM_PRNG_SEED).
Numbers and layouts are those of linux/rtnetlink.h, if_link.h, veth.h and pkt_sched.h.
"""

from __future__ import annotations

import os
import socket
import struct

RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_NEWROUTE = 16, 17, 20, 24
RTM_NEWNEIGH, RTM_NEWQDISC, RTM_GETQDISC = 28, 36, 38
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP, NLM_F_CREATE, NLM_F_REPLACE = 1, 4, 0x300, 0x400, 0x100
NLMSG_ERROR, NLMSG_DONE = 2, 3
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_LINKINFO, IFLA_NET_NS_FD = 1, 3, 4, 18, 28
IFLA_TXQLEN, IFLA_GSO_MAX_SEGS = 13, 40
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTA_GATEWAY = 5
NDA_DST, NDA_LLADDR, NUD_PERMANENT = 1, 2, 0x80
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_STATS_QUEUE = 3
TC_H_ROOT = 0xFFFFFFFF
IFF_UP = 1

_HEADER = struct.Struct("=IHHII")
_IFINFO = struct.Struct("=BxHiII")
_TCMSG = struct.Struct("=BxxxiIII")


def attribute(kind: int, payload: bytes) -> bytes:
    """One attribute, padded to four bytes."""
    length = 4 + len(payload)
    return struct.pack("=HH", length, kind) + payload + b"\0" * (-length % 4)


def text(kind: int, value: str) -> bytes:
    return attribute(kind, value.encode() + b"\0")


def u32(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("=I", value))


def attributes(data: bytes) -> dict[int, bytes]:
    """The attributes in `data`, by kind (flags of the kind are masked)."""
    found: dict[int, bytes] = {}
    offset = 0
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, offset)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[offset + 4 : offset + length]
        offset += (length + 3) & ~3
    return found


class Route:
    """A rtnetlink socket of the network namespace it is made in. OSError on a refusal."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        self._socket.close()

    def add_veth(self, name: str, peer: str, peer_namespace: int, mac: str, peer_mac: str) -> None:
        """A pair: `name` here, `peer` in the namespace of the open descriptor."""
        other = (
            _IFINFO.pack(0, 0, 0, 0, 0)
            + text(IFLA_IFNAME, peer)
            + attribute(IFLA_ADDRESS, bytes.fromhex(peer_mac.replace(":", "")))
            + u32(IFLA_NET_NS_FD, peer_namespace)
        )
        info = text(IFLA_INFO_KIND, "veth") + attribute(
            IFLA_INFO_DATA, attribute(VETH_INFO_PEER, other)
        )
        self._request(
            RTM_NEWLINK,
            NLM_F_CREATE,
            _IFINFO.pack(0, 0, 0, 0, 0)
            + text(IFLA_IFNAME, name)
            + attribute(IFLA_ADDRESS, bytes.fromhex(mac.replace(":", "")))
            + attribute(IFLA_LINKINFO, info),
            f"making the veth pair {name} - {peer}",
        )

    def set_up(self, name: str, mtu_bytes: int | None = None) -> None:
        """Brings a link up; on veths with segmentation off for real: TCP's own GSO would hide
        packets from netem, and ethtool cannot switch that off.
        """
        options = b""
        if mtu_bytes is not None:
            options = u32(IFLA_MTU, mtu_bytes) + u32(IFLA_GSO_MAX_SEGS, 1) + u32(IFLA_TXQLEN, 1000)
        self._request(
            RTM_NEWLINK,
            0,
            _IFINFO.pack(0, 0, socket.if_nametoindex(name), IFF_UP, IFF_UP) + options,
            f"setting up {name}",
        )

    def delete_link(self, name: str) -> None:
        self._request(
            RTM_DELLINK,
            0,
            _IFINFO.pack(0, 0, socket.if_nametoindex(name), 0, 0),
            f"deleting {name}",
        )

    def add_address(self, name: str, address: str, prefix: int) -> None:
        packed = socket.inet_aton(address)
        self._request(
            RTM_NEWADDR,
            NLM_F_CREATE,
            struct.pack("=BBBBi", socket.AF_INET, prefix, 0, 0, socket.if_nametoindex(name))
            + attribute(IFA_LOCAL, packed)
            + attribute(IFA_ADDRESS, packed),
            f"addressing {name}",
        )

    def add_neighbour(self, name: str, address: str, mac: str) -> None:
        """A permanent neighbour: address resolution would cross the emulated delay and loss."""
        self._request(
            RTM_NEWNEIGH,
            NLM_F_CREATE | NLM_F_REPLACE,
            struct.pack(
                "=BxxxiHBB", socket.AF_INET, socket.if_nametoindex(name), NUD_PERMANENT, 0, 0
            )
            + attribute(NDA_DST, socket.inet_aton(address))
            + attribute(NDA_LLADDR, bytes.fromhex(mac.replace(":", ""))),
            f"naming the neighbour {address}",
        )

    def add_default_route(self, gateway: str) -> None:
        # main table, static, universe, unicast
        self._request(
            RTM_NEWROUTE,
            NLM_F_CREATE,
            struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, 254, 4, 0, 1, 0)
            + attribute(RTA_GATEWAY, socket.inet_aton(gateway)),
            f"routing by {gateway}",
        )

    def replace_root_qdisc(self, name: str, kind: str, options: bytes) -> None:
        """A new root queueing discipline; its counters start at 0."""
        index = socket.if_nametoindex(name)
        self._request(
            RTM_NEWQDISC,
            NLM_F_CREATE | NLM_F_REPLACE,
            _TCMSG.pack(0, index, 0x00010000, TC_H_ROOT, 0)
            + text(TCA_KIND, kind)
            + attribute(TCA_OPTIONS, options),
            f"putting {kind} on {name}",
        )

    def qdisc_drops(self, name: str) -> int:
        """Packets the root queueing discipline of `name` has dropped since it was made."""
        index = socket.if_nametoindex(name)
        drops = 0
        for message in self._dump(RTM_GETQDISC, _TCMSG.pack(0, index, 0, 0, 0)):
            _, found, _, parent, _ = _TCMSG.unpack_from(message)
            if found != index or parent != TC_H_ROOT:
                continue
            statistics = attributes(attributes(message[_TCMSG.size :]).get(TCA_STATS2, b""))
            if TCA_STATS_QUEUE in statistics:
                drops = struct.unpack_from("=5I", statistics[TCA_STATS_QUEUE])[2]
        return drops

    def _send(self, kind: int, flags: int, payload: bytes) -> None:
        self._sequence += 1
        self._socket.send(
            _HEADER.pack(
                _HEADER.size + len(payload), kind, flags | NLM_F_REQUEST, self._sequence, 0
            )
            + payload
        )

    def _request(self, kind: int, flags: int, payload: bytes, doing: str) -> None:
        self._send(kind, flags | NLM_F_ACK, payload)
        for message_kind, body in self._receive():
            if message_kind == NLMSG_ERROR:
                number = -struct.unpack_from("=i", body)[0]
                if number:
                    raise OSError(number, f"{doing}: {os.strerror(number)}")
                return

    def _dump(self, kind: int, payload: bytes) -> list[bytes]:
        self._send(kind, NLM_F_DUMP, payload)
        found: list[bytes] = []
        while True:
            for message_kind, body in self._receive():
                if message_kind == NLMSG_DONE:
                    return found
                if message_kind == NLMSG_ERROR:
                    number = -struct.unpack_from("=i", body)[0]
                    raise OSError(number, os.strerror(number))
                found.append(body)

    def _receive(self) -> list[tuple[int, bytes]]:
        data = self._socket.recv(1 << 18)
        messages = []
        offset = 0
        while offset + _HEADER.size <= len(data):
            length, kind, _, _, _ = _HEADER.unpack_from(data, offset)
            messages.append((kind, data[offset + _HEADER.size : offset + length]))
            offset += (length + 3) & ~3
        return messages
