"""A guest can't change the host: root of a guest tries in every way it can think of."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.lab import attack

from wavetank.lab.errors import GuestDied
from wavetank.lab.host import kernel
from wavetank.lab.host.guest import Guest, GuestSpec, namespaces_allowed

DEADLINE_S = 300.0
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def importable_in_guest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guests of these tests run modules of this folder."""
    monkeypatch.syspath_prepend(str(CHECKOUT))


def mounts() -> set[str]:
    """This machine's, a line for each: others may be added by whoever else is at work here."""
    return set(Path("/proc/self/mountinfo").read_text().splitlines())


def lay_out(root: Path) -> None:
    root.mkdir()
    (root / "file").write_bytes(b"as it was")
    (root / "victim").write_bytes(b"as it was")
    (root / "folder").mkdir()
    (root / "link").symlink_to("file")


def state(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything about a tree that an attack could change."""
    found = {}
    for path in [root, *sorted(root.rglob("*"))]:
        info = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (info.st_mode, info.st_uid, info.st_nlink, info.st_mtime_ns, content)
    return found


@contextmanager
def victims(folder: Path) -> Iterator[dict[str, str]]:
    """A process, a listener and a socket file of the host's, for a guest to reach for."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as file:
        file.bind(str(folder / "socket"))
        file.listen()
        victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        try:
            yield {
                "victim_pid": str(victim.pid),
                "port": str(listener.getsockname()[1]),
                "socket": str(folder / "socket"),
            }
            assert victim.poll() is None, "the guest ended a process of the host's"
        finally:
            victim.kill()
            victim.wait()


def boot(entry: str, job: dict[str, str], log: Path) -> Guest:
    return Guest(
        GuestSpec(
            kernel=kernel.find().path,
            memory_bytes=512 << 20,
            clock="virtual",
            seed=1,
            syscall_ns=0,
            job=json.dumps(job).encode(),
            log=log,
            name="attacker",
            entry=entry,
        )
    )


def first_line(guest: Guest) -> bytes:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        for line in guest.lines(1.0):
            return line
    raise AssertionError("the guest said nothing")


def read_to_the_end(guest: Guest, lines: list[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        lines += guest.lines(0.5)


def test_every_attack_on_a_directory_hurts_one_that_is_not_protected(tmp_path: Path) -> None:
    lay_out(tmp_path / "canary")
    before = state(tmp_path / "canary")
    harmless = {
        name for name, worked in attack.against_directory(tmp_path / "canary").items() if not worked
    }
    assert harmless == set()
    assert state(tmp_path / "canary") != before


@pytest.mark.guest
@pytest.mark.skipif(not namespaces_allowed(), reason="this user may make no namespaces")
def test_root_of_a_guest_can_not_change_the_host(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    lay_out(canary)
    before, host_name = state(canary), os.uname().nodename
    mounts_before, clock_before_s = mounts(), time.time() - time.monotonic()
    with victims(tmp_path) as reachable:
        job = {"canary": str(canary), **reachable}
        with boot("tests.lab.attack", job, tmp_path / "log") as guest:
            worked = json.loads(first_line(guest))["worked"]
    assert worked == []
    assert state(canary) == before
    assert os.uname().nodename == host_name
    assert mounts_before <= mounts()
    assert not [one for one in mounts() - mounts_before if str(tmp_path) in one]
    assert abs(time.time() - time.monotonic() - clock_before_s) < 60, "the host's clock was set"


@pytest.mark.guest
def test_a_link_the_guest_leaves_is_not_followed_by_the_host(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"a secret of the host":1}\n')
    job = {"target": str(secret)}
    with boot("tests.lab.link_records", job, tmp_path / "log") as guest:
        lines: list[bytes] = []
        with pytest.raises(GuestDied):
            read_to_the_end(guest, lines)
        assert lines == []


@pytest.mark.guest
def test_a_guest_leaves_nothing_behind_when_its_starter_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; sys.path.insert(0, '.')\n"
        "from tests.lab import test_isolation as t\n"
        "g = t.boot('tests.lab.sleeper', {}, Path(sys.argv[1])); g.__enter__()\n"
        "print(t.first_line(g).decode(), flush=True); time.sleep(600)\n"
    )
    mounts_before = mounts()
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        cwd=CHECKOUT,
    )
    assert starter.stdout is not None
    starter.stdout.readline()
    started = descendants(starter.pid)
    assert any("mem=512M" in command for command in started.values()), "no guest runs"
    starter.kill()
    starter.wait()
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline and any(alive(pid) for pid in started):
        time.sleep(0.05)
    assert [command for pid, command in started.items() if alive(pid)] == []
    # Those of other guests of this machine come and go.
    assert [name for name in os.listdir("/dev/shm") if f"-{starter.pid}-" in name] == []
    assert mounts_before <= mounts()
    assert not [one for one in mounts() - mounts_before if "wavetank" in one]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(root: int) -> dict[int, str]:
    """Processes below `root`, with their command lines."""
    parents, commands = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            parents[int(folder.name)], commands[int(folder.name)] = int(stat[1]), command
    below: dict[int, str] = {}
    grown = True
    while grown:
        grown = False
        for pid, parent in parents.items():
            if pid not in below and (parent == root or parent in below):
                below[pid] = commands[pid]
                grown = True
    return below
