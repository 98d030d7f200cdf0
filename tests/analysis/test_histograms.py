"""Histograms: what hdrhistogram wrote is read alike, merged without loss, and never averaged."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import histogram

from wavetank.analysis.errors import UnlikeHistogramsError, UnreadableHistogramError
from wavetank.analysis.histograms import decode_histogram, merge_histograms

LATENCIES = st.lists(st.integers(1, 3600 * 10**9), min_size=1, max_size=200)
PERCENTILES = (1, 50, 90, 99, 99.9, 100)


@given(LATENCIES)
def test_percentiles_are_those_of_the_reference_implementation(latencies: list[int]) -> None:
    reference = HdrHistogram(1, 3600 * 10**9, 3)
    for value in latencies:
        reference.record_value(value)
    ours = decode_histogram(histogram(latencies))
    assert [ours.percentile_ns(p) for p in PERCENTILES] == [
        reference.get_value_at_percentile(p) for p in PERCENTILES
    ]


@given(LATENCIES)
def test_a_mean_is_that_of_the_values_within_a_thousandth(latencies: list[int]) -> None:
    mean = sum(latencies) / len(latencies)
    assert mean <= decode_histogram(histogram(latencies)).mean_ns() <= mean * 1.002 + 1


@given(LATENCIES, LATENCIES)
def test_merged_parts_equal_the_whole(left: list[int], right: list[int]) -> None:
    merged = merge_histograms([decode_histogram(histogram(part)) for part in (left, right)])
    whole = decode_histogram(histogram([*left, *right]))
    assert merged.total == whole.total == len(left) + len(right)
    assert [merged.percentile_ns(p) for p in PERCENTILES] == [
        whole.percentile_ns(p) for p in PERCENTILES
    ]


def test_a_merged_percentile_is_not_the_mean_of_percentiles() -> None:
    fast, slow = histogram([1_000] * 99), histogram([1_000_000])
    merged = merge_histograms([decode_histogram(fast), decode_histogram(slow)])
    assert merged.percentile_ns(50) == 1_000


def test_histograms_that_grew_to_different_sizes_merge() -> None:
    small, large = HdrHistogram(1, 4096, 3), HdrHistogram(1, 10**12, 3)
    small.record_value(4000)
    large.record_value(10**11)
    parts = [decode_histogram(one.encode().decode()) for one in (small, large)]
    merged = merge_histograms(parts)
    assert merged.total == 2
    assert merged.percentile_ns(100) == pytest.approx(10**11, rel=1e-3)


def test_histograms_of_different_precision_refuse_to_merge() -> None:
    parts = [HdrHistogram(1, 10**9, digits) for digits in (2, 3)]
    for part in parts:
        part.record_value(5)
    with pytest.raises(UnlikeHistogramsError, match="precision"):
        merge_histograms([decode_histogram(part.encode().decode()) for part in parts])


def test_the_load_engines_own_encoding_is_read() -> None:
    """48 writes of 1 MiB over 100 Mbit/s, as wavetank-load 0.1.0 recorded them; max 104000256."""
    found = decode_histogram("HISTFAAAACh4nJNpmSzMwMDAxgABzFCakYFBIO7zbAUG+w8QgZszmJjY4wB4AgZ2")
    assert found.total == 48
    assert found.percentile_ns(100) == pytest.approx(104_000_256, rel=1e-3)


@pytest.mark.parametrize("damaged", ["", "HISTFAAA", "not base64!", "AAAA" * 20])
def test_a_damaged_histogram_is_named_as_such(damaged: str) -> None:
    with pytest.raises(UnreadableHistogramError, match="V2 compressed"):
        decode_histogram(damaged)


def test_a_cut_off_histogram_is_named_as_such() -> None:
    whole = histogram(range(1, 5000, 7))
    with pytest.raises(UnreadableHistogramError):
        decode_histogram(whole[: len(whole) // 2 // 4 * 4])


def test_an_empty_histogram_has_no_latency() -> None:
    assert decode_histogram(histogram([])).percentile_ns(99) == 0
