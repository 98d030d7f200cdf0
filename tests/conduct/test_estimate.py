"""Claims about what a plan is said to take before it runs."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from wavetank.conduct import estimate
from wavetank.conduct.planning import Request, make_plan
from wavetank.study.model import LOOPBACK, Cell, Network, SystemChoice

MakeCell = Callable[..., Cell]


def test_a_full_link_takes_the_time_its_bytes_need(make_cell: MakeCell) -> None:
    cell = make_cell("single-file", network="ideal-100", file_size="64MiB")
    payload_bytes_per_s = 100e6 / 8 * 1448 / 1514
    assert estimate.of_trial(cell).simulated_s == pytest.approx(64 * 2**20 / payload_bytes_per_s)


def test_small_direct_calls_take_a_round_trip_each(make_cell: MakeCell) -> None:
    cell = make_cell("access-unit", network="latency-50", access="direct", unit="4KiB")
    assert estimate.of_trial(cell).simulated_s == pytest.approx(4096 * 0.05)


def test_read_ahead_needs_fewer(make_cell: MakeCell) -> None:
    cell = make_cell("access-unit", network="latency-50", access="sync", unit="4KiB")
    assert estimate.of_trial(cell).simulated_s == pytest.approx(128 * 0.05)


def test_threads_wait_together(make_cell: MakeCell) -> None:
    cell = make_cell(
        network="1gbit/50ms", file_size="4KiB", set_size="4MiB", duration="1h", threads="8"
    )
    assert estimate.of_trial(cell).simulated_s == pytest.approx(1024 * 0.05 / 8)


@pytest.mark.parametrize("network", ["latency-50", "realistic"])
def test_no_batch_is_longer_than_its_duration(make_cell: MakeCell, network: str) -> None:
    cell = make_cell(network=network, file_size="16MiB", duration="20s")
    assert estimate.of_trial(cell).simulated_s == 20


def test_loss_slows_a_long_path(make_cell: MakeCell) -> None:
    clean, lossy = (
        estimate.of_trial(make_cell("single-file", network=name, file_size="16MiB"))
        for name in ("latency-50", "realistic")
    )
    assert lossy.simulated_s > 1.5 * clean.simulated_s


def test_a_local_disk_takes_what_its_model_says(make_cell: MakeCell) -> None:
    plan = make_plan(
        Request(
            systems=["local"],
            networks=["ideal-100"],
            workload="single-file",
            parameters={"operation": ["write"], "file-size": ["64MiB"]},
            disk="ssd:rate=64MiB/s",
        )
    )
    assert estimate.of_trial(plan.trials[0].cell).simulated_s == pytest.approx(1.0)


def test_a_plan_takes_what_its_trials_take_less_with_more_workers() -> None:
    plan = make_plan(
        Request(
            systems=["nfs4.2", "iscsi"],
            networks=["ideal-100"],
            workload="batch",
            parameters={"file-size": ["4KiB", "1MiB"]},
        )
    )
    indices = range(len(plan.trials))
    one, two = (estimate.of_plan(plan, indices, workers) for workers in (1, 2))
    assert one.simulated_s == two.simulated_s
    assert one.wall_s > two.wall_s >= one.wall_s / 2
    assert estimate.of_plan(plan, [], 2).wall_s == 0


def test_requests_over_rest_take_their_duration_and_the_more_wall_time_the_more_they_are(
    make_cell: MakeCell,
) -> None:
    alone, many = (
        estimate.of_trial(make_cell("object", system="s3", network="latency-50", parallel=count))
        for count in ("1", "64")
    )
    assert alone.simulated_s == many.simulated_s == 10
    assert alone.wall_s < many.wall_s
    swift = estimate.of_trial(make_cell("object", system="swift", network="latency-50"))
    assert swift.wall_s > alone.wall_s
    # Asked by S3 it is as dear.
    cell = make_cell("object", system="s3", network="latency-50")
    asked = msgspec.structs.replace(cell, system=SystemChoice("s3", {"server": "swift"}))
    assert estimate.of_trial(asked) == swift


@pytest.mark.parametrize(("workload", "system"), [("batch", "nfs4.2"), ("object", "s3")])
def test_by_the_real_clock_a_trial_takes_its_duration_and_what_stands_around_it(
    make_cell: MakeCell, workload: str, system: str
) -> None:
    """However much gets done in it; only what is laid out before grows with that."""
    on = {"system": system, "network": "latency-50", "clock": "real"}
    short, long = (
        estimate.of_trial(make_cell(workload, **on, duration=duration))
        for duration in ("10s", "100s")
    )
    assert (short.simulated_s, long.simulated_s) == (10, 100)
    assert short.wall_s > 10
    assert long.wall_s - short.wall_s == pytest.approx(90, rel=0.05)


def test_on_the_loopback_a_trial_takes_its_duration(make_cell: MakeCell) -> None:
    lab = make_cell("object", system="s3", network="ideal-1000", operation="get", duration="2s")
    here = msgspec.structs.replace(lab, network=Network(name=LOOPBACK), clock="real")
    assert estimate.of_trial(here).simulated_s == 2
    assert 2 < estimate.of_trial(here).wall_s < 5
