"""Object storage without a guest: settings, what programs are told, what a probe's counts mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavetank import systems
from wavetank.errors import UsageError
from wavetank.lab.errors import LabError
from wavetank.study.model import Settings
from wavetank.systems import (
    client_juicefs,
    client_rclone,
    client_s3fs,
    object_programs,
    s3_swift,
    swift,
)
from wavetank.systems.durability import Counts, classify
from wavetank.systems.endpoint import Endpoint

CHECKOUT = Path(__file__).parents[2]
S3 = Endpoint(dialect="s3", url="http://10.0.2.1:9000", container="c", user="u", key="k")
SWIFT = Endpoint(
    dialect="swift", url="http://10.0.2.1:8080/auth/v1.0", container="c", user="a:u", key="k"
)


def swift_settings(**raw: str) -> Settings:
    return systems.resolve("swift+rclone", {k.replace("_", "-"): v for k, v in raw.items()})


def configured(settings: Settings) -> dict[str, str]:
    return swift.configuration(settings, swift.PIPELINES[str(settings["pipeline"])])


@pytest.mark.parametrize(
    ("name", "raw", "told"),
    [
        ("s3+s3fs", {"server": "minio"}, "not one of versitygw, rclone, swift"),
        ("s3+s3fs", {"part": "1MiB"}, "5MiB at least"),
        ("s3+rclone", {"cache-mode": "on"}, "not one of off, minimal, writes, full"),
        ("swift+rclone", {"pipeline": "none"}, "not one of full, lean"),
        ("s3+s3fs", {"server": "rclone"}, "EIO"),
        ("swift+rclone", {"workers": "0"}, "0"),
        ("s3+juicefs", {"block": "5MiB"}, "power of two from 64KiB to 16MiB"),
        ("s3+juicefs", {"cache": "100KiB"}, "not whole MiB"),
        ("s3+juicefs", {"cache": "0B", "writeback": "yes"}, "needs a local copy"),
        ("s3+juicefs", {"buffer": "1MiB"}, "less than 32MiB"),
        ("s3+juicefs", {"meta": "sqlite3", "meta-sync": "always"}, "only with meta=redis"),
        ("s3", {"service-time": "30ms"}, "service-time goes only with server=swift"),
        ("s3", {"server": "swift", "workers": "0"}, "0"),
    ],
)
def test_what_can_not_be_meant_is_told_in_one_sentence(
    name: str, raw: dict[str, str], told: str
) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        systems.resolve(name, raw)
    assert "\n" not in str(caught.value)


def test_only_the_chosen_server_must_be_installed() -> None:
    settings = systems.resolve("s3", {"server": "rclone"})
    assert systems.programs_for("s3", settings) == ("mkfs.ext4", "rclone")
    settings = systems.resolve("s3+s3fs", {})
    assert systems.programs_for("s3+s3fs", settings) == ("mkfs.ext4", "versitygw", "s3fs")


def test_swift_forgets_what_it_sent_unless_it_is_told_to_keep_it() -> None:
    mounted = systems.get("swift+rclone")
    assert not mounted.server_caches(swift_settings())
    assert mounted.server_caches(swift_settings(keep_cache="yes"))
    kept = configured(swift_settings(keep_cache="yes"))["object-server.conf"]
    assert "keep_cache_private = true" in kept


def test_a_declared_service_time_stands_before_the_whole_pipeline() -> None:
    proxy = configured(swift_settings(service_time="30ms"))["proxy-server.conf"]
    assert "pipeline = service_time catch_errors" in proxy
    assert "seconds = 0.030000" in proxy
    proxy = configured(swift_settings())["proxy-server.conf"]
    assert "pipeline = catch_errors" in proxy


def test_every_filter_of_both_pipelines_is_configured() -> None:
    for name, pipeline in swift.PIPELINES.items():
        proxy = configured(swift_settings(pipeline=name))["proxy-server.conf"]
        assert all(f"[filter:{one}]" in proxy for one in pipeline.split())


@pytest.mark.parametrize("name", list(swift.PIPELINES))
def test_swift_signs_in_who_asks_by_s3_whichever_its_pipeline(name: str) -> None:
    settings = systems.resolve("s3", {"server": "swift", "pipeline": name})
    filters = s3_swift.pipeline(settings).split()
    assert filters.count("s3api") == 1
    assert filters.index("s3api") + 1 == filters.index("tempauth") < filters.index("slo")


def test_swift_s_settings_are_those_of_its_server_alone() -> None:
    assert "service_time_ns" not in systems.resolve("s3", {})
    settings = systems.resolve("s3+rclone", {"server": "swift", "service-time": "30ms"})
    assert settings["service_time_ns"] == 30_000_000
    assert systems.programs_for("s3", settings) == ("mkfs.ext4", "memcached", "swift-proxy-server")


def test_one_worker_is_one_process() -> None:
    files = configured(swift_settings(workers="1"))
    assert "workers = 0\n" in files["proxy-server.conf"]
    files = configured(swift_settings(workers="4"))
    assert "workers = 4\n" in files["object-server.conf"]
    assert "workers = 0\n" in files["account-server.conf"]


def test_what_is_said_reaches_the_mount(tmp_path: Path) -> None:
    settings = systems.resolve("s3+s3fs", {"part": "8MiB", "parallel": "10"})
    command = client_s3fs.command(S3, settings, tmp_path)
    assert "multipart_size=8" in command[-1]
    assert "parallel_count=10" in command[-1]
    settings = systems.resolve("s3+rclone", {"cache-mode": "writes", "write-back": "250ms"})
    command = client_rclone.command(S3, settings, tmp_path)
    assert command[command.index("--vfs-write-back") + 1] == "0.250s"
    assert "provider = Other" in (tmp_path / "rclone.conf").read_text()


def test_a_user_with_a_colon_is_no_bucket_to_s3fs(tmp_path: Path) -> None:
    client_s3fs.command(SWIFT, systems.resolve("s3+s3fs", {}), tmp_path)
    assert (tmp_path / "passwords").read_text() == "AWSAccessKeyId=a:u\nAWSSecretKey=k\n"


def said(command: list[str], name: str) -> str:
    return command[command.index(f"--{name}") + 1]


def test_what_is_said_reaches_juicefs(tmp_path: Path) -> None:
    raw = {"block": "1MiB", "cache": "64MiB", "attr-cache": "1500ms", "writeback": "yes"}
    settings = systems.resolve("s3+juicefs", raw)
    mount = client_juicefs.command(S3, settings, tmp_path)
    assert said(mount, "cache-size") == "64"
    assert said(mount, "attr-cache") == said(mount, "dir-entry-cache") == "1.500s"
    assert "--writeback" in mount
    assert "--writeback" not in client_juicefs.command(
        S3, systems.resolve("s3+juicefs", {}), tmp_path
    )
    assert said(client_juicefs.format_command(S3, settings, tmp_path), "block-size") == "1024"


def test_juicefs_finds_its_container_in_both_dialects(tmp_path: Path) -> None:
    settings = systems.resolve("s3+juicefs", {})
    command = client_juicefs.format_command(S3, settings, tmp_path)
    assert said(command, "bucket") == "http://10.0.2.1:9000/c"
    command = client_juicefs.format_command(SWIFT, settings, tmp_path)
    assert said(command, "storage") == "swift"
    assert said(command, "bucket") == "http://c.10.0.2.1:8080"


@pytest.mark.parametrize(
    ("raw", "where", "programs"),
    [
        ({}, "redis://10.0.2.1:6379/1", {"juicefs", "fusermount3", "redis-server"}),
        ({"meta": "sqlite3"}, "sqlite3:///", {"juicefs", "fusermount3"}),
    ],
)
def test_metadata_is_where_it_was_asked_for(
    tmp_path: Path, raw: dict[str, str], where: str, programs: set[str]
) -> None:
    settings = systems.resolve("s3+juicefs", raw)
    assert client_juicefs.command(S3, settings, tmp_path)[-2].startswith(where)
    asked = set(systems.programs_for("s3+juicefs", settings))
    assert asked == programs | {"mkfs.ext4", "versitygw"}


def test_redis_keeps_nothing_unless_it_is_asked_to(tmp_path: Path) -> None:
    settings = systems.resolve("s3+juicefs", {})
    assert said(client_juicefs.redis_command(settings, tmp_path), "appendonly") == "no"
    settings = systems.resolve("s3+juicefs", {"meta-sync": "everysec"})
    command = client_juicefs.redis_command(settings, tmp_path)
    assert said(command, "appendfsync") == "everysec"


@pytest.mark.parametrize(
    ("commits", "found"),
    [(0, "none"), (1, "some"), (4, "each-object"), (8, "each-object")],
)
def test_the_journal_tells_whether_each_object_was_waited_for(commits: int, found: str) -> None:
    # Swift's two fsyncs for each object are eight commits.
    assert classify(Counts(3, 0), Counts(3 + commits, 0), 4) == found


def test_without_a_journal_that_counts_only_the_disk_can_tell() -> None:
    assert classify(Counts(None, 0), Counts(None, 4 * 4096), 4) == "each-object"
    assert classify(Counts(None, 0), Counts(None, 0), 4) == "unknown"


def test_a_program_that_is_lacking_is_told_with_its_installer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(LabError, match=r"Try: sh install/object\.sh versitygw"):
        object_programs.find("versitygw")


def test_the_installer_knows_every_cached_program() -> None:
    script = (CHECKOUT / "install/object.sh").read_text()
    for program in object_programs.CACHED.values():
        assert f"\n{program.installer}() {{" in script
