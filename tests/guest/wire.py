"""What tshark reads in a packet file of the tap's."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

DEADLINE_S = 300.0
# The client's port is drawn from the reserved ones, of which some belong to other protocols, and
# tshark believes the lower port: NFS from 862 was TWAMP to it.
DECODE_AS = "tcp.port==2049,rpc"


def pcap(folder: Path, content_base64: str) -> Path:
    """The packet file of an answer, on the host's disk."""
    path = folder / "packets.pcap"
    path.write_bytes(base64.b64decode(content_base64))
    return path


def fields(path: Path, display_filter: str, *names: str) -> list[list[str]]:
    """The fields of the packets that the filter lets through, a list for each packet."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    command = ["tshark", "-n", "-d", DECODE_AS, "-r", str(path)]
    command += ["-Y", display_filter, "-T", "fields"]
    for name in names:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=DEADLINE_S)
    return [line.split("\t") for line in done.stdout.splitlines()]


def nfs_calls(path: Path) -> list[str]:
    """Names of the NFS calls in order; of a version 4 compound, that of its main operation."""
    found = fields(path, "nfs && rpc.msgtyp == 0", "_ws.col.Info")
    return [_call(info) for (info,) in found]


def _call(info: str) -> str:
    """`V3 LOOKUP Call, ...` and `V4 Call OPEN DH: ...` are how tshark words them."""
    words = info.replace(",", "").split()
    return words[2] if words[0] == "V4" else words[1]


def problems(path: Path) -> list[list[str]]:
    """Packets that a dissector could not make sense of."""
    return fields(path, "_ws.malformed || _ws.expert.severity == error", "frame.number")
