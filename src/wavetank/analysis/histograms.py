"""Latency histograms: read from a record, merged, and asked for percentiles.

Percentiles always come from merged counts; averaging percentiles of parts has no meaning. The
encoding is HdrHistogram's V2 compressed form in base64 (values in ns), read by the `hdrhistogram`
package; counting is done here over arrays, because thousands of cells are read for one report.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram

from wavetank.analysis.errors import UnlikeHistogramsError, UnreadableHistogramError

Counts = np.ndarray[Any, np.dtype[np.int64]]

_UNREADABLE = (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    binascii.Error,
    zlib.error,
    ValueError,
)


class LatencyHistogram(msgspec.Struct, frozen=True):
    """Counts per HdrHistogram index, trailing zeros cut.

    An index stands for a range of values; `unit_magnitude` and `half_count_magnitude` (log2 of
    half the sub-buckets) fix which. The highest trackable value does not: histograms that grew
    to different sizes still merge.
    """

    counts: Counts
    unit_magnitude: int
    half_count_magnitude: int

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def percentile_ns(self, percentile: float) -> int:
        """Highest value equivalent to the one at `percentile` (0..100), as HdrHistogram has it.

        The value at rank max(1, floor(percentile/100 * total + 1/2)). Of an empty histogram: 0.
        """
        total = self.total
        if total == 0:
            return 0
        rank = max(1, int(percentile / 100 * total + 0.5))
        index = int(np.searchsorted(np.cumsum(self.counts), rank, side="left"))
        return self._highest_value(index)

    def mean_ns(self) -> float:
        """Mean of the values that the counts stand for, at most 0.1 % above the true one; of an
        empty histogram: 0.
        """
        (indices,) = np.nonzero(self.counts)
        values = [self._highest_value(int(index)) for index in indices]
        return float(np.dot(self.counts[indices], values)) / max(self.total, 1)

    def _highest_value(self, index: int) -> int:
        half_count = 1 << self.half_count_magnitude
        bucket = (index >> self.half_count_magnitude) - 1
        sub_bucket = (index & (half_count - 1)) + half_count
        if bucket < 0:
            sub_bucket -= half_count
            bucket = 0
        return ((sub_bucket + 1) << (bucket + self.unit_magnitude)) - 1


def decode_histogram(encoded: str) -> LatencyHistogram:
    """The histogram of an `OperationRecord`. Raises `UnreadableHistogramError`."""
    try:
        histogram = HdrHistogram.decode(encoded)
    except _UNREADABLE as error:
        raise UnreadableHistogramError(
            f"a latency histogram that starts '{encoded[:12]}' is not HdrHistogram's V2 compressed "
            f"form ({error or type(error).__name__}). Try: run the trial again; the record is cut "
            "off or damaged."
        ) from error
    counts = np.frombuffer(histogram.counts, dtype=np.uint64).astype(np.int64)
    return LatencyHistogram(
        np.trim_zeros(counts, "b"),
        histogram.unit_magnitude,
        histogram.sub_bucket_half_count_magnitude,
    )


def merge_histograms(parts: Sequence[LatencyHistogram]) -> LatencyHistogram:
    """All counts of `parts` (at least one) in one histogram. Raises `UnlikeHistogramsError`."""
    first = parts[0]
    for part in parts[1:]:
        layout = (part.unit_magnitude, part.half_count_magnitude)
        if layout != (first.unit_magnitude, first.half_count_magnitude):
            raise UnlikeHistogramsError(
                "latency histograms of different precision can't be merged: "
                f"{layout} beside {(first.unit_magnitude, first.half_count_magnitude)} "
                "(log2 of unit, of half the sub-buckets). Try: compare runs of one engine version."
            )
    counts = np.zeros(max(len(part.counts) for part in parts), dtype=np.int64)
    for part in parts:
        counts[: len(part.counts)] += part.counts
    return LatencyHistogram(counts, first.unit_magnitude, first.half_count_magnitude)
