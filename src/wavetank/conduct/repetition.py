"""The same plan and seed twice, and whether every byte of the records is the same.

Shown by `wavetank doctor --repeat`. The network has loss and jitter and every packet is digested,
so equal records mean equal behaviour to the last packet.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.session import Tools
from wavetank.runs.directory import TRIALS, Run

REQUEST = Request(
    systems=["local", "nfs4.2", "iscsi"],
    networks=["realistic"],
    workload="batch",
    parameters={"file-size": ["1MiB"], "set-size": ["16MiB"], "duration": ["20s"]},
    packet_digest=True,
    question="Does the same plan with the same seed give the same bytes?",
)


class Repetition(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. `difference` says where the two runs part, None where they don't."""

    trials: int
    packets: int
    difference: str | None

    @property
    def identical(self) -> bool:
        """Whether every byte was the same."""
        return self.difference is None

    @property
    def sentence(self) -> str:
        """The result for people."""
        if self.difference is None:
            return (
                f"{self.trials} trials with {self.packets} packets ran twice "
                "and gave the same bytes."
            )
        return f"the two runs differ: {self.difference}."


def run_twice(tools: Tools) -> Repetition:
    """Runs the plan into two temporary directories and compares them."""
    plan = make_plan(REQUEST)
    with tempfile.TemporaryDirectory(prefix="wavetank-repeat-") as folder:
        paths = [Path(folder) / "first", Path(folder) / "second"]
        first, second = (session.start(path, plan, tools, None, nobody) for path in paths)
        same = (paths[0] / TRIALS).read_bytes() == (paths[1] / TRIALS).read_bytes()
        return Repetition(
            trials=len(first.trials),
            packets=sum(t.link.packets_captured for t in first.trials if t.link is not None),
            difference=_lost(first) or _lost(second) or (None if same else _parting(first, second)),
        )


def _lost(run: Run) -> str | None:
    """A trial that gave no numbers proves nothing."""
    for trial in run.trials:
        if trial.status != "ok":
            return f"a trial was {trial.status}: {trial.reason}"
    return None


def _parting(first: Run, second: Run) -> str:
    for planned, one, other in zip(first.plan.trials, first.trials, second.trials, strict=True):
        for field in msgspec.structs.fields(one):
            if getattr(one, field.name) != getattr(other, field.name):
                operation = planned.cell.workload.parameters.get("operation", "")
                return f"{planned.cell.system.name} {operation} in {field.name}"
    return "in the order of the records"
