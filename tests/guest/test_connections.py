"""Several TCP connections are really opened, and on a lossy path they pay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.guest import inside, tank, wire

from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools

pytestmark = pytest.mark.guest

CONNECTIONS = {
    "nfs4.2": 1,
    "nfs4.2:nconnect=8": 8,
    "nfs3:nconnect=8": 8,
    "iscsi": 1,
    "iscsi:sessions=4": 4,
}


@pytest.fixture(scope="module")
def captures(
    tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, inside.CaptureAnswer]:
    request = Request(
        systems=list(CONNECTIONS),
        networks=["realistic"],
        workload="batch",
        parameters={
            "operation": ["write"],
            "file-size": ["64KiB"],
            "set-size": ["2MiB"],
            "threads": ["8"],
            "duration": ["60s"],
        },
    )
    asks = [inside.Capture(cell) for cell in tank.cells(request)]
    log = tmp_path_factory.mktemp("connections") / "console"
    answers = tank.ask_guest(tools, asks, inside.CaptureAnswer, log)
    return dict(zip(CONNECTIONS, answers, strict=True))


@pytest.mark.parametrize("system", CONNECTIONS)
def test_as_many_connections_are_open_as_were_asked_for(
    captures: dict[str, inside.CaptureAnswer], system: str
) -> None:
    assert captures[system].connections == CONNECTIONS[system]


@pytest.mark.parametrize("system", CONNECTIONS)
def test_every_connection_carries_data(
    captures: dict[str, inside.CaptureAnswer], tmp_path: Path, system: str
) -> None:
    path = wire.pcap(tmp_path, captures[system].pcap_base64)
    streams = wire.fields(path, "tcp.len > 0", "tcp.stream")
    assert len({stream for (stream,) in streams}) == CONNECTIONS[system]


def test_several_connections_are_faster_on_a_lossy_path(
    tools: Tools, tmp_path: Path, figure: Callable[[str, str], None]
) -> None:
    """Each loss halves one connection's window and leaves the others' alone (Mathis: n flows carry
    n times as much). Beyond the papers, which conjecture it: H14 7.1, O15 IV-E3.
    """
    request = Request(
        systems=["nfs4.2", "nfs4.2:nconnect=8", "iscsi", "iscsi:sessions=4"],
        networks=["realistic"],
        workload="batch",
        parameters={
            "file-size": ["1MiB"],
            "set-size": ["64MiB"],
            "threads": ["8"],
            "duration": ["40s"],
        },
    )
    run = tank.conduct(tools, tmp_path / "run", request)
    rates = [row.throughput_bytes_per_s or 0.0 for row in tank.rows_of(run)]
    by_system = {"nfs": rates[:4], "iscsi": rates[4:]}
    for system, (one_write, one_read, several_write, several_read) in by_system.items():
        gains = f"{several_write / one_write:.1f} writing, {several_read / one_read:.1f} reading"
        figure(f"{system}, several connections over one, realistic, 8 threads", gains)
        assert several_write > 2 * one_write
        assert several_read > 2 * one_read
