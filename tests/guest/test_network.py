"""The network is verified: each kind of declaration passes as built, and none that was built
otherwise.
"""

from __future__ import annotations

import msgspec
import pytest
from tests.guest import inside, tank

from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools
from wavetank.runs.records import NetworkMeasured, TrialRecord
from wavetank.study import networks
from wavetank.study.model import Network

pytestmark = pytest.mark.guest

SAMPLE = [
    "ideal-100",
    "latency-50",
    "loss-0.1",
    "realistic",
    "ideal-1000",
    "realistic-1000",
    "25gbit/10ms",
    "100mbit/50ms/loss=ge:0.005:0.2",
    "100mbit/50ms/reorder=4%",
]
# Whose network cards gather packets before they interrupt.
COALESCED = [
    "1gbit/coalesce=50us",
    "1gbit/20ms/coalesce=50us",
    "1gbit/20ms/0.1%/coalesce=250us",
    "100mbit/coalesce=50us",
    "25gbit/10ms/coalesce=20us",
]
# What is declared, what is built instead, and the word that tells of it.
MISSHAPEN = [
    ("100mbit/50ms", "95mbit/50ms", "Mbit/s"),
    ("100mbit/50ms", "105mbit/50ms", "Mbit/s"),
    ("100mbit/50ms", "100mbit/53ms", "RTT"),
    ("100mbit/50ms", "100mbit/0ms", "RTT"),
    ("100mbit/50ms", "100mbit/50ms/1%", "lost"),
    ("loss-0.1", "100mbit/0ms/0.5%", "lost"),
    ("100mbit/50ms/1%", "100mbit/50ms", "lost"),
    ("100mbit/50ms/loss=ge:0.005:0.2", "100mbit/50ms/loss=ge:0.05:0.2", "lost"),
    ("100mbit/50ms/0%/10ms", "100mbit/50ms/0%/4ms", "jitter"),
    ("100mbit/50ms/reorder=10%", "100mbit/50ms", "out of order"),
    ("1gbit/20ms/coalesce=50us", "1gbit/20ms", "apart"),
    ("1gbit/0ms/coalesce=50us", "1gbit/0ms", "RTT"),
    ("1gbit/20ms/coalesce=50us", "1gbit/20ms/coalesce=40us", "apart"),
    ("1gbit/20ms", "1gbit/20ms/coalesce=300us", "RTT"),
]


@pytest.fixture(scope="module")
def measured(
    tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Network, NetworkMeasured]]:
    texts = [*SAMPLE, *COALESCED]
    request = Request(
        systems=["nfs4.2"],
        networks=texts,
        workload="single-file",
        parameters={"file-size": ["4KiB"], "operation": ["read"]},
    )
    run = tank.conduct(tools, tmp_path_factory.mktemp("sample") / "run", request)
    found = {}
    for text, planned, trial in zip(texts, run.plan.trials, run.trials, strict=True):
        assert trial.network_measured is not None
        found[text] = planned.cell.network, trial.network_measured
    return found


@pytest.mark.parametrize("text", SAMPLE)
def test_a_declared_network_is_built_as_declared(
    measured: dict[str, tuple[Network, NetworkMeasured]], text: str
) -> None:
    """Judged by numbers of this test's own, and narrowly where chance has no part."""
    network, found = measured[text]
    assert found.violations == []
    assert network.rate_bit_per_s is not None
    for direction in (found.to_server, found.to_client):
        assert direction.rate_bit_per_s == pytest.approx(network.rate_bit_per_s, rel=0.02)
        assert bool(direction.loss_probability) == bool(network.loss)
        assert bool(direction.reorder_probability) == bool(network.reorder_probability)
    if not network.jitter_ns and not network.reorder_probability:
        assert found.rtt_ns_median == pytest.approx(network.rtt_ns, rel=0.001, abs=20_000)
        assert found.rtt_ns_stddev < 1000


@pytest.mark.parametrize("text", COALESCED)
def test_packets_are_told_of_as_far_apart_as_declared(
    measured: dict[str, tuple[Network, NetworkMeasured]], text: str
) -> None:
    network, found = measured[text]
    assert found.violations == []
    assert isinstance(network.coalesce_ns, int)
    assert network.rate_bit_per_s is not None
    on_wire_ns = 1514 * 8e9 / network.rate_bit_per_s
    for direction in (found.to_server, found.to_client):
        spacing = direction.delivery_spacing_ns
        assert spacing == pytest.approx(max(network.coalesce_ns, on_wire_ns), rel=0.05)
        assert direction.rate_bit_per_s == pytest.approx(network.rate_bit_per_s, rel=0.02)
    # Alone on its way, a packet waits the whole time for its interrupt, in either direction.
    expected = network.rtt_ns + 2 * network.coalesce_ns
    assert found.rtt_ns_median == pytest.approx(expected, rel=0.001, abs=20_000)


def test_a_network_that_does_not_coalesce_is_recorded_as_ever(
    measured: dict[str, tuple[Network, NetworkMeasured]],
) -> None:
    network, found = measured["ideal-1000"]
    assert b"coalesce" not in msgspec.json.encode(network)
    assert b"delivery" not in msgspec.json.encode(found)


@pytest.fixture(scope="module")
def verdicts(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> list[TrialRecord]:
    """A trial for each row of MISSHAPEN, then one for each declaration as it should be."""
    declared = list(dict.fromkeys(row[0] for row in MISSHAPEN))
    pairs = [*(row[:2] for row in MISSHAPEN), *((text, text) for text in declared)]
    asks = [
        inside.Misshapen(cell, networks.parse(built))
        for text, built in pairs
        for cell in tank.cells(
            Request(
                systems=["nfs4.2"],
                networks=[text],
                workload="single-file",
                parameters={"file-size": ["4KiB"], "operation": ["read"]},
            )
        )
    ]
    log = tmp_path_factory.mktemp("misshapen") / "console"
    return [one.trial for one in tank.ask_guest(tools, asks, inside.MisshapenAnswer, log)]


@pytest.mark.parametrize("index", range(len(MISSHAPEN)))
def test_a_network_that_is_not_as_declared_voids_the_trial(
    verdicts: list[TrialRecord], index: int
) -> None:
    verdict = verdicts[index]
    assert verdict.status == "void"
    assert verdict.reason is not None
    assert MISSHAPEN[index][2] in verdict.reason
    assert not verdict.phases


def test_the_same_trials_on_the_right_networks_are_not_void(verdicts: list[TrialRecord]) -> None:
    assert {verdict.status for verdict in verdicts[len(MISSHAPEN) :]} == {"ok"}
