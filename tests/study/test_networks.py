"""Claims about networks: what a name means, what the notation states, what is refused."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study import named_networks, networks
from wavetank.study.model import (
    GilbertElliottLoss,
    IndependentLoss,
    Network,
    Queue,
    canonical_json,
)

MS = 10**6


def test_realistic_is_h14_table_3_1() -> None:
    network = networks.parse("realistic")
    assert network == Network(
        name="realistic",
        rate_bit_per_s=100 * 10**6,
        rtt_ns=50 * MS,
        jitter_ns=10 * MS,
        loss=IndependentLoss(0.001),
    )
    assert network.jitter_distribution == "normal"


@pytest.mark.parametrize(
    "name", ["ideal-100", "latency-50", "loss-0.1", "realistic", "geo-near", "geo-far"]
)
def test_every_name_of_the_papers_is_known(name: str) -> None:
    assert networks.parse(name).name == name


@pytest.mark.parametrize("name", ["latency-50", "loss-0.1", "realistic"])
def test_each_condition_at_a_gigabit_differs_in_rate_alone(name: str) -> None:
    slow, fast = networks.parse(name), networks.parse(f"{name}-1000")
    assert (slow.rtt_ns, slow.jitter_ns, slow.loss) == (fast.rtt_ns, fast.jitter_ns, fast.loss)
    assert fast.rate_bit_per_s == 10**9


def test_aws_regions_have_the_round_trips_of_h14_figure_3_4() -> None:
    rtts = {network.name: network.rtt_ns // MS for network in networks.expand("aws")}
    assert sorted(rtts.values()) == [50, 120, 184, 185, 254, 298, 332, 341]
    assert rtts["aws-ireland"] == 50


def test_the_nistnet_sweep_goes_from_10_to_90_ms() -> None:
    assert [n.rtt_ns // MS for n in networks.expand("nistnet")] == list(range(10, 100, 10))


def test_the_sweep_is_the_whole_grid_without_jitter_on_a_zero_delay() -> None:
    sweep = networks.expand("sweep")
    assert len(sweep) == 2 * 4 * (1 + 4 * 2)
    assert not [n for n in sweep if n.jitter_ns and not n.rtt_ns]


def test_every_named_network_passes_the_check_of_the_notation() -> None:
    for name, network in named_networks.named().items():
        assert networks.parse(name) == network


def test_inline_notation_states_rate_rtt_loss_and_jitter() -> None:
    network = networks.parse("200mbit/35ms/0.05%/5ms")
    assert network.name == "200mbit/35ms/0.05%/5ms"
    assert network.rate_bit_per_s == 200 * 10**6
    assert network.rtt_ns == 35 * MS
    assert network.loss == IndependentLoss(0.0005)
    assert network.jitter_ns == 5 * MS


def test_trailing_parts_may_be_left_out() -> None:
    assert networks.parse("25gbit") == Network(name="25gbit", rate_bit_per_s=25 * 10**9)


def test_extras_follow_an_inline_network() -> None:
    network = networks.parse("200mbit/35ms/loss=ge:0.001:0.1/reorder=0.1%/queue=2bdp/cc=bbr")
    assert network.loss == GilbertElliottLoss(0.001, 0.1)
    assert network.reorder_probability == 0.001
    assert network.queue == Queue(bdp=2.0)
    assert network.tcp.congestion_control == "bbr"


def test_extras_change_a_named_network_and_its_name() -> None:
    network = networks.parse("realistic/rmem=8MiB/cc=bbr")
    assert network.name == "realistic/cc=bbr/rmem=8MiB"
    assert network.tcp.rmem_bytes == (8 * 2**20,) * 3
    assert network.rtt_ns == 50 * MS


def test_equal_networks_have_equal_names_whatever_the_spelling() -> None:
    assert networks.parse("0.2Gbit/0.035s/0.0005") == networks.parse("200mbit/35ms/0.05%")


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean realistic"):
        networks.parse("realistc")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("100mbit/20", "'20'"),
        ("100mbit/20ms/0.1%/5ms/3", "'3'"),
        ("100mbit/20ms/0.1%/50ms", "jitter"),
        ("100mbit/reorder=1%", "RTT"),
        ("30gbit", "25gbit"),
        ("realistic/20ms", "key"),
        ("realistic/speed=3", "'speed'"),
        ("realistic/cc=vegas", "cubic"),
        ("realistic/cc=bbr/cc=reno", "twice"),
        ("realistic/loss=100%", "100%"),
        ("realistic/loss=ge:0.1", "TO_GOOD"),
        ("realistic/loss=ge:0.1:0", "TO_GOOD"),
        ("realistic/queue=0bdp", "2bdp"),
        ("realistic/dist=gaussian", "normal"),
        ("realistic/mtu=10", "576"),
        ("realistic/rmem=4MiB:1MiB:2MiB", "rising"),
        ("", "no network"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        networks.parse(text)
    message = str(caught.value)
    assert said in message
    assert message.startswith(f"network '{text}': ")
    assert "\n" not in message


@given(
    st.integers(1, 25_000),
    st.integers(0, 400),
    st.sampled_from([0.0, 0.0005, 0.01, 0.025]),
    st.integers(0, 400),
)
def test_the_name_of_an_inline_network_states_it_again(
    mbit: int, rtt_ms: int, loss: float, jitter_ms: int
) -> None:
    jitter = min(jitter_ms, rtt_ms)
    text = f"{mbit}mbit/{rtt_ms}ms/{quantity.fraction_text(loss)}/{jitter}ms"
    network = networks.parse(text)
    assert networks.parse(network.name) == network


def test_loss_is_written_as_it_is_read() -> None:
    for loss in (None, IndependentLoss(0.001), GilbertElliottLoss(0.001, 0.1, 0.9, 0.01)):
        text = networks.loss_text(loss)
        assert networks.parse(f"1gbit/20ms/loss={text}").loss == loss


def test_coalescing_that_is_not_stated_leaves_no_trace_in_a_record() -> None:
    """Digests of cells hang on it: this is the record of before there was coalescing."""
    before = (
        b'{"jitter_distribution":"normal","jitter_ns":0,"loss":null,"mtu_bytes":1500,'
        b'"name":"ideal-100","queue":{"bdp":null,"packets":null},"rate_bit_per_s":100000000,'
        b'"reorder_probability":0.0,"rtt_ns":0,"tcp":{"congestion_control":"cubic",'
        b'"metrics_save":false,"rmem_bytes":[1048576,4194304,16777216],'
        b'"wmem_bytes":[1048576,4194304,16777216]}}'
    )
    assert canonical_json(networks.parse("ideal-100")) == before
    assert msgspec.json.decode(before, type=Network) == networks.parse("ideal-100")


def test_coalescing_is_stated_like_every_other_property() -> None:
    network = networks.parse("1gbit/20ms/coalesce=50us")
    assert network.coalesce_ns == 50_000
    assert network.name == "1gbit/20ms/coalesce=50us"
    assert msgspec.json.decode(canonical_json(network), type=Network) == network
    off = networks.parse("ideal-100/coalesce=0ms")
    assert b"coalesce_ns" not in canonical_json(off)


@pytest.mark.parametrize("text", ["ideal-100/coalesce=5ms", "ideal-100/coalesce=10ns"])
def test_coalescing_no_network_card_does_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="between 1us and 1ms"):
        networks.parse(text)
