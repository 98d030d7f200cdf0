"""versitygw: an S3 gateway in Go that keeps objects as plain files."""

from __future__ import annotations

from pathlib import Path

from wavetank.systems.s3_server import ACCESS_KEY, PORT, SECRET_KEY, plain_files


def _arguments(root: Path) -> list[str]:
    # Without keep-alive, which is its default, every request waits for a connection of its own.
    options = ["--quiet", "--keep-alive", "--access", ACCESS_KEY, "--secret", SECRET_KEY]
    return [*options, "--region", "us-east-1", "--port", f":{PORT}", "posix", str(root)]


SERVER = plain_files("versitygw", _arguments)
