#!/usr/bin/env python3
"""The load engine against fio on the same file: throughput and CPU per operation, as ratios.

One file, random 4 KiB accesses, each block at most once per pass, buffered (in the page cache)
and direct, read and write, 1 and 8 threads. Engine and fio take turns, and who begins alternates,
so that a busy machine hurts both; the figure of a case is the median of its rounds' ratios. The
engine generates new content for every block it writes and fio sends the same buffer again (its
default), so writing is the harder case for the engine.

    bench/engine_vs_fio.py [--root /mnt/disk] [--size-mib 1024] [--rounds 7] [--json FILE]

Without --root the file lies in memory (/dev/shm), where the file system takes least and what the
two programs take shows most; a disk that others use too moves single rounds by more than 5 %.
Where valgrind is installed, instructions in user space for each operation are counted as well:
they are the same however busy the machine is, and each program makes one system call.

Exit code 1 if the engine's throughput is more than 5 % below fio's, or its CPU per operation
above fio's by more than --cpu-tolerance, in any case. Needs fio and the built engine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
ENGINE = REPOSITORY / "target/x86_64-unknown-linux-gnu/release/wavetank-load"
UNIT_BYTES = 4096
SEED = 20
THROUGHPUT_FLOOR = 0.95
COUNTED_MIB = 64

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """What is done; `passes` over the file, or at most `seconds` where that is not None."""

    access: str
    action: str
    threads: int
    passes: int
    seconds: float | None

    @property
    def name(self) -> str:
        return f"{self.access} {self.action}, {self.threads} threads"


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one program."""

    operations: int
    elapsed_s: float
    cpu_s: float

    @property
    def operations_per_s(self) -> float:
        return self.operations / self.elapsed_s

    @property
    def cpu_ns_per_operation(self) -> float:
        return self.cpu_s * 1e9 / self.operations


@dataclass(frozen=True, slots=True)
class Comparison:
    """Medians over the rounds; ratios are engine / fio, paired by round."""

    case: Case
    engine_operations_per_s: float
    fio_operations_per_s: float
    throughput_ratio: float
    engine_cpu_ns_per_operation: float
    fio_cpu_ns_per_operation: float
    cpu_ratio: float
    rounds: int
    fio_command: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """In user space, for each buffered operation of one thread: no load moves them."""

    action: str
    engine: float
    fio: float


def engine_job(root: Path, size_bytes: int, phases: list[Json]) -> Json:
    return {
        "schema": 1,
        "backend": "posix",
        "root": str(root),
        "seed": SEED,
        "set": {"files": 1, "file_size_bytes": size_bytes},
        "phases": phases,
    }


def run_engine(job: Json, scratch: Path) -> list[Json]:
    """Runs `job` and returns its records, one per phase."""
    job_file = scratch / "job.json"
    job_file.write_text(json.dumps(job))
    done = subprocess.run(
        [ENGINE, job_file, "--output", "-"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"the engine failed: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure_engine(case: Case, root: Path, size_bytes: int, scratch: Path) -> Result:
    phase = {
        "name": "measure",
        "action": case.action,
        "item": "access",
        "access": "direct" if case.access == "direct" else "default",
        "unit_bytes": UNIT_BYTES,
        "order": "random",
        "threads": case.threads,
        "duration_ns": None if case.seconds is None else int(case.seconds * 1e9),
    }
    records = run_engine(engine_job(root, size_bytes, [phase] * case.passes), scratch)
    return Result(
        operations=sum(r["operations"][0]["count"] for r in records),
        elapsed_s=sum(r["elapsed_ns"] for r in records) / 1e9,
        cpu_s=sum(r["user_cpu_ns"] + r["system_cpu_ns"] for r in records) / 1e9,
    )


def fio_command(case: Case, file: Path, size_bytes: int) -> list[str]:
    """Each job draws its share of a pass from the whole file, as the engine's workers do."""
    share = size_bytes // case.threads // UNIT_BYTES * UNIT_BYTES
    command = [
        "fio",
        "--name=measure",
        f"--filename={file}",
        f"--rw=rand{case.action}",
        f"--bs={UNIT_BYTES}",
        "--ioengine=psync",
        f"--direct={int(case.access == 'direct')}",
        "--thread",
        f"--numjobs={case.threads}",
        f"--size={size_bytes}",
        f"--io_size={share * case.passes}",
        "--invalidate=0",
        "--group_reporting",
        "--output-format=json",
    ]
    if case.seconds is not None:
        command.append(f"--runtime={case.seconds:g}")
    return command


def measure_fio(case: Case, file: Path, size_bytes: int) -> Result:
    """fio's own figures; its CPU is that of the jobs' threads, start-up not included."""
    command = fio_command(case, file, size_bytes)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"fio failed: {done.stderr.strip()}")
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    side = job[case.action]
    return Result(
        operations=side["total_ios"],
        elapsed_s=side["runtime"] / 1e3,
        cpu_s=(job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3,
    )


def compare(case: Case, root: Path, size_bytes: int, rounds: int, scratch: Path) -> Comparison:
    file = root / "d00000/f000000"
    engine: list[Result] = []
    fio: list[Result] = []
    for turn in range(rounds):
        for is_engine in (True, False) if turn % 2 == 0 else (False, True):
            os.sync()
            if is_engine:
                engine.append(measure_engine(case, root, size_bytes, scratch))
            else:
                fio.append(measure_fio(case, file, size_bytes))
    pairs = list(zip(engine, fio, strict=True))
    return Comparison(
        case=case,
        engine_operations_per_s=statistics.median(r.operations_per_s for r in engine),
        fio_operations_per_s=statistics.median(r.operations_per_s for r in fio),
        throughput_ratio=statistics.median(
            e.operations_per_s / f.operations_per_s for e, f in pairs
        ),
        engine_cpu_ns_per_operation=statistics.median(r.cpu_ns_per_operation for r in engine),
        fio_cpu_ns_per_operation=statistics.median(r.cpu_ns_per_operation for r in fio),
        cpu_ratio=statistics.median(
            e.cpu_ns_per_operation / f.cpu_ns_per_operation for e, f in pairs
        ),
        rounds=rounds,
        fio_command=shlex.join(fio_command(case, Path("FILE"), size_bytes)),
    )


def count_instructions(root: Path, scratch: Path) -> list[Instructions]:
    """Callgrind's counts of one pass and of three: the difference is that of the operations."""
    size_bytes = COUNTED_MIB << 20
    operations = 2 * size_bytes // UNIT_BYTES
    file = root / "d00000/f000000"
    found = []
    for action in ("read", "write"):
        engine, fio = [], []
        for passes in (1, 3):
            case = Case("buffered", action, 1, passes, None)
            phase = {"name": "measure", "action": action, "item": "access", "order": "random"}
            phases = [{**phase, "access": "default", "unit_bytes": UNIT_BYTES, "threads": 1}]
            job = scratch / "counted.json"
            job.write_text(json.dumps(engine_job(root, size_bytes, phases * passes)))
            engine.append(instructions([str(ENGINE), str(job), "--output", "-"], scratch))
            fio.append(instructions(fio_command(case, file, size_bytes), scratch))
        found.append(
            Instructions(
                action=action,
                engine=(engine[1] - engine[0]) / operations,
                fio=(fio[1] - fio[0]) / operations,
            )
        )
    return found


def instructions(command: list[str], scratch: Path) -> int:
    """All that the command executes in user space."""
    callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/callgrind"]
    done = subprocess.run([*callgrind, *command], capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None:
        sys.exit(f"valgrind {command[0]} failed: {done.stderr.strip()[-500:]}")
    return int(counted[1])


def default_root(size_bytes: int) -> Path | None:
    """Memory, where it holds twice the file and takes O_DIRECT (Linux 6.6); else the place for
    temporary files.
    """
    memory = Path("/dev/shm")
    try:
        room = os.statvfs(memory)
        with tempfile.NamedTemporaryFile(dir=memory) as file:
            os.close(os.open(file.name, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return None
    return memory if room.f_bavail * room.f_frsize > 2 * size_bytes else None


def cases(passes: int, seconds: float) -> list[Case]:
    grid = itertools.product(("buffered", "direct"), ("read", "write"), (1, 8))
    return [
        Case(access, action, threads, passes, None)
        if access == "buffered"
        else Case(access, action, threads, 1, seconds)
        for access, action, threads in grid
    ]


def print_table(comparisons: list[Comparison]) -> None:
    print(f"{'':26} {'operations/s':>23} {'':>7} {'CPU ns/operation':>19}")
    columns = f"{'engine':>9} {'fio':>9} {'ratio':>7}"
    print(f"{'case':26} {'engine':>11} {'fio':>11} {'ratio':>7} {columns}")
    for c in comparisons:
        print(
            f"{c.case.name:26} {c.engine_operations_per_s:11,.0f} {c.fio_operations_per_s:11,.0f}"
            f" {c.throughput_ratio:7.3f} {c.engine_cpu_ns_per_operation:9,.0f}"
            f" {c.fio_cpu_ns_per_operation:9,.0f} {c.cpu_ratio:7.3f}"
        )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, help="directory on the file system to use")
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--passes", type=int, default=3, help="over the file, buffered")
    parser.add_argument("--seconds", type=float, default=3.0, help="per run, direct")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--cpu-tolerance", type=float, default=0.0)
    parser.add_argument("--json", type=Path, help="write all figures here")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    if shutil.which("fio") is None or not ENGINE.exists():
        sys.exit("needs fio (apt install fio) and the engine (cargo build --release)")
    size_bytes = arguments.size_mib << 20
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True)
    place = arguments.root or default_root(size_bytes)
    with tempfile.TemporaryDirectory(dir=place) as directory:
        scratch = Path(directory)
        root = scratch / "set"
        fill = {"name": "fill", "action": "write", "create": True, "unit_bytes": 1 << 20}
        run_engine(engine_job(root, size_bytes, [fill]), scratch)
        comparisons = []
        for case in cases(arguments.passes, arguments.seconds):
            if arguments.only in case.name:
                comparisons.append(compare(case, root, size_bytes, arguments.rounds, scratch))
                print(f"done: {case.name}", file=sys.stderr)
        counted = count_instructions(root, scratch) if shutil.which("valgrind") else []
    print(f"files in {place or tempfile.gettempdir()}")
    print_table(comparisons)
    for one in counted:
        print(f"instructions for a {one.action}: engine {one.engine:,.0f}, fio {one.fio:,.0f}")
    print("fio, last case:", comparisons[-1].fio_command if comparisons else "none run")
    missed = [
        c.case.name
        for c in comparisons
        if c.throughput_ratio < THROUGHPUT_FLOOR or c.cpu_ratio > 1 + arguments.cpu_tolerance
    ]
    missed += [f"instructions for a {one.action}" for one in counted if one.engine > one.fio]
    if arguments.json:
        document = {
            "fio": version.stdout.strip(),
            "machine": {"cores": os.cpu_count(), "kernel": platform.release()},
            "comparisons": [asdict(c) for c in comparisons],
            "instructions": [asdict(one) for one in counted],
            "missed": missed,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    for name in missed:
        print(f"missed the target: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
