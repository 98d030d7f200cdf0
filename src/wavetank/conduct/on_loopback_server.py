"""An S3 server of this machine's own, on its loopback, for as long as a study on the host takes.

It keeps its objects in a temporary directory that goes with it, listens on 127.0.0.1 alone, and has
keys that are drawn for it and known to it and the load engine only.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from wavetank.conduct.on_host_engine import dying_with_us
from wavetank.errors import WavetankError
from wavetank.systems import object_programs, s3_versitygw
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.object_requests import Requests
from wavetank.workloads.object_job import Store

BUCKET = "wavetank"
START_S, LOOK_EVERY_S, ENDING_S = 30.0, 0.05, 10.0


class ServerFailed(WavetankError):
    """The server did not start."""


class LoopbackServer(msgspec.Struct, frozen=True):
    """A server that is up. `tree` holds the bucket's objects as plain files."""

    url: str
    tree: Path
    credentials: Path

    def store(self, prefix: str) -> Store:
        """The engine's words for a prefix of the bucket."""
        return Store(
            protocol="s3",
            endpoint=self.url,
            container=BUCKET,
            prefix=prefix,
            region=s3_versitygw.REGION,
            credentials_file=str(self.credentials),
        )


@contextmanager
def serving() -> Iterator[LoopbackServer]:
    """The server up with an empty bucket; nothing of it is left afterwards. Raises ServerFailed."""
    with tempfile.TemporaryDirectory(prefix="wavetank-s3-") as folder:
        root, log = Path(folder) / "root", Path(folder) / "log"
        root.mkdir()
        keys = secrets.token_hex(8), secrets.token_hex(16)
        port = _free_port()
        name, *arguments = s3_versitygw.loopback_command(root, port)
        command = dying_with_us([object_programs.find(name), *arguments])
        environment = os.environ | dict(zip(s3_versitygw.KEY_NAMES, keys, strict=True))
        with log.open("wb") as said:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=environment,
                process_group=0,
            )
        try:
            _wait_for(process, port, log)
            url = f"http://127.0.0.1:{port}"
            _make_bucket(url, keys)
            yield LoopbackServer(url, root / BUCKET, _credentials(Path(folder), keys))
        finally:
            _end(process)


def _make_bucket(url: str, keys: tuple[str, str]) -> None:
    user, key = keys
    requests = Requests(Endpoint(dialect="s3", url=url, container=BUCKET, user=user, key=key))
    try:
        requests.make_container(BUCKET)
    finally:
        requests.close()


def _credentials(folder: Path, keys: tuple[str, str]) -> Path:
    path = folder / "credentials"
    path.touch(mode=0o600)
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    path.write_text("".join(f"{name} = {key}\n" for name, key in zip(names, keys, strict=True)))
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), START_S).close()
            return
        except OSError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                said = log.read_text(errors="replace").strip().splitlines() or ["nothing"]
                raise ServerFailed(
                    f"versitygw did not answer on the loopback within {START_S:g} s; "
                    f"it said: {said[-1]}"
                ) from error
        time.sleep(LOOK_EVERY_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
