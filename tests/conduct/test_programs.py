"""Claims about programs that systems need."""

from __future__ import annotations

import pytest

from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.programs import ProgramMissing, require_programs

REQUEST = Request(systems=["nfs3", "local"], networks=["ideal-100"], workload="batch")


def test_what_is_lacking_is_told_with_the_command_that_installs_it() -> None:
    with pytest.raises(ProgramMissing) as caught:
        require_programs(make_plan(REQUEST), lambda program: program.startswith("mkfs"))
    message = str(caught.value)
    assert "nfs3 needs rpc.mountd" in message
    assert message.endswith("sudo apt-get install nfs-kernel-server rpcbind")
    assert "mkfs" not in message


def test_a_machine_that_has_all_is_not_held_up() -> None:
    asked: list[str] = []

    def installed(program: str) -> bool:
        asked.append(program)
        return True

    require_programs(make_plan(REQUEST), installed)
    assert "rpc.mountd" in asked
