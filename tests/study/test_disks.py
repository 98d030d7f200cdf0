"""Claims about modelled disks: names, changes, what is refused."""

from __future__ import annotations

import pytest

from wavetank.errors import UsageError
from wavetank.study import disks


def test_ram_costs_nothing() -> None:
    disk = disks.parse("ram")
    assert (disk.completion_ns, disk.rate_bytes_per_s) == (0, None)


def test_a_7200_rpm_disk_serves_one_request_at_a_time() -> None:
    disk = disks.parse("hdd-7200")
    assert disk.queue_depth == 1
    assert 60e9 / 7200 / 2 < disk.completion_ns < 60e9 / 7200


def test_an_unstated_size_is_left_to_planning() -> None:
    assert all(disk.size_bytes == 0 for disk in disks.named().values())


@pytest.mark.parametrize(
    "text",
    [
        "ssd",
        "ram:size=4GiB",
        "ssd:completion=80us:rate=500MB/s:depth=32:cache=yes:size=4GiB",
        "hdd-7200:completion=12ms",
    ],
)
def test_a_disk_is_written_as_it_is_read(text: str) -> None:
    assert disks.notation(disks.parse(text)) == text


def test_every_disk_has_a_summary() -> None:
    assert set(disks.SUMMARIES) == set(disks.named())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sdd", "did you mean ssd"),
        ("tape", "hdd-7200"),
        ("ssd:speed=3", "'speed=3'"),
        ("ssd:completion", "'completion'"),
        ("ssd:completion=fast", "'fast'"),
        ("ram:completion=1ms", "ram"),
        ("ssd:size=1MiB", "64MiB"),
        ("ssd:rate=1KB", "1MB/s"),
        ("ssd:depth=0", "'0'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        disks.parse(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
