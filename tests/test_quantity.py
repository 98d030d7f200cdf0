"""Claims about quantities as people write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavetank import quantity
from wavetank.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("4KiB", 4096), ("1MiB", 2**20), ("10MB", 10**7), ("4096", 4096), ("1.5 kib", 1536)],
)
def test_sizes_know_powers_of_two_and_of_ten(text: str, size_bytes: int) -> None:
    assert quantity.parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "rate"), [("200mbit", 2 * 10**8), ("1Gbit", 10**9), ("2.5gbit", 25 * 10**8)]
)
def test_bit_rates_are_powers_of_ten(text: str, rate: int) -> None:
    assert quantity.parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [("35ms", 35 * 10**6), ("90s", 90 * 10**9), ("2us", 2000), ("0", 0), ("1.5m", 90 * 10**9)],
)
def test_durations_become_nanoseconds(text: str, duration_ns: int) -> None:
    assert quantity.parse_duration(text) == duration_ns


def test_a_percentage_and_a_plain_fraction_are_the_same() -> None:
    assert quantity.parse_fraction("0.05%") == quantity.parse_fraction("0.0005") == 0.0005


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (quantity.parse_size, "4KX"),
        (quantity.parse_size, "-4KiB"),
        (quantity.parse_size, "0.3B"),
        (quantity.parse_size, ""),
        (quantity.parse_rate, "200"),
        (quantity.parse_rate, "200MB"),
        (quantity.parse_duration, "35"),
        (quantity.parse_duration, "soon"),
        (quantity.parse_fraction, "150%"),
        (quantity.parse_fraction, "1ms"),
        (quantity.parse_count, "1.5"),
        (quantity.parse_list, "a,,b"),
        (quantity.parse_yes, "maybe"),
    ],
)
def test_nonsense_is_refused_in_one_sentence_that_quotes_it(
    parse: Callable[[str], object], text: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    message = str(caught.value)
    assert f"'{text}'" in message
    assert message.count("\n") == 0
    assert message.endswith(".")


@given(st.integers(0, 2**62))
def test_sizes_written_are_read_back(value: int) -> None:
    assert quantity.parse_size(quantity.size_text(value)) == value


@given(st.integers(1, 10**12))
def test_rates_written_are_read_back(value: int) -> None:
    assert quantity.parse_rate(quantity.rate_text(value)) == value


@given(st.integers(0, 10**14))
def test_durations_written_are_read_back(value: int) -> None:
    assert quantity.parse_duration(quantity.duration_text(value)) == value


@given(st.floats(0, 1))
def test_fractions_written_are_read_back(value: float) -> None:
    assert quantity.parse_fraction(quantity.fraction_text(value)) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (quantity.size_text(4096), "4KiB"),
        (quantity.size_text(10**7), "10MB"),
        (quantity.rate_text(200 * 10**6), "200mbit"),
        (quantity.rate_text(2_500_000_000), "2.5gbit"),
        (quantity.duration_text(280_000), "280us"),
        (quantity.duration_text(1_500_000_000), "1.5s"),
        (quantity.fraction_text(0.0005), "0.05%"),
    ],
)
def test_quantities_are_written_in_the_unit_a_person_would_choose(text: str, expected: str) -> None:
    assert text == expected
