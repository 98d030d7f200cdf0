"""versitygw: an S3 gateway in Go that keeps objects as plain files."""

from __future__ import annotations

from pathlib import Path

from wavetank.systems.s3_server import ACCESS_KEY, PORT, SECRET_KEY, plain_files

PROGRAM = "versitygw"
REGION = "us-east-1"
KEY_NAMES = ("ROOT_ACCESS_KEY", "ROOT_SECRET_KEY")


def _arguments(root: Path) -> list[str]:
    # Without keep-alive, which is its default, every request waits for a connection of its own.
    options = ["--quiet", "--keep-alive", "--access", ACCESS_KEY, "--secret", SECRET_KEY]
    return [*options, "--region", REGION, "--port", f":{PORT}", "posix", str(root)]


SERVER = plain_files(PROGRAM, _arguments)


def loopback_command(root: Path, port: int) -> list[str]:
    """Of a server of this machine's own, on its loopback alone. Its keys are in the environment
    (`KEY_NAMES`), where other users do not see them.
    """
    options = ["--quiet", "--keep-alive", "--region", REGION, "--port", f"127.0.0.1:{port}"]
    return [PROGRAM, *options, "posix", str(root)]
