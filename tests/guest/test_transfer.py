"""Bulk transfer fills the link, by our own count and by iperf3's; and two clocks tell the same.

The payload limit is that of full-sized packets, 1448 bytes of TCP payload (time stamps on) in
1514 bytes of Ethernet frame without preamble and FCS, which is how netem counts the rate.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.guest import inside, tank

from wavetank.analysis.rows import CellRow
from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.session import Tools
from wavetank.study import networks
from wavetank.study.model import Clock

pytestmark = pytest.mark.guest

PAYLOAD_SHARE = 1448 / 1514
TOLERANCE = 0.02
CLOCKS_TOLERANCE = 0.05
# On the real clock, whatever else the machine does comes on top: of three attempts the nearest
# counts, and a machine that lets tasks wait for more than this share of the time proves nothing.
REAL_ATTEMPTS = 3
QUIET_SHARE = 0.1

RATES = {"ideal-100": 100_000_000, "ideal-1000": 1_000_000_000}
# A window of half a megabyte fills both paths and overflows no queue.
IPERF_ARGUMENTS = {
    "ideal-100": ["--bytes", "8M", "--window", "512K"],
    "ideal-1000": ["--bytes", "64M", "--window", "512K"],
}
SYSTEMS = ["nfs4.2", "iscsi"]

Figure = Callable[[str, str], None]


@pytest.fixture(scope="module")
def transfers(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CellRow]:
    """Four files of 16 MiB each way; the rate is that of all, the slow start included."""
    request = Request(
        systems=SYSTEMS,
        networks=list(RATES),
        workload="batch",
        parameters={"file-size": ["16MiB"], "set-size": ["64MiB"], "duration": ["60s"]},
    )
    rows = tank.rows_of(tank.conduct(tools, tmp_path_factory.mktemp("bulk") / "run", request))
    return {f"{row.system} {row.network} {row.operation}": row for row in rows}


@pytest.fixture(scope="module")
def iperf(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """iperf3's goodput on the same networks, bit/s."""
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed: apt-get install iperf3")
    asks = [inside.Iperf(networks.parse(name), 1, IPERF_ARGUMENTS[name]) for name in RATES]
    log = tmp_path_factory.mktemp("iperf") / "console"
    answers = tank.ask_guest(tools, asks, inside.IperfAnswer, log)
    return {name: one.goodput_bit_per_s for name, one in zip(RATES, answers, strict=True)}


@pytest.mark.parametrize("operation", ["write", "read"])
@pytest.mark.parametrize("network", RATES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_bulk_transfer_reaches_the_payload_limit(
    transfers: dict[str, CellRow], figure: Figure, system: str, network: str, operation: str
) -> None:
    rate = transfers[f"{system} {network} {operation}"].throughput_bytes_per_s
    assert rate is not None
    share = 8 * rate / (RATES[network] * PAYLOAD_SHARE)
    figure(f"{system} {operation}, {network}, of the payload limit", f"{share:.2%}")
    assert 1 - TOLERANCE <= share <= 1


@pytest.mark.parametrize("network", RATES)
def test_iperf3_finds_the_same_limit(iperf: dict[str, float], figure: Figure, network: str) -> None:
    share = iperf[network] / (RATES[network] * PAYLOAD_SHARE)
    figure(f"iperf3, {network}, of the payload limit", f"{share:.2%}")
    assert iperf[network] == pytest.approx(RATES[network] * PAYLOAD_SHARE, rel=TOLERANCE)


@pytest.mark.parametrize("network", RATES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_iperf3_agrees_with_the_storage_systems(
    transfers: dict[str, CellRow], iperf: dict[str, float], system: str, network: str
) -> None:
    for operation in ("write", "read"):
        rate = transfers[f"{system} {network} {operation}"].throughput_bytes_per_s
        assert rate is not None
        assert 8 * rate == pytest.approx(iperf[network], rel=TOLERANCE)


def test_virtual_and_real_clock_agree_where_the_network_is_the_limit(
    tools: Tools, tmp_path: Path, figure: Figure
) -> None:
    virtual = median_latencies(tools, tmp_path / "virtual", "virtual")
    ratios: dict[str, float] = {}
    before = waited_s()
    began_s = time.monotonic()
    for attempt in range(REAL_ATTEMPTS):
        real = median_latencies(tools, tmp_path / f"real{attempt}", "real")
        for cell, latency_ns in real.items():
            found = latency_ns / virtual[cell]
            ratios[cell] = min(found, ratios.get(cell, found), key=lambda ratio: abs(ratio - 1))
            figure(f"{cell}, median latency, real over virtual clock", f"{ratios[cell]:.3f}")
        settled = [abs(ratio - 1) <= CLOCKS_TOLERANCE for ratio in ratios.values()]
        if len(ratios) == len(virtual) and all(settled):
            return
    waited = (waited_s() - before) / (time.monotonic() - began_s)
    crowded = os.getloadavg()[0] > 1.5 * len(os.sched_getaffinity(0))
    none_too_fast = all(ratio > 1 - CLOCKS_TOLERANCE for ratio in ratios.values())
    if (waited > QUIET_SHARE or crowded) and none_too_fast:
        pytest.skip(f"the real clock needs a quiet machine: {waited:.0%} of the time was waited")
    pytest.fail(f"median latency, real over virtual: {ratios}; {waited:.1%} waited for a processor")


def waited_s() -> float:
    """Time for which some task of this machine was ready and had no processor (proc(5)): the
    kernel's pressure where it tells of it, and what the host of a virtual machine took.
    """
    stolen = int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")
    pressure = Path("/proc/pressure/cpu")
    if not pressure.exists():
        return stolen
    some = dict(one.split("=") for one in pressure.read_text().splitlines()[0].split()[1:])
    return stolen + int(some["total"]) / 1e6


def median_latencies(tools: Tools, path: Path, clock: Clock) -> dict[str, float]:
    """Of files of 1 MiB: what a passing disturbance of the machine does not reach. One guest at a
    time; a cell whose network could not be had as declared is left out, on the real clock.
    """
    request = Request(
        systems=SYSTEMS,
        networks=["100mbit/20ms"],
        workload="batch",
        parameters={"file-size": ["1MiB"], "set-size": ["12MiB"], "duration": ["30s"]},
        clock=clock,
    )
    if clock == "virtual":
        run = tank.conduct(tools, path, request, workers=1)
    else:
        run = session.start(path, make_plan(request), tools, 1, nobody)
    rows = [row for row in tank.rows_of(run) if row.status == "ok"]
    return {f"{row.system} {row.operation}": float(row.latency_ns_p50 or 0) for row in rows}
