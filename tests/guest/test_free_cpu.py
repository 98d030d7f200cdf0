"""With a free CPU nobody may wait for ever: what spins lets time pass, what works does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guest import inside, tank

from wavetank.conduct.session import Tools

pytestmark = pytest.mark.guest

# WAVETANK_ASKED_FREE and WAVETANK_ASKED_NS of kernel/patches/0004-*.patch.
FREE, EACH_S = 65536, 1e-6
# A jiffy (1/250 s): after it the scheduler looks for who else wants the CPU.
TICK_S = 0.004


def test_a_task_that_keeps_asking_for_its_turn_lets_time_pass(tools: Tools, tmp_path: Path) -> None:
    """Else the task it waits for, which a tick had stopped, would never run again."""
    asks = [inside.Asking(FREE // 2), inside.Asking(2 * FREE)]
    work, spin = tank.ask_guest(tools, asks, inside.AskingAnswer, tmp_path / "console")
    assert work.seconds < TICK_S / 10
    assert spin.seconds == pytest.approx(FREE * EACH_S, rel=0.01)
