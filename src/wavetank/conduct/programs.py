"""Whether the programs a plan's systems are made of are installed, asked before a guest boots."""

from __future__ import annotations

from collections.abc import Callable

from wavetank import systems
from wavetank.conduct.doctor import PACKAGES, find_program
from wavetank.errors import WavetankError
from wavetank.runs.records import Plan
from wavetank.systems.object_programs import CACHED


class ProgramMissing(WavetankError):
    """A system needs a program that this machine lacks."""


def is_installed(program: str) -> bool:
    """Whether the guest, which sees this machine's files, will find the program."""
    return find_program(program) is not None


def require_programs(plan: Plan, installed: Callable[[str], bool] = is_installed) -> None:
    """Raises ProgramMissing with the command that installs all that is lacking."""
    lacking: dict[str, str] = {}
    asked: set[str] = set()
    for system in (trial.cell.system for trial in plan.trials):
        for program in systems.programs_for(system.name, system.options):
            if program not in asked and not installed(program):
                lacking[program] = system.name
            asked.add(program)
    if lacking:
        needs = ", ".join(f"{name} needs {program}" for program, name in lacking.items())
        raise ProgramMissing(f"{needs}: not installed. Try: {_remedy(list(lacking))}")


def _remedy(lacking: list[str]) -> str:
    """The commands that install all of it, in one line."""
    commands = []
    packages = {PACKAGES.get(name, name) for name in lacking if name not in CACHED}
    if packages:
        commands.append(f"sudo apt-get install {' '.join(sorted(packages))}")
    installers = {CACHED[name].installer for name in lacking if name in CACHED}
    if installers:
        commands.append(f"sh install/object.sh {' '.join(sorted(installers))}")
    return " && ".join(commands)
