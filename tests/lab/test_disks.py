"""Disk models in null_blk's terms."""

from __future__ import annotations

from wavetank.lab.guest.disks import is_memory, null_blk_settings
from wavetank.study import disks
from wavetank.study.model import Disk


def test_only_a_disk_that_costs_nothing_is_plain_memory() -> None:
    named = disks.named()
    assert is_memory(named["ram"])
    assert not is_memory(named["ssd"])
    assert not is_memory(Disk(name="cached", size_bytes=1 << 30, write_cache=True))


def test_a_latency_is_a_timer_and_a_size_whole_mebibytes() -> None:
    settings = null_blk_settings(Disk(name="d", size_bytes=(64 << 20) + 1, completion_ns=60_000))
    assert settings["irqmode"] == 2
    assert settings["completion_nsec"] == 60_000
    assert settings["size"] == 65


def test_no_request_is_larger_than_one_refill_of_the_rates_budget() -> None:
    """null_blk refills every 20 ms, and a request of more than that never passes."""
    slow = null_blk_settings(Disk(name="d", size_bytes=1 << 30, rate_bytes_per_s=10 * 10**6))
    assert slow["max_sectors"] * 512 <= 10 * 10**6 * 0.02
    assert "max_sectors" not in null_blk_settings(disks.named()["ssd"])


def test_a_cache_is_advertised_only_where_there_is_one() -> None:
    assert "cache_size" not in null_blk_settings(disks.named()["ssd"])
    assert null_blk_settings(disks.parse("ssd:cache=yes"))["cache_size"] > 0
