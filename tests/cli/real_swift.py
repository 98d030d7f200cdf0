"""A real OpenStack Swift on loopback: one proxy, account, container and object server, one replica.

Its files are made afresh in a directory of the test's; every process is ended by its own id.
"""

from __future__ import annotations

import getpass
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PIPELINE = (
    "catch_errors gatekeeper healthcheck cache listing_formats bulk tempauth copy slo dlo "
    "versioned_writes"
)
UP_S = 180.0


@contextmanager
def swift(bin_folder: Path, memcached: str, root: Path) -> Iterator[str]:
    """The URL where tokens come from; user `test:tester`, key `testing`."""
    ports = dict(zip(("proxy", "account", "container", "object", "cache"), _free(5), strict=True))
    _write_files(root, ports)
    for ring in ("account", "container", "object"):
        builder = str(root / f"{ring}.builder")
        device = "--region 1 --zone 1 --ip 127.0.0.1 --device d1 --weight 1 --port"
        for words in ("create 6 1 0", f"add {device} {ports[ring]}", "rebalance"):
            program = [str(bin_folder / "swift-ring-builder"), builder, *words.split()]
            subprocess.run(program, cwd=root, check=True, capture_output=True, timeout=180)
    commands = [[memcached, *f"-l 127.0.0.1 -p {ports['cache']} -m 16 -u nobody".split()]]
    commands += [
        [str(bin_folder / f"swift-{name}-server"), str(root / f"{name}.conf")]
        for name in ("account", "container", "object", "proxy")
    ]
    with ExitStack() as stack:
        for command in commands:
            stack.enter_context(_running(command, root))
        for port in ports.values():
            _wait_for(port)
        yield f"http://127.0.0.1:{ports['proxy']}/auth/v1.0"


@contextmanager
def _running(command: list[str], root: Path) -> Iterator[None]:
    with (root / "log").open("ab") as log:
        process = subprocess.Popen(command, cwd=root, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def _free(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_for(port: int) -> None:
    deadline_s = time.monotonic() + UP_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline_s, f"nothing on port {port}"
            time.sleep(0.05)


def _write_files(root: Path, ports: dict[str, int]) -> None:
    (root / "devices/d1").mkdir(parents=True)
    (root / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n"
    )
    shared = f"workers = 0\nuser = {getpass.getuser()}\nswift_dir = {root}\n"
    shared += f"log_address = {root}/none\n"
    for name in ("account", "container", "object"):
        (root / f"{name}.conf").write_text(
            f"[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {ports[name]}\n{shared}"
            f"devices = {root}/devices\nmount_check = false\ndisable_fallocate = true\n"
            f"db_preallocation = off\n[pipeline:main]\npipeline = {name}-server\n"
            f"[app:{name}-server]\nuse = egg:swift#{name}\n"
        )
    plain = [name for name in PIPELINE.split() if name not in ("cache", "tempauth")]
    filters = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in plain)
    (root / "proxy.conf").write_text(
        f"[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {ports['proxy']}\n{shared}"
        f"[pipeline:main]\npipeline = {PIPELINE} proxy-server\n"
        "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n"
        "allow_account_management = true\n[filter:cache]\nuse = egg:swift#memcache\n"
        f"memcache_servers = 127.0.0.1:{ports['cache']}\n[filter:tempauth]\n"
        f"use = egg:swift#tempauth\nuser_test_tester = testing .admin\n{filters}"
    )
