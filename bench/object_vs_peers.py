"""wavetank-load's object backend against rclone (AWS SDK for Go v2) on one versitygw.

Requests per second and per CPU-second of the client, PUT and GET of 4 KiB and 16 MiB at 1, 8 and 64
connections. rclone moves a tree in /dev/shm with its checks off, so that each file is one request;
it starts once per run, and that second counts neither for it nor for the engine: both are timed
inside, the engine by its record and rclone by a run of no files, which is taken off.

    python bench/object_vs_peers.py --load target/x86_64-unknown-linux-gnu/release/wavetank-load \
        --versitygw versitygw --rclone rclone
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ACCESS, SECRET = "benchaccess", "benchsecret"
SIZES = {4096: 1500, 16 << 20: 16}
CONNECTIONS = (1, 8, 64)
DEADLINE_S = 300


@dataclass(frozen=True, slots=True)
class Cost:
    """What `requests` requests took: wall and the client's CPU, in seconds."""

    requests: int
    wall_s: float
    cpu_s: float

    def row(self) -> str:
        per_cpu = self.requests / max(self.cpu_s, 1e-3)
        return f"{self.requests / max(self.wall_s, 1e-3):10.0f} {per_cpu:12.0f}"


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


def engine(program: str, port: int, size: int, count: int, connections: int) -> dict[str, Cost]:
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


def rclone(program: str, port: int, size: int, count: int, connections: int) -> dict[str, Cost]:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", required=True)
    parser.add_argument("--versitygw", default="versitygw")
    parser.add_argument("--rclone", default="rclone")
    chosen = parser.parse_args()
    out = sys.stdout.write
    out(f"{'':24}{'engine':>23}   {'rclone':>23}\n")
    out(f"{'':24}" + "   ".join([f"{'req/s':>10} {'req/CPU-s':>12}"] * 2) + "\n")
    with (
        tempfile.TemporaryDirectory() as root,
        versitygw(chosen.versitygw, Path(root)) as port,
    ):
        for size, count in SIZES.items():
            for connections in CONNECTIONS:
                ours = engine(chosen.load, port, size, count, connections)
                theirs = rclone(chosen.rclone, port, size, count, connections)
                for what in ("put", "get"):
                    name = f"{what} {size >> 10} KiB x {connections}"
                    out(f"{name:24}{ours[what].row()}   {theirs[what].row()}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
