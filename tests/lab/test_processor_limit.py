"""Claims about limits of processor time: what the kernel is told, what it keeps, what is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wavetank.lab.host import processor_limit
from wavetank.lab.host.processor_limit import NoProcessorLimit, ProcessorLimit, quota_settings

SPIN = """
import os, sys, time
if sys.argv[1]:
    open(sys.argv[1], "w").write("0")
until, used = time.monotonic() + 1.5, time.process_time()
while time.monotonic() < until:
    pass
print(time.process_time() - used)
"""


def test_a_quota_is_at_least_a_millisecond_of_its_period() -> None:
    assert quota_settings("cgroup v1", 0.25) == {
        "cpu.cfs_period_us": "10000",
        "cpu.cfs_quota_us": "2500",
    }
    assert quota_settings("cgroup v2", 0.02) == {"cpu.max": "1000 50000"}
    assert quota_settings("cgroup v2", 2.0) == {"cpu.max": "20000 10000"}


@pytest.fixture
def way() -> ProcessorLimit:
    try:
        return processor_limit.find()
    except NoProcessorLimit as error:
        pytest.skip(str(error))


def test_a_process_gets_the_share_that_it_is_declared(way: ProcessorLimit) -> None:
    with way.held(0.2) as held:
        done = subprocess.run(
            [*held.prefix, sys.executable, "-c", SPIN, str(held.procs or "")],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        counts = held.counts()
    # 0.3 s; a busy machine gives less, no machine gives more, but for the period it begins in.
    assert 0.01 < float(done.stdout) < 0.4
    if held.procs is not None:
        assert int(counts["nr_throttled"]) > 0
        assert not held.procs.exists()


def test_the_group_is_gone_when_the_body_raises(way: ProcessorLimit) -> None:
    with pytest.raises(KeyError), way.held(0.5) as held:
        raise KeyError
    assert held.procs is None or not held.procs.parent.exists()


def test_where_nothing_limits_a_sentence_says_what_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine with a version 2 that delegates nothing, and no systemd."""
    (tmp_path / "cgroup.subtree_control").write_text("memory pids\n")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"cgroup2 {tmp_path} cgroup2 rw 0 0\nproc /proc proc rw 0 0\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoProcessorLimit) as caught:
        processor_limit.find(mounts)
    assert "systemd-run --user --scope does not work" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_delegated_controller_is_taken(tmp_path: Path) -> None:
    """Version 2 where the cpu controller is on for groups below the root: files as it has them."""
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    way = ProcessorLimit("cgroup v2", tmp_path)
    with way.held(0.1) as held:
        assert held.procs == tmp_path / f"wavetank-{os.getpid()}" / "cgroup.procs"
        assert (held.procs.parent / "cpu.max").read_text() == "1000 10000"
        (held.procs.parent / "cpu.max").unlink()  # a real group's files go with it
