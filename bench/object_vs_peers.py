"""wavetank-load's object backend against what warp and rclone do, on one versitygw.

Requests per second and per CPU-second of the client, PUT and GET of 4 KiB and 16 MiB at 1, 8 and
64 connections. warp itself can't be had where Go's module proxy does not serve it, so its client
library stands in for it: minio-go, in `minio_load/`, built by Go. rclone (AWS SDK for Go v2) moves
a tree in /dev/shm with its checks off, so that each file is one request. Starting up counts for
nobody: the engine and minio_load time their requests inside, from rclone a run of no files is taken
off. No payload is hashed or signed. A peer that is not here is left out with a line.

    python bench/object_vs_peers.py [--rounds 3] [--size 16MiB] [--connections 64]

Each cell is measured by all in turn, so that a busy machine is busy for all; of several rounds the
median stands. Exit code 1 where the engine is behind a peer in any cell.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ACCESS, SECRET = "benchaccess", "benchsecret"
SIZES = {"4KiB": 4096, "16MiB": 16 << 20}
CONNECTIONS = (1, 8, 64)
DEADLINE_S = 300
CHECKOUT = Path(__file__).resolve().parent.parent
ENGINE = CHECKOUT / "target/x86_64-unknown-linux-gnu/release/wavetank-load"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PROGRAMS = CACHE / "wavetank/programs/bin"
MEASURES = ("req/s", "req/CPU-s")


def requests_of(size: int, connections: int) -> int:
    """Enough for a second or so; of the large ones two for each connection."""
    return 2000 if size < 1 << 20 else max(32, 2 * connections)


@dataclass(frozen=True, slots=True)
class Cost:
    """What `requests` requests took: wall and the client's CPU, in seconds."""

    requests: int
    wall_s: float
    cpu_s: float

    def rates(self) -> tuple[float, float]:
        """Requests per second, and per CPU-second."""
        return self.requests / max(self.wall_s, 1e-3), self.requests / max(self.cpu_s, 1e-3)


Costs = dict[str, Cost]
# Program, port, size, requests, connections.
Measure = Callable[[str, int, int, int, int], Costs]


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "AWS_ACCESS_KEY_ID": ACCESS,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "ROOT_ACCESS_KEY": ACCESS,
        "ROOT_SECRET_KEY": SECRET,
    }


@contextmanager
def versitygw(program: str, root: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [program, "--keep-alive", "--quiet", "--region", "us-east-1"]
    command += ["--port", f"127.0.0.1:{port}", "posix", str(root)]
    server = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=10)


def timed(command: list[str]) -> tuple[float, float, bytes]:
    """Wall seconds, CPU seconds and output of one program. Raises where it fails."""
    before, began = os.times(), time.monotonic()
    done = subprocess.run(
        command, env=environment(), stdout=subprocess.PIPE, timeout=DEADLINE_S, check=True
    )
    wall_s, after = time.monotonic() - began, os.times()
    cpu_s = after.children_user - before.children_user
    cpu_s += after.children_system - before.children_system
    return wall_s, cpu_s, done.stdout


def engine(program: str, port: int, size: int, count: int, connections: int) -> Costs:
    job = {
        "schema": 1,
        "backend": "object",
        "seed": 1,
        "object": {
            "protocol": "s3",
            "endpoint": f"http://127.0.0.1:{port}",
            "container": "bench",
            "prefix": f"engine-{size}-{connections}/",
            "create_container": True,
        },
        "set": {"objects": count, "object_size_bytes": size},
        "phases": [
            {"name": name, "action": name, "threads": connections}
            for name in ("put", "get", "delete")
        ],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(job, file)
        file.flush()
        _, _, output = timed([program, file.name, "--output", "-"])
    costs = {}
    for record in map(json.loads, output.splitlines()):
        cpu_s = (record["user_cpu_ns"] + record["system_cpu_ns"]) / 1e9
        done = record["operations"][0]["count"]
        costs[record["phase"]] = Cost(done, record["elapsed_ns"] / 1e9, cpu_s)
    return costs


def rclone(program: str, port: int, size: int, count: int, connections: int) -> Costs:
    remote = (
        f":s3,provider=Other,env_auth=true,endpoint='http://127.0.0.1:{port}',"
        "region=us-east-1,no_check_bucket=true,no_head=true,disable_checksum=true,"
        f"upload_cutoff=1G,use_unsigned_payload=true:bench/rclone-{size}-{connections}"
    )
    options = ["--config", "", "--transfers", str(connections), "--checkers", "4", "--no-traverse"]
    options += ["--no-check-dest", "--ignore-checksum", "--multi-thread-streams", "0"]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        source, target, none = (Path(name) / part for part in ("source", "target", "none"))
        source.mkdir()
        none.mkdir()
        for index in range(count):
            (source / f"{index:08}").write_bytes(os.urandom(4096) * (size // 4096))
        idle_wall_s, idle_cpu_s, _ = timed([program, "copy", *options, str(none), remote])
        costs = {}
        for what, ends in (("put", (str(source), remote)), ("get", (remote, str(target)))):
            wall_s, cpu_s, _ = timed([program, "copy", *options, *ends])
            costs[what] = Cost(count, wall_s - idle_wall_s, cpu_s - idle_cpu_s)
        timed([program, "purge", "--config", "", remote])
    return costs


def minio(program: str, port: int, size: int, count: int, connections: int) -> Costs:
    words = [f"127.0.0.1:{port}", "bench", f"minio-{size}-{connections}/"]
    _, _, output = timed([program, *words, str(size), str(count), str(connections)])
    told = map(json.loads, output.splitlines())
    return {one["phase"]: Cost(one["requests"], one["wall_s"], one["cpu_s"]) for one in told}


def built_minio(folder: Path) -> str | None:
    """minio_load, built by Go; None, with a line, where that can't be."""
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        sys.stderr.write("minio-go is left out: no Go here to build it with\n")
        return None
    program = str(folder / "minio_load")
    command = [go, "build", "-trimpath", "-buildvcs=false", "-o", program, "."]
    where = Path(__file__).parent / "minio_load"
    done = subprocess.run(
        command, cwd=where, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode != 0:
        sys.stderr.write(f"minio-go is left out: {done.stderr.strip()[-300:]}\n")
        return None
    return program


def peers(chosen: argparse.Namespace, folder: Path) -> dict[str, tuple[Measure, str]]:
    """Those that are here, the engine first."""
    found: dict[str, tuple[Measure, str]] = {"engine": (engine, str(chosen.load))}
    if (program := built_minio(folder)) is not None:
        found["minio-go"] = (minio, program)
    if (program := shutil.which(chosen.rclone)) is not None:
        found["rclone"] = (rclone, program)
    else:
        sys.stderr.write(f"rclone is left out: no {chosen.rclone}\n")
    return found


def medians(rounds: list[Costs], what: str) -> tuple[float, float]:
    seconds, cpu_seconds = zip(*(costs[what].rates() for costs in rounds), strict=True)
    return statistics.median(seconds), statistics.median(cpu_seconds)


def row(name: str, rates: dict[str, tuple[float, float]]) -> tuple[str, bool]:
    """A line of the table, and whether the engine is behind."""
    cells = [f"{rate:10.0f} {per_cpu:10.0f}" for rate, per_cpu in rates.values()]
    others = [pair for who, pair in rates.items() if who != "engine"]
    lead = [
        min((rates["engine"][which] / pair[which] for pair in others), default=1.0)
        for which in range(len(MEASURES))
    ]
    cells.append(f"{lead[0]:10.2f} {lead[1]:10.2f}")
    return f"{name:18}" + "  ".join(cells) + "\n", min(lead) < 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--load", default=ENGINE, help="the engine")
    parser.add_argument("--versitygw", default=str(PROGRAMS / "versitygw"))
    parser.add_argument("--rclone", default=str(PROGRAMS / "rclone"))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--size", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--connections", nargs="+", type=int, default=CONNECTIONS)
    chosen = parser.parse_args()
    out, behind = sys.stdout.write, False
    with (
        tempfile.TemporaryDirectory() as root,
        tempfile.TemporaryDirectory() as built,
        versitygw(chosen.versitygw, Path(root)) as port,
    ):
        those = peers(chosen, Path(built))
        names = [*those, "over the best"]
        out(f"{'':18}" + "  ".join(f"{name:>21}" for name in names) + "\n")
        out(f"{'':18}" + "  ".join(["".join(f"{m:>11}" for m in MEASURES)[1:]] * len(names)) + "\n")
        for size, connections in ((s, c) for s in chosen.size for c in chosen.connections):
            count = requests_of(SIZES[size], connections)
            rounds: dict[str, list[Costs]] = {name: [] for name in those}
            for turn in range(chosen.rounds):
                order = list(those.items())
                first = turn % len(order)
                for name, (measure, program) in order[first:] + order[:first]:
                    os.sync()  # what one has written is not written back at another's expense
                    costs = measure(program, port, SIZES[size], count, connections)
                    rounds[name].append(costs)
            for what in ("put", "get"):
                rates = {name: medians(told, what) for name, told in rounds.items()}
                line, lost = row(f"{what} {size} x {connections}", rates)
                behind |= lost
                out(line)
                sys.stdout.flush()
    return int(behind)


if __name__ == "__main__":
    sys.exit(main())
