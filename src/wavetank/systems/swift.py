"""`swift`: OpenStack Swift as it is released, on the modelled disk, in the server's namespace.

Proxy, account, container and object server with memcached and TempAuth; one replica, one device,
no background daemons (there is nothing to replicate or audit in a trial). The configuration is
ours and complete here; nothing of /etc/swift is read. The rings are built when Swift is installed
(install/object.sh) and kept.

Under the virtual clock Swift's own work costs nothing but its disk and the declared cost of its
system calls: H14 4.3 found some 30 ms inside Swift for each request. `service-time` declares it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from wavetank import quantity
from wavetank.lab.errors import LabError
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import (
    filesystem,
    object_programs,
    object_start,
    swift_launcher,
    swift_servers,
    syscall_cost,
)
from wavetank.systems.bed import SERVER_ROOT, Bed
from wavetank.systems.endpoint import Endpoint

PROXY_PORT, OBJECT_PORT, CONTAINER_PORT, ACCOUNT_PORT = 8080, 6200, 6201, 6202
MEMCACHED_PORT = 11211
USER, KEY = "test:tester", "testing"  # of the lab: no secret at all
CONTAINER = "wavetank"
CONFIGURATION = Path("/run/wavetank-swift")
RINGS = ("account", "container", "object")
PIPELINES = {
    "full": "catch_errors gatekeeper healthcheck cache listing_formats bulk tempurl s3api tempauth "
    "copy slo dlo versioned_writes",
    # What an object's way in and out needs, and large objects.
    "lean": "catch_errors gatekeeper healthcheck cache listing_formats tempauth copy slo dlo",
}
_FILTERS = tuple(name for name in PIPELINES["full"].split() if name != "tempauth")


def _workers(text: str) -> int:
    return quantity.parse_count(text, 1)


OWN_PARAMETERS = (
    Parameter("workers", "workers", "1", _workers, "processes of the proxy and object server"),
    Parameter("pipeline", "pipeline", "full", one_of(*PIPELINES), "filters before the proxy"),
    Parameter("fsync", "fsync", "yes", quantity.parse_yes, "no: an object need not reach the disk"),
    Parameter(
        "keep-cache",
        "keep_cache",
        "no",
        quantity.parse_yes,
        "no, as Swift comes: objects leave the server's memory once written or sent",
    ),
    Parameter(
        "service-time",
        "service_time_ns",
        "0",
        quantity.parse_duration,
        "declared time in the proxy for each request; H14 measured 30ms",
    ),
)
PARAMETERS = (
    *OWN_PARAMETERS,
    Parameter("fs", "fs", "ext4", one_of("ext4", "xfs"), "file system on the server's disk"),
    syscall_cost.PARAMETER,
)
PROGRAMS = ("memcached", "swift-proxy-server")


def caches(settings: Settings) -> bool:
    """Swift tells the kernel to forget what it has written, and what it has sent to a client
    who showed a token (swift/obj/diskfile.py), unless it is told to keep it.
    """
    return bool(settings["keep_cache"])


class Swift(msgspec.Struct, frozen=True):
    """The server; a face of `endpoint.ObjectServer`."""

    name: str = "swift"
    summary: str = "OpenStack Swift as it is, by REST: one proxy, one replica"
    parameters: tuple[Parameter, ...] = PARAMETERS

    def programs_for(self, _settings: Settings) -> tuple[str, ...]:
        """The same for all."""
        return ("mkfs.ext4", *PROGRAMS)

    def server_caches(self, settings: Settings, /) -> bool:
        """As `caches`."""
        return caches(settings)

    def check(self, settings: Settings) -> None:
        """Every combination goes."""

    @contextmanager
    def endpoint(self, bed: Bed, settings: Settings) -> Iterator[Endpoint]:
        """The servers on an empty file system, with one container."""
        kind = str(settings["fs"])
        filesystem.make(kind, bed.device.path)
        endpoint = Endpoint(
            dialect="swift",
            url=f"http://{SERVER_ADDRESS}:{PROXY_PORT}/auth/v1.0",
            container=CONTAINER,
            user=USER,
            key=KEY,
        )
        with (
            filesystem.mounted(kind, bed.device.path, SERVER_ROOT),
            listening(bed, settings, PIPELINES[str(settings["pipeline"])]) as servers,
        ):
            object_start.begin(bed, endpoint, servers)
            bed.notes["server"] = "swift"
            yield endpoint


@contextmanager
def listening(
    bed: Bed, settings: Settings, pipeline: str
) -> Iterator[list[tuple[object_start.Server, int]]]:
    """All that Swift is made of, on the file system at SERVER_ROOT, and the port of each; not yet
    answering. `pipeline`: the filters before the proxy.
    """
    with ExitStack() as stack:
        (SERVER_ROOT / "swift" / "d1").mkdir(parents=True)
        stack.enter_context(_configured(configuration(settings, pipeline)))
        server = bed.topology.server
        memcached = stack.enter_context(Daemon(_memcached(), server))
        launcher = _launcher(settings, pipeline)
        servers = stack.enter_context(swift_servers.started(launcher, CONFIGURATION, server))
        ports = (OBJECT_PORT, CONTAINER_PORT, ACCOUNT_PORT, PROXY_PORT)
        yield [(memcached, MEMCACHED_PORT), *[(servers, port) for port in ports]]


def _memcached() -> list[str]:
    listen = ["-l", f"127.0.0.1,{SERVER_ADDRESS}", "-p", str(MEMCACHED_PORT), "-U", "0"]
    return [object_programs.find("memcached"), "-u", "root", *listen, "-t", "1", "-m", "64"]


def _launcher(settings: Settings, pipeline: str) -> swift_servers.Launcher:
    """The guest's, with what these settings ask for imported."""
    python = Path(object_programs.find("swift-proxy-server")).with_name("python")
    fsync = "fsync" if settings["fsync"] else "no-fsync"
    filters = pipeline.replace("cache ", "memcache ").split()
    return swift_servers.launcher(str(python), (fsync, *filters))


@contextmanager
def _configured(files: Mapping[str, str]) -> Iterator[None]:
    """Configuration and rings in their folder, which Swift calls `swift_dir`."""
    rings = object_programs.folder() / "swift" / "rings"
    CONFIGURATION.mkdir()
    try:
        for ring in RINGS:
            path = rings / f"{ring}.ring.gz"
            if not path.exists():
                raise LabError(f"Swift's rings are not in {rings}. Try: sh install/object.sh swift")
            shutil.copy(path, CONFIGURATION)
        for name, text in files.items():
            (CONFIGURATION / name).write_text(text)
        yield
    finally:
        shutil.rmtree(CONFIGURATION)


def configuration(settings: Settings, pipeline: str) -> dict[str, str]:
    """Every file of the configuration, by name."""
    # 0 serves from the first process itself; 1 would add a parent that only waits.
    workers = int(settings["workers"]) if int(settings["workers"]) > 1 else 0
    return {
        "swift.conf": "[swift-hash]\nswift_hash_path_suffix = wavetank\n"
        "[storage-policy:0]\nname = one\ndefault = yes\n",
        "account-server.conf": _storage("account", ACCOUNT_PORT, 0),
        "container-server.conf": _storage("container", CONTAINER_PORT, 0),
        "object-server.conf": _storage("object", OBJECT_PORT, workers) + _caching(settings),
        "proxy-server.conf": _proxy(settings, pipeline, workers),
    }


def _common(port: int, workers: int) -> str:
    return (
        f"[DEFAULT]\nbind_ip = {SERVER_ADDRESS}\nbind_port = {port}\nworkers = {workers}\n"
        f"user = root\nswift_dir = {CONFIGURATION}\nlog_level = ERROR\n"
    )


def _storage(kind: str, port: int, workers: int) -> str:
    return (
        f"{_common(port, workers)}devices = {SERVER_ROOT}/swift\nmount_check = false\n"
        "disable_fallocate = true\ndb_preallocation = off\n"
        f"[pipeline:main]\npipeline = {kind}-server\n"
        f"[app:{kind}-server]\nuse = egg:swift#{kind}\nlog_requests = false\n"
    )


def _caching(settings: Settings) -> str:
    """Of the object server, at the end of its section."""
    if not settings["keep_cache"]:
        return ""
    return f"keep_cache_private = true\nkeep_cache_size = {1 << 40}\n"


def _proxy(settings: Settings, pipeline: str, workers: int) -> str:
    service_time_s = int(settings["service_time_ns"]) / 1e9
    first = "service_time " if service_time_s else ""
    filters = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in _FILTERS)
    filters = filters.replace(
        "egg:swift#cache\n", f"egg:swift#memcache\nmemcache_servers = 127.0.0.1:{MEMCACHED_PORT}\n"
    )
    return (
        f"{_common(PROXY_PORT, workers)}"
        f"[pipeline:main]\n"
        f"pipeline = {first}{pipeline} proxy-server\n"
        "[app:proxy-server]\nuse = egg:swift#proxy\n"
        "account_autocreate = true\nallow_account_management = true\n"
        f"[filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = {KEY} .admin\n"
        f"[filter:service_time]\npaste.filter_factory = {swift_launcher.MODULE}:service_time\n"
        f"seconds = {service_time_s:.6f}\n{filters}"
    )


SERVER = Swift()
