"""Claims about how a client's disk is told to the kernel; that it keeps them is a guest's test."""

from __future__ import annotations

from wavetank.lab.guest.client_machine import throttle_settings
from wavetank.study import disks


def test_only_rates_apart_are_throttled_by_direction() -> None:
    assert throttle_settings(disks.parse_client("c16-magnetic")) == {
        "blkio.throttle.read_bps_device": 61_600_000,
        "blkio.throttle.write_bps_device": 23_200_000,
    }
    assert throttle_settings(disks.parse_client("ssd:write-rate=20MB/s")) == {
        "blkio.throttle.write_bps_device": 20_000_000
    }
    assert throttle_settings(disks.parse_client("hdd-7200")) == {}
