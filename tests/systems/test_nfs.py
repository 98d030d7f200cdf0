"""Claims about the end of an NFS trial, where the next one must find nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavetank.lab.errors import LabError
from wavetank.systems import nfs

HEADING = "NV SERVER   PORT USE HOSTNAME\n"
STILL_KNOWN = HEADING + "v4 0a000201  801   1 10.0.2.1\n"


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "servers"
    monkeypatch.setattr(nfs, "KNOWN_SERVERS", path)
    return path


def test_the_server_stays_until_the_client_has_said_goodbye(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.write_text(STILL_KNOWN)
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 3:
            known.write_text(HEADING)

    monkeypatch.setattr("time.sleep", sleep)
    nfs.wait_until_forgotten()
    assert len(naps) == 3


def test_a_client_that_has_gone_is_not_waited_for(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.write_text(HEADING)
    monkeypatch.setattr("time.sleep", pytest.fail)
    nfs.wait_until_forgotten()


def test_a_client_that_never_goes_costs_the_trial(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.write_text(STILL_KNOWN)
    monkeypatch.setattr(nfs, "GOODBYE_S", 0.02)
    with pytest.raises(LabError, match="still knows its server"):
        nfs.wait_until_forgotten()
