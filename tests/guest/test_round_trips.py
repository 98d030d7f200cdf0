"""A file over NFS costs whole round trips: which ones, the wire tells, and how many, the clock.

One thread, files of 4 KiB, 200 ms RTT, no loss, each file opened with O_SYNC: created, written in
one call and closed; or opened, read in one call and closed.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.guest import inside, tank, wire

from wavetank.analysis.rows import CellRow
from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools

pytestmark = pytest.mark.guest

NETWORK = "1gbit/200ms"
TOLERANCE = 0.01
# Versions 2 and 3 know no open files, so nothing is closed. Version 2 judges rights by the mode it
# got from LOOKUP, version 3 asks the server (ACCESS), version 4 asks in the compound that opens.
# Version 4.0 confirms an owner's first OPEN (OPEN_CONFIRM); later files need none.
CALLS = {
    ("nfs2", "write"): ["CREATE", "WRITE"],
    ("nfs3", "write"): ["CREATE", "WRITE"],
    ("nfs4.0", "write"): ["OPEN", "WRITE", "CLOSE"],
    ("nfs4.1", "write"): ["OPEN", "WRITE", "CLOSE"],
    ("nfs4.2", "write"): ["OPEN", "WRITE", "CLOSE"],
    ("nfs2", "read"): ["LOOKUP", "READ"],
    ("nfs3", "read"): ["LOOKUP", "ACCESS", "READ"],
    ("nfs4.0", "read"): ["OPEN", "READ", "CLOSE"],
    ("nfs4.1", "read"): ["OPEN", "READ", "CLOSE"],
    ("nfs4.2", "read"): ["OPEN", "READ", "CLOSE"],
}
Figure = Callable[[str, str], None]
SYSTEMS = sorted({system for system, _ in CALLS})


def request(set_size: str) -> Request:
    return Request(
        systems=SYSTEMS,
        networks=[NETWORK],
        workload="batch",
        parameters={"file-size": ["4KiB"], "set-size": [set_size], "duration": ["60s"]},
        disk="ram",
    )


@pytest.fixture(scope="module")
def rows(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], CellRow]:
    run = tank.conduct(tools, tmp_path_factory.mktemp("trips") / "run", request("120KiB"))
    return {(row.system, row.operation): row for row in tank.rows_of(run)}


@pytest.fixture(scope="module")
def calls(
    tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], list[str]]:
    """Every RPC of a set of three files, in order."""
    folder = tmp_path_factory.mktemp("calls")
    cells = tank.cells(request("12KiB"))
    asks = [inside.Capture(cell) for cell in cells]
    answers = tank.ask_guest(tools, asks, inside.CaptureAnswer, folder / "console")
    keys = [(cell.system.name, str(cell.workload.parameters["operation"])) for cell in cells]
    return {
        key: wire.nfs_calls(wire.pcap(folder, answer.pcap_base64))
        for key, answer in zip(keys, answers, strict=True)
    }


@pytest.mark.parametrize(("system", "operation"), CALLS)
def test_a_file_costs_whole_round_trips(
    rows: dict[tuple[str, str], CellRow], figure: Figure, system: str, operation: str
) -> None:
    trips = rows[system, operation].round_trips_p50
    figure(f"{system} {operation}, median latency in round trips", f"{trips:.3f}")
    assert trips == pytest.approx(len(CALLS[system, operation]), rel=TOLERANCE)


@pytest.mark.parametrize(("system", "operation"), CALLS)
def test_each_round_trip_is_one_call(
    calls: dict[tuple[str, str], list[str]], system: str, operation: str
) -> None:
    expected = CALLS[system, operation]
    assert calls[system, operation][-2 * len(expected) :] == 2 * expected


# What a mount asks for beside its files: attributes of its directories, a lease.
ASKED_BESIDE = 12


@pytest.mark.parametrize(("system", "operation"), CALLS)
def test_requests_are_counted_as_the_wire_has_them(
    rows: dict[tuple[str, str], CellRow], system: str, operation: str
) -> None:
    row = rows[system, operation]
    for_files = len(CALLS[system, operation]) * (row.operations or 0)
    assert for_files > 0
    assert for_files <= (row.requests or 0) <= for_files + ASKED_BESIDE
