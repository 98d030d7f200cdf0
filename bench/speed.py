#!/usr/bin/env python3
"""How fast the tank is: simulated seconds per wall second, what a second worker adds, boot time.

Everything is taken from the runs' own records. The wall time of a trial (`wall_s` in wall.jsonl)
is the host's, from the end of the trial before it, or from the guest's boot, to the arrival of its
record: path, verification of the network (once for each network and guest), file system, filling,
mounting, measuring, and taking all of that down again. Boot (`boot_wall_s`) is apart: from the
start of the guest's process to the first line from its init. Simulated seconds are those of the
measured phase alone. So

    speed     simulated_ns of the trial / its wall_s, one guest at a time
    boot      boot_wall_s + wall_s of a trial that writes one file of 4 KiB: from nothing to the
              first operation, and on to the end of that trial
    workers   wall time of one plan with one worker / with two, guests' boots included

Cases take turns, every other round backwards, so that a busy machine hurts all of them; figures
are medians over the rounds.

    bench/speed.py [--rounds N] [--only speed|boot|workers] [--json FILE] [--check]

With --check the exit code is 1 when a target is missed. Measure on a quiet machine: the load
average is printed with the result. Needs `wavetank kernel build` and the built binaries.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from wavetank.conduct import session
from wavetank.conduct.events import nobody
from wavetank.conduct.planning import Request, make_plan
from wavetank.conduct.session import Tools
from wavetank.conduct.tools import find_tools
from wavetank.runs.directory import Run

SYSTEMS = ["nfs4.2", "iscsi"]
NAMES = {"nfs4.2": "NFS 4.2", "iscsi": "iSCSI", "local": "local"}
WORKERS_CORES = 2


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be reached, `at_most` where less is better."""

    value: float
    at_most: bool = False

    def met(self, figure: float) -> bool:
        return figure <= self.value if self.at_most else figure >= self.value

    def __str__(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that is measured; `measure` gives a figure for each of its names."""

    kind: str
    target: Target
    measure: Callable[[Tools, Path], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of a name's figures, and whether that is enough."""

    name: str
    unit: str
    median: float
    figures: list[float]
    target: str
    met: bool


def speed(label: str, network: str, parameters: dict[str, list[str]]) -> Case:
    """Simulated seconds per wall second of both systems, writing and reading."""
    target = {"latency": 100.0, "100 Mbit/s": 10.0, "1 Gbit/s": 0.8}[label]

    def measure(tools: Tools, folder: Path) -> dict[str, float]:
        request = Request(
            systems=SYSTEMS, networks=[network], workload="batch", parameters=parameters
        )
        run = conducted(tools, folder, request, workers=1)
        return {
            f"{label}, {described(planned.cell.system.name, planned.cell.workload.parameters)}": (
                trial.simulated_ns / 1e9 / wall.wall_s
            )
            for planned, trial, wall in zip(run.plan.trials, run.trials, run.walls, strict=True)
        }

    return Case("speed", Target(target), measure)


def described(system: str, parameters: dict[str, str | int | float | bool]) -> str:
    return f"{NAMES[system]} {parameters['operation']}"


def boot(tools: Tools, folder: Path) -> dict[str, float]:
    """From the start of a guest to the end of its first trial, a file of 4 KiB."""
    request = Request(
        systems=SYSTEMS,
        networks=["ideal-100"],
        workload="single-file",
        parameters={"file-size": ["4KiB"], "operation": ["write"]},
    )
    run = conducted(tools, folder, request, workers=1)
    figures = {}
    for planned, wall in zip(run.plan.trials, run.walls, strict=True):
        name = NAMES[planned.cell.system.name]
        figures[f"boot and first trial, {name}"] = wall.boot_wall_s + wall.wall_s
    return figures


def workers(tools: Tools, folder: Path) -> dict[str, float]:
    """The gain of a second worker on a plan of sixteen trials in eight guests."""
    request = Request(
        systems=SYSTEMS,
        networks=["realistic"],
        workload="batch",
        parameters={"file-size": ["1MiB"], "threads": ["8"], "duration": ["30s"]},
        repeats=4,
    )
    walls = {}
    for count in (1, WORKERS_CORES):
        started = time.monotonic()
        conducted(tools, folder / str(count), request, count)
        walls[count] = time.monotonic() - started
    return {"two workers over one": walls[1] / walls[WORKERS_CORES]}


CASES = [
    speed("latency", "1gbit/200ms", {"file-size": ["4KiB"], "duration": ["90s"]}),
    # The papers' batch as it is: 2 GiB, at most 90 s.
    speed("100 Mbit/s", "ideal-100", {"file-size": ["16MiB"]}),
    speed("1 Gbit/s", "ideal-1000", {"file-size": ["16MiB"]}),
    Case("boot", Target(1.5, at_most=True), boot),
    Case("workers", Target(1.8), workers),
]
UNITS = {"speed": "x", "boot": "s", "workers": "x"}


def conducted(tools: Tools, folder: Path, request: Request, workers: int) -> Run:
    """The request's run; ends the program when a trial gave no numbers."""
    run = session.start(folder, make_plan(request), tools, workers, nobody)
    for trial in run.trials:
        if trial.status != "ok":
            sys.exit(f"a trial was {trial.status}: {trial.reason}")
    return run


def measured(cases: list[Case], rounds: int, tools: Tools) -> list[Figure]:
    found: dict[str, list[float]] = {}
    case_of: dict[str, Case] = {}
    for number in range(rounds):
        for case in cases if number % 2 == 0 else reversed(cases):
            with tempfile.TemporaryDirectory(prefix="wavetank-speed-") as folder:
                for name, figure in case.measure(tools, Path(folder) / "run").items():
                    found.setdefault(name, []).append(figure)
                    case_of[name] = case
            print(f"round {number + 1} of {rounds}: {case.kind} done", file=sys.stderr)
    return [
        Figure(
            name=name,
            unit=UNITS[case_of[name].kind],
            median=statistics.median(figures),
            figures=figures,
            target=str(case_of[name].target),
            met=case_of[name].target.met(statistics.median(figures)),
        )
        for name, figures in sorted(found.items(), key=lambda item: cases.index(case_of[item[0]]))
    ]


def machine() -> dict[str, str | int | float]:
    return {
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "load_average_1min": round(os.getloadavg()[0], 2),
        "load_average_5min": round(os.getloadavg()[1], 2),
    }


def print_table(figures: list[Figure]) -> None:
    width = max(len(figure.name) for figure in figures)
    print(f"{'':{width}}  {'median':>9}  {'least':>8}  {'most':>8}  {'target':>8}")
    for one in figures:
        print(
            f"{one.name:{width}}  {one.median:7.2f} {one.unit}  {min(one.figures):8.2f}  "
            f"{max(one.figures):8.2f}  {one.target:>8}  {'met' if one.met else 'MISSED'}"
        )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=sorted(UNITS), help="one kind of figure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    cases = [case for case in CASES if options.only in (None, case.kind)]
    before = machine()
    figures = measured(cases, options.rounds, find_tools())
    after = machine()
    print_table(figures)
    print(
        f"{options.rounds} rounds on {before['cores']} cores; load average (1 min) "
        f"{before['load_average_1min']} before, {after['load_average_1min']} after"
    )
    if options.json:
        result = {
            "rounds": options.rounds,
            "before": before,
            "after": after,
            "figures": [asdict(figure) for figure in figures],
        }
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    missed = [figure.name for figure in figures if not figure.met]
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
