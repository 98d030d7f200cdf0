"""rclone as a server: `rclone serve s3` on plain files, which it calls experimental."""

from __future__ import annotations

from pathlib import Path

from wavetank.systems.s3_server import ACCESS_KEY, PORT, SECRET_KEY, plain_files


def _arguments(root: Path) -> list[str]:
    keys = ["--auth-key", f"{ACCESS_KEY},{SECRET_KEY}"]
    return ["serve", "s3", *keys, "--addr", f":{PORT}", "--config", "/dev/null", str(root)]


SERVER = plain_files("rclone", _arguments)
