"""TCP's own counters of client and server during a trial (RFC 4022's and Linux's)."""

from __future__ import annotations

from pathlib import Path

from wavetank.lab.guest.namespaces import Namespace

_WANTED = {
    "Tcp": {
        "OutSegs": "segments_sent",
        "RetransSegs": "segments_retransmitted",
        "ActiveOpens": "connections_opened",
    },
    "TcpExt": {
        "TCPTimeouts": "timeouts",
        "TCPFastRetrans": "fast_retransmits",
        "TCPLossProbes": "loss_probes",
    },
}


def read(hosts: dict[str, Namespace]) -> dict[str, int]:
    """Counters by `host_counter`, for example client_segments_sent."""
    found = {}
    for host, namespace in hosts.items():
        with namespace.entered():
            for file in ("snmp", "netstat"):
                text = Path(f"/proc/thread-self/net/{file}").read_text()
                for name, value in _pairs(text):
                    found[f"{host}_{name}"] = value
    return found


def between(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What was counted between two readings."""
    return {name: after[name] - before[name] for name in sorted(after)}


def _pairs(text: str) -> list[tuple[str, int]]:
    """The wanted counters of a file whose lines come in pairs, names and then values."""
    lines = text.splitlines()
    pairs = []
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        kind, _, columns = names.partition(":")
        wanted = _WANTED.get(kind, {})
        counted = values.partition(":")[2].split()
        for name, value in zip(columns.split(), counted, strict=True):
            if name in wanted:
                pairs.append((wanted[name], int(value)))
    return pairs
