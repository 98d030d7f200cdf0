"""s3fs: files are whole objects, written to a local file and sent at the close."""

from __future__ import annotations

from pathlib import Path

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter
from wavetank.systems.bed import CLIENT_ROOT
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.object_client import Client, count

PART_LEAST_BYTES = 5 << 20


def _part(text: str) -> int:
    size = quantity.parse_size(text)
    if size < PART_LEAST_BYTES or size % (1 << 20):
        raise UsageError(f"'{text}' is not whole MiB, 5MiB at least (the least part S3 takes).")
    return size


def command(endpoint: Endpoint, settings: Settings, folder: Path) -> list[str]:
    """s3fs in the foreground."""
    passwords = folder / "passwords"
    # The form with names: in the short one a user with a colon (Swift's) is a bucket and a user.
    passwords.write_text(f"AWSAccessKeyId={endpoint.user}\nAWSSecretKey={endpoint.key}\n")
    passwords.chmod(0o600)
    options = [
        f"url={endpoint.url}",
        f"endpoint={endpoint.region}",
        "use_path_request_style",
        f"passwd_file={passwords}",
        f"tmpdir={folder}",
        f"parallel_count={settings['parallel']}",
        f"multipart_size={int(settings['part_bytes']) >> 20}",
        f"stat_cache_expire={settings['stat_cache_s']}",
    ]
    if settings["local_cache"]:
        options.append(f"use_cache={folder / 'cache'}")
    joined = ",".join(options)
    return ["s3fs", endpoint.container, str(CLIENT_ROOT), "-f", "-o", joined]


CLIENT = Client(
    "s3fs",
    "s3fs",
    lambda _settings: ("s3fs",),
    (
        Parameter("parallel", "parallel", "5", count, "parts in flight for one file"),
        Parameter("part", "part_bytes", "10MiB", _part, "size of a part"),
        Parameter("stat-cache", "stat_cache_s", "900", count, "seconds metadata is believed"),
        Parameter(
            "local-cache", "local_cache", "no", quantity.parse_yes, "whether files are kept locally"
        ),
    ),
    command,
    fails_on={
        # rclone 1.75.2: PUT of `d/` makes a file `d`, and a PUT of `d/f` then answers 500 "file
        # already exists". s3fs 1.90 has no way to go without the object.
        "rclone": "its directories, objects like d/, become plain files on this server, and "
        "nothing can be written below them (EIO)"
    },
)
