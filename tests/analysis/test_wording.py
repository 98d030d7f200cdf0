"""Words for numbers: the unit that fits, three digits, never an exponent."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import IDEAL, REALISTIC, cell

from wavetank.analysis import wording
from wavetank.analysis.labels import label_cells
from wavetank.analysis.link import payload_limit_bytes_per_s
from wavetank.study.model import Cell, SystemChoice


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999.9e6, "1.00 GB/s"),
        (11_955_000, "12.0 MB/s"),
        (18_640, "18.6 kB/s"),
        (12, "12.0 B/s"),
        (0, "0 B/s"),
    ],
)
def test_byte_rates(value: float, text: str) -> None:
    assert wording.byte_rate_text(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.046, "1.05x"), (1.2, "1.2x"), (9.84, "9.8x"), (38.9, "39x"), (1234.0, "1 230x")],
)
def test_factors(ratio: float, text: str) -> None:
    assert wording.factor_text(ratio) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.35, "0.350 s"), (59.4, "59.4 s"), (250, "4 min 10 s"), (11100, "3 h 5 min")],
)
def test_spans(seconds: float, text: str) -> None:
    assert wording.span_text(seconds) == text


@given(st.floats(1e-6, 1e15))
def test_three_digits_are_kept_and_no_exponent_is_shown(value: float) -> None:
    text = wording.significant(value)
    assert "e" not in text
    assert float(text.replace(" ", "")) == pytest.approx(value, rel=5.1e-3)


def test_networks_in_words() -> None:
    assert wording.network_text(IDEAL) == "100 Mbit/s, no added delay, no loss"
    assert wording.network_text(REALISTIC) == "100 Mbit/s, 50 ms RTT, ±10 ms jitter, 0.1 % loss"


def test_systems_in_words() -> None:
    assert (
        wording.system_text("nfs4.2:nconnect=8:rsize=64KiB") == "NFS 4.2 (nconnect=8, rsize=64KiB)"
    )
    assert wording.system_text("brandnew") == "brandnew"


def test_the_payload_limit_of_100_mbit_is_what_full_packets_carry() -> None:
    assert payload_limit_bytes_per_s(IDEAL) == pytest.approx(12.5e6 * 1448 / 1514)


def test_disks_that_differ_in_size_alone_have_one_name() -> None:
    small = cell("iscsi")
    large = msgspec.structs.replace(
        small, disk=msgspec.structs.replace(small.disk, size_bytes=8 << 30)
    )
    slow = msgspec.structs.replace(
        small, disk=msgspec.structs.replace(small.disk, completion_ns=80_000)
    )
    labels = label_cells([small, large])
    assert labels.of(small.disk) == labels.of(large.disk) == "ram"
    apart = label_cells([small, slow])
    assert apart.of(small.disk) != apart.of(slow.disk)


def test_a_setting_that_goes_with_another_is_told_where_it_differs() -> None:
    def with_options(**options: str | float | bool) -> Cell:
        return msgspec.structs.replace(cell("s3"), system=SystemChoice("s3", options))

    other, quick, slow = (
        with_options(server="versitygw"),
        with_options(server="swift", pipeline="lean"),
        with_options(server="swift", pipeline="full"),
    )
    labels = label_cells([other, quick])
    assert labels.of(quick.system) == "s3:server=swift"
    labels = label_cells([other, quick, slow])
    assert labels.of(quick.system) == "s3:pipeline=lean:server=swift"
    alone = label_cells([with_options(), with_options(server="swift")])
    assert len(set(alone.by_record.values()) & {"s3", "s3:server=swift"}) == 2
