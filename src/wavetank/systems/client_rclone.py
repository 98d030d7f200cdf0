"""rclone mount: files are whole objects, streamed, or written back from a local copy."""

from __future__ import annotations

from pathlib import Path

from wavetank import quantity
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems.bed import CLIENT_ROOT
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.object_client import Client, count


def command(endpoint: Endpoint, settings: Settings, folder: Path) -> list[str]:
    """rclone in the foreground."""
    (folder / "rclone.conf").write_text(_remote(endpoint))
    arguments = ["rclone", "mount", f"store:{endpoint.container}", str(CLIENT_ROOT)]
    arguments += ["--config", str(folder / "rclone.conf"), "--cache-dir", str(folder / "cache")]
    arguments += ["--vfs-cache-mode", str(settings["cache_mode"])]
    arguments += ["--vfs-write-back", f"{int(settings['write_back_ns']) / 1e9:.3f}s"]
    arguments += ["--transfers", str(settings["parallel"])]
    return [*arguments, "--vfs-read-chunk-size", f"{settings['read_chunk_bytes']}B"]


def _remote(endpoint: Endpoint) -> str:
    """The endpoint in the words of rclone's configuration."""
    if endpoint.dialect == "swift":
        lines = ["type = swift", f"user = {endpoint.user}", f"key = {endpoint.key}"]
        lines += [f"auth = {endpoint.url}"]
    else:
        lines = ["type = s3", "provider = Other", f"endpoint = {endpoint.url}"]
        lines += [f"access_key_id = {endpoint.user}", f"secret_access_key = {endpoint.key}"]
        lines += [f"region = {endpoint.region}", "force_path_style = true"]
    return "\n".join(["[store]", *lines, ""])


CLIENT = Client(
    "rclone",
    "rclone mount",
    lambda _settings: ("rclone", "fusermount3"),
    (
        Parameter(
            "cache-mode",
            "cache_mode",
            "off",
            one_of("off", "minimal", "writes", "full"),
            "off streams; the others write back from a local copy after the close",
        ),
        Parameter(
            "write-back", "write_back_ns", "5s", quantity.parse_duration, "how long after the close"
        ),
        Parameter("parallel", "parallel", "4", count, "files uploaded at once"),
        Parameter(
            "read-chunk", "read_chunk_bytes", "128MiB", quantity.parse_size, "first range asked for"
        ),
    ),
    command,
)
