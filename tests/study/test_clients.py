"""Claims about declared clients: what can be said of them, and what is refused."""

from __future__ import annotations

import msgspec
import pytest

from wavetank.errors import UsageError
from wavetank.study import clients, disks
from wavetank.study.model import Cell, Client, Disk, Network, SystemChoice, WorkloadChoice


def test_nothing_said_is_no_client_and_leaves_digests_as_they_were() -> None:
    (found,) = clients.of_words([], [], [])
    assert found is msgspec.UNSET
    cell = Cell(
        system=SystemChoice("s3", {}),
        network=Network(name="n"),
        disk=Disk(name="d", size_bytes=1),
        workload=WorkloadChoice("object", {}),
        clock="virtual",
        cache_state="cold",
        seed=1,
    )
    assert b"client" not in msgspec.json.encode(cell)
    assert msgspec.structs.replace(cell, client=Client()).digest != cell.digest


def test_every_combination_is_a_client() -> None:
    found = clients.of_words(["c16-magnetic", "ram"], ["112MiB", "240MiB"], [])
    assert [
        (one.disk.name, one.memory_bytes)
        for one in found
        if isinstance(one, Client) and one.disk is not None
    ] == [(name, size << 20) for name in ("c16-magnetic", "ram") for size in (112, 240)]


def test_processors_stand_alone() -> None:
    assert clients.of_words([], [], ["0.1"]) == [Client(processors=0.1)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((["ssd"], [], []), "client-disk goes with client-memory"),
        (([], ["64MiB"], []), "client-memory goes with client-disk"),
        ((["sdd"], ["64MiB"], []), "did you mean ssd"),
        ((["ssd"], ["1MiB"], []), "at least 16MiB"),
        ((["ssd"], ["20000001B"], []), "multiple of 4KiB"),
        (([], [], ["much"]), "'much' is not a number"),
        (([], [], ["0"]), "0.01 to 1024"),
        (([], [], ["nan"]), "'nan'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(
    words: tuple[list[str], list[str], list[str]], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        clients.of_words(*words)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_table_ii_of_c16_has_two_disks_that_read_and_write_at_their_own_rates() -> None:
    magnetic, ssd = disks.parse_client("c16-magnetic"), disks.parse_client("c16-ssd")
    assert (magnetic.read_rate_bytes_per_s, magnetic.write_rate_bytes_per_s) == (
        61_600_000,
        23_200_000,
    )
    assert ssd.write_rate_bytes_per_s == 82_700_000
    changed = "c16-ssd:completion=1ms:write-rate=70MB/s"
    assert disks.notation(disks.parse_client(changed)) == changed


@pytest.mark.parametrize("text", ["c16-ssd", "hdd-7200:read-rate=80MB/s"])
def test_a_servers_disk_has_one_rate(text: str) -> None:
    with pytest.raises(UsageError, match="a client's disk"):
        disks.parse(text)


def test_memory_has_no_rate_of_writing() -> None:
    with pytest.raises(UsageError, match="ram has no latency, rate"):
        disks.parse_client("ram:write-rate=20MB/s")
