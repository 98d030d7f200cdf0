"""The tap sees every packet of the link, whole and in a form that others read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guest import inside, tank, wire

from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools

pytestmark = pytest.mark.guest

SYSTEMS = ["nfs3", "nfs4.2", "iscsi", "nvme"]
KEYS = [f"{system} {operation}" for system in SYSTEMS for operation in ("write", "read")]
PROTOCOLS = {"nfs3": "nfs", "nfs4.2": "nfs", "iscsi": "iscsi", "nvme": "nvme-tcp"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packets")


@pytest.fixture(scope="module")
def captures(tools: Tools, folder: Path) -> dict[str, inside.CaptureAnswer]:
    """A megabyte each way, with losses, so that there are retransmissions to be read too."""
    request = Request(
        systems=SYSTEMS,
        networks=["100mbit/5ms/1%"],
        workload="batch",
        parameters={"file-size": ["512KiB"], "set-size": ["1MiB"], "duration": ["60s"]},
    )
    asks = [inside.Capture(cell) for cell in tank.cells(request)]
    answers = tank.ask_guest(tools, asks, inside.CaptureAnswer, folder / "console")
    return dict(zip(KEYS, answers, strict=True))


@pytest.mark.parametrize("key", KEYS)
def test_the_tap_counts_what_the_link_counts(
    captures: dict[str, inside.CaptureAnswer], folder: Path, key: str
) -> None:
    found = captures[key]
    crossed = found.link.to_server.packets + found.link.to_client.packets
    assert found.link.to_server.dropped + found.link.to_client.dropped > 0
    assert crossed > 500
    assert found.tap_packets == crossed
    lengths = wire.fields(wire.pcap(folder, found.pcap_base64), "frame", "frame.len")
    assert len(lengths) == crossed
    link_bytes = found.link.to_server.bytes + found.link.to_client.bytes
    assert sum(int(length) for (length,) in lengths) == link_bytes


@pytest.mark.parametrize("key", KEYS)
def test_tshark_reads_the_taps_packets(
    captures: dict[str, inside.CaptureAnswer], folder: Path, key: str
) -> None:
    path = wire.pcap(folder, captures[key].pcap_base64)
    assert wire.problems(path) == []
    assert len(wire.fields(path, PROTOCOLS[key.split(maxsplit=1)[0]], "frame.number")) > 2
