"""Steady throughput of one phase: which part of its series counts, and the rate over that part.

The warm-up is found by MSER-5 (White, Cobb and Spratt, WSC 2000), bounded to the first half; the
tail after the first worker ran out of work is left out. A phase too short for that is rated as a
whole and says so. docs/method/statistics.md explains the rule and its limits.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from wavetank.runs.records import PhaseRecord

NS_PER_S = 1_000_000_000
BATCH_BINS = 5
LEAST_BATCHES = 10
LEAST_OPERATIONS = 30
LARGEST_DRIFT = 0.2
# An edge of the window takes at most this part of it: 1/4.
MOST_OF_AN_EDGE = 4

Values = np.ndarray[Any, np.dtype[np.float64]]


class SteadyRate(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of the primary operation over the window [`start_ns`, `end_ns`) of the phase.

    `steady` is false when the whole phase had to serve; `reason` then says why.
    """

    operations_per_s: float
    bytes_per_s: float
    start_ns: int
    end_ns: int
    steady: bool
    reason: str | None = None


def steady_rate(phase: PhaseRecord) -> SteadyRate:
    """Throughput of the primary operation of `phase`, warm-up and tail left out if it can be."""
    operations = np.asarray(phase.series.operations, dtype=np.float64)
    usable = min(len(operations), phase.busy_until_ns // phase.series.bin_ns)
    operations = operations[:usable]
    if usable < BATCH_BINS * LEAST_BATCHES:
        return _whole_phase(
            phase, f"{usable} full time bins, fewer than {BATCH_BINS * LEAST_BATCHES}"
        )
    batches = operations[: usable - usable % BATCH_BINS].reshape(-1, BATCH_BINS).mean(axis=1)
    warm_up = mser_truncation(batches)
    if warm_up is None:
        return _whole_phase(phase, "the rate had not settled")
    start = warm_up * BATCH_BINS
    count = int(operations[start:].sum())
    if count < LEAST_OPERATIONS:
        return _whole_phase(
            phase, f"{count} operations after the warm-up, fewer than {LEAST_OPERATIONS}"
        )
    return _weighted_rate(phase, start, usable)


def whole_rate(phase: PhaseRecord) -> SteadyRate:
    """Throughput of all of `phase`, warm-up included, to its last completion."""
    return _whole_phase(phase, "asked for as a whole")


def _weighted_rate(phase: PhaseRecord, start: int, end: int) -> SteadyRate:
    """The rate over the bins [start, end), soft at both edges.

    Operations come in bunches (eight workers end their files together), so a sharp window would
    gain or lose most of a bunch with the place where it is cut. Weights that rise and fall over
    one bunch's time, the longest gap between completions, count whole bunches wherever the cut
    falls: exactly so for a periodic series.
    """
    counts = np.asarray(phase.series.operations[start:end], dtype=np.float64)
    sizes = np.asarray(phase.series.bytes[start:end], dtype=np.float64)
    (completions,) = np.nonzero(counts)
    longest_gap = int(np.diff(completions).max(initial=1))
    weights = _soft_window(len(counts), min(longest_gap, len(counts) // MOST_OF_AN_EDGE))
    seconds = float(weights.sum()) * phase.series.bin_ns / NS_PER_S
    return SteadyRate(
        operations_per_s=float((counts * weights).sum()) / seconds,
        bytes_per_s=float((sizes * weights).sum()) / seconds,
        start_ns=start * phase.series.bin_ns,
        end_ns=end * phase.series.bin_ns,
        steady=True,
    )


def _soft_window(length: int, edge: int) -> Values:
    """Weights of `length` bins: 1, but rising and falling linearly over `edge` bins at the ends."""
    middle = np.arange(length) + 0.5
    return np.asarray(np.minimum(1.0, np.minimum(middle, middle[::-1]) / max(edge, 1)))


def mser_truncation(batches: Values) -> int | None:
    """How many leading batches to leave out, or None where no steady state is seen.

    Minimises the squared standard error of what is left, sum((y - mean)^2) / m^2 over the m
    batches left, among truncations of at most the first half. None where the minimum lies on that
    bound (the series never settled: Hoad, Robinson and Davies 2010) or where the two halves of
    what is left differ by more than `LARGEST_DRIFT` (it settled, and then changed).
    """
    bound = len(batches) // 2
    best = int(np.argmin(_squared_standard_errors(batches)[: bound + 1]))
    if best == bound:
        return None
    kept = batches[best:]
    early, late = kept[: len(kept) // 2].mean(), kept[len(kept) // 2 :].mean()
    if abs(early - late) > LARGEST_DRIFT * max(early, late):
        return None
    return best


def _squared_standard_errors(batches: Values) -> Values:
    """Of what is left after leaving out 0, 1, 2, ... leading batches, from suffix sums."""
    left = np.arange(len(batches), 0, -1, dtype=np.float64)
    centred = batches - batches.mean()
    sums = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum((centred**2)[::-1])[::-1]
    deviation = squares - sums**2 / left
    # Rounding must not choose among truncations that differ by nothing else.
    deviation[deviation < 1e-12 * float((batches**2).sum())] = 0.0
    return np.asarray(deviation / left**2)


def _whole_phase(phase: PhaseRecord, reason: str) -> SteadyRate:
    """The rate from the beginning to the last completion, or to the end where it stalled."""
    primary = phase.operations[0]
    end_ns = max(_last_completion_ns(phase), 1)
    return SteadyRate(
        operations_per_s=primary.count * NS_PER_S / end_ns,
        bytes_per_s=primary.bytes * NS_PER_S / end_ns,
        start_ns=0,
        end_ns=end_ns,
        steady=False,
        reason=reason,
    )


def _last_completion_ns(phase: PhaseRecord) -> int:
    """Where the last operation completed, if a duration cut the one after it short; the phase's
    end where the set ended it, or where the wait since then is longer than any before it.
    """
    (completions,) = np.nonzero(np.asarray(phase.series.operations))
    if phase.ended_by != "duration" or len(completions) < 2:
        return phase.elapsed_ns
    longest = int(np.diff(completions, prepend=-1).max())
    last_ns = (int(completions[-1]) + 1) * phase.series.bin_ns
    if phase.elapsed_ns - last_ns > longest * phase.series.bin_ns:
        return phase.elapsed_ns
    return min(last_ns, phase.elapsed_ns)
