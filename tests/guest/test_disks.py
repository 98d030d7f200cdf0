"""Each trial's disk is empty, though all trials of a guest share one memory disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guest import inside, tank

from wavetank.conduct.planning import Request
from wavetank.conduct.session import Tools

pytestmark = pytest.mark.guest


def test_nothing_of_a_trial_is_left_on_the_memory_disk(tools: Tools, tmp_path: Path) -> None:
    """mkfs trusts it to be zeros: of an inode left there, ext4 said "doubly allocated?"."""
    request = Request(
        systems=["local"],
        networks=["ideal-100"],
        workload="batch",
        parameters={"set-size": ["1MiB"]},
        disk="ram:size=512MiB",
    )
    disk = tank.cells(request)[0].disk
    (found,) = tank.ask_guest(
        tools, [inside.DiskAgain(disk)], inside.DiskAgainAnswer, tmp_path / "console"
    )
    assert found.seen_by_writer == 2 * inside.PAGE_BYTES
    assert found.seen_by_next == 0
