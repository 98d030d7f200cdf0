"""Claims about fitted lines, the models of amplification, and the policies of access."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from sample_rows import IDEAL, KIB, LATENCY, MIB, UNITS, row

from wavetank.analysis.amplification import fit_amplification, overhead_bytes_per_file
from wavetank.analysis.fits import fit_line
from wavetank.analysis.policies import access_policies
from wavetank.analysis.rows import CellRow


def test_a_line_is_found_exactly_where_there_is_one() -> None:
    line = fit_line([1.0, 2.0, 5.0], [3.0, 5.0, 11.0])
    assert line is not None
    assert (line.slope, line.intercept) == pytest.approx((2.0, 1.0))
    assert line.slope_interval is not None
    assert line.slope_interval.high - line.slope_interval.low < 1e-6
    assert line.at(10) == pytest.approx(21.0)


def test_two_points_have_a_line_and_no_interval_and_one_has_none() -> None:
    line = fit_line([1.0, 2.0], [3.0, 5.0])
    assert line is not None
    assert line.slope_interval is None
    assert fit_line([1.0, 1.0], [3.0, 5.0]) is None


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    xs = np.linspace(1, 10, 8)
    hits = 0
    for _ in range(400):
        line = fit_line(xs.tolist(), (4 + 3 * xs + rng.normal(0, 2, len(xs))).tolist())
        assert line is not None
        assert line.slope_interval is not None
        hits += line.slope_interval.spans(3.0)
    assert 0.91 < hits / 400 < 0.99


def single(constant_kib: float, noise: float = 0.0) -> list[CellRow]:
    rng = np.random.default_rng(1)
    return [
        row(
            "iscsi",
            IDEAL,
            "single-file",
            "read",
            1e6,
            amplification=(1.06 + constant_kib * KIB / size) * (1 + noise * rng.normal()),
            file_size_bytes=size,
        )
        for size in UNITS
    ]


def test_the_constant_of_a_single_read_is_recovered_beside_the_published_one() -> None:
    (fit,) = fit_amplification(single(148))
    assert fit.constant_bytes == pytest.approx(148 * KIB)
    assert fit.base == pytest.approx(1.06)
    assert [one.low_bytes for one in fit.published] == [148 * KIB]
    assert fit.ratio_at(4 * KIB) == pytest.approx(1.06 + 37)


def test_the_interval_of_the_constant_holds_it_under_noise() -> None:
    (fit,) = fit_amplification(single(148, noise=0.03))
    assert fit.constant_interval is not None
    assert fit.constant_interval.spans(148 * KIB)


def test_threads_share_one_constant() -> None:
    rows = [
        row(
            "iscsi",
            IDEAL,
            "batch",
            "write",
            1e6,
            amplification=1.1 + 36 / (4 * n),
            file_size_bytes=4 * KIB,
            threads=n,
        )
        for n in (1, 2, 4, 8, 16)
    ]
    (fit,) = fit_amplification(rows)
    assert fit.model == "batch-write-threads"
    assert fit.constant_bytes == pytest.approx(36 * KIB)


def test_too_few_sizes_are_not_fitted() -> None:
    assert fit_amplification(single(148)[:2]) == []


def test_overhead_is_what_the_content_does_not_explain() -> None:
    one = row("nfs3", IDEAL, "batch", "read", 1e6, amplification=2.5, file_size_bytes=4096)
    assert overhead_bytes_per_file(one) == pytest.approx(1.5 * 4096)


def by_unit(operation: str, rates: list[float], amplification: float = 1.05) -> list[CellRow]:
    return [
        row(
            "iscsi",
            LATENCY,
            "access-unit",
            operation,
            rate,
            amplification=amplification,
            unit_bytes=unit,
            file_size_bytes=16 * MIB,
        )
        for unit, rate in zip(UNITS, rates, strict=True)
    ]


@pytest.mark.parametrize(
    ("operation", "rates", "amplification", "policy"),
    [
        ("write", [8e4, 3e5, 1e6, 2e6, 4e6, 8e6, 9e6], 1.05, "write-through"),
        ("read", [8e4, 3e5, 1e6, 2e6, 4e6, 8e6, 9e6], 1.05, "read-through"),
        ("read", [4e6, 4e6, 4e6, 4e6, 4e6, 8e6, 9e6], 1.05, "read-ahead"),
        ("write", [9e6] * 7, 1.05, "write-back"),
        ("read", [9e6] * 7, 1.05, "read-ahead"),
        ("write", [1e9] * 7, 0.1, "buffered"),
        ("read", [2e5, 9e5, 2e6, 3e6, 4e6, 5e6, 6e6], 1.05, "unclear"),
    ],
)
def test_policies_follow_from_rates_and_the_link(
    operation: str, rates: list[float], amplification: float, policy: str
) -> None:
    (found,) = access_policies(by_unit(operation, rates, amplification))
    assert found.policy == policy
    assert found.because


def test_without_latency_the_rise_over_the_units_tells() -> None:
    rates = [8e6, 9e6, 10e6, 11e6, 12e6, 12e6, 12.5e6]
    near = [
        msgspec.structs.replace(one, network=IDEAL.name, network_declared=IDEAL)
        for one in by_unit("read", rates)
    ]
    assert [one.policy for one in access_policies(near)] == ["read-through"]


def test_too_few_units_have_no_policy() -> None:
    assert access_policies(by_unit("read", [9e6] * 7)[:3]) == []
