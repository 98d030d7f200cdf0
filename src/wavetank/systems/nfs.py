"""`nfs2` to `nfs4.2`: the kernel's client and nfsd, with rpcbind and rpc.mountd.

The client mounts by mount(2), as mount.nfs would have it done, without its two forks. The
server's export is that of the papers: sync, no_subtree_check, 32 threads (H14 3.2).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.lab.errors import LabError
from wavetank.lab.guest.kernel_settings import write_setting
from wavetank.lab.guest.mounts import mount, unmount
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import CLIENT_ADDRESS, SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import filesystem
from wavetank.systems.bed import CLIENT_ROOT, SERVER_ROOT, Bed

NFSD = Path("/proc/fs/nfsd")
# The servers that the client knows, a line each below a heading (fs/nfs/client.c).
KNOWN_SERVERS = Path("/proc/fs/nfsfs/servers")
RPCBIND_SOCKET = Path("/run/rpcbind.sock")
MOUNTD_PORT = 20048
DAEMON_START_S = 10.0
# The least the kernel takes (fs/nfsd/nfsctl.c), and how late its end may be noticed.
GRACE_S, LAUNDROMAT_S = 10, 2
GOODBYE_S = 60.0
NCONNECT_MOST = 16
TRANSFER_MOST_BYTES = 1 << 20
# NFSv2's own limit (RFC 1094 2.3.2).
V2_TRANSFER_BYTES = 8192


def _transfer_size(text: str) -> int:
    """0 leaves it to client and server."""
    if text == "auto":
        return 0
    size = quantity.parse_size(text)
    if size < 1024 or size > TRANSFER_MOST_BYTES or size & (size - 1):
        raise UsageError(f"'{text}' is not a power of two between 1KiB and 1MiB, nor auto.")
    return size


def _nconnect(text: str) -> int:
    count = quantity.parse_count(text, 1)
    if count > NCONNECT_MOST:
        raise UsageError(f"'{text}' is more than {NCONNECT_MOST}, the most Linux opens.")
    return count


def _actimeo(text: str) -> int:
    """Seconds; -1 leaves Linux's own adaptive times."""
    return -1 if text == "auto" else quantity.parse_count(text)


PARAMETERS = (
    Parameter("nconnect", "nconnect", "1", _nconnect, "TCP connections of the mount, 1 to 16"),
    Parameter("rsize", "rsize_bytes", "auto", _transfer_size, "largest READ, or auto"),
    Parameter("wsize", "wsize_bytes", "auto", _transfer_size, "largest WRITE, or auto"),
    Parameter("export", "export", "sync", one_of("sync", "async"), "when the server answers"),
    Parameter(
        "threads", "threads", "32", lambda text: quantity.parse_count(text, 1), "nfsd threads"
    ),
    Parameter("actimeo", "actimeo_s", "auto", _actimeo, "attribute cache in seconds, or auto"),
    Parameter(
        "delegations", "delegations", "yes", quantity.parse_yes, "whether v4 opens may be delegated"
    ),
    filesystem.PARAMETER,
)


class Nfs(msgspec.Struct, frozen=True):
    """One version of NFS; the system's face (`systems.System`)."""

    version: str
    parameters: tuple[Parameter, ...] = PARAMETERS
    programs: tuple[str, ...] = ("mkfs.ext4", "rpcbind", "rpc.mountd")
    needs_network: bool = True

    @property
    def name(self) -> str:
        """nfs2 .. nfs4.2"""
        return f"nfs{self.version}"

    @property
    def summary(self) -> str:
        """One line."""
        return f"NFS version {self.version}: Linux client and nfsd over TCP"

    def server_caches(self, _settings: Settings, /) -> bool:
        """nfsd reads through the page cache."""
        return True

    def check(self, settings: Settings) -> None:
        """NFSv2 carries 8 KiB at a time."""
        for key, option in (("rsize_bytes", "rsize"), ("wsize_bytes", "wsize")):
            if self.version == "2" and int(settings[key]) > V2_TRANSFER_BYTES:
                raise UsageError(f"nfs2: {option} can't exceed 8KiB; take a smaller one or auto.")

    @contextmanager
    def up(self, bed: Bed, settings: Settings) -> Iterator[Path]:
        """Server on the filled disk, client mounted afresh: cold client, warm server."""
        kind = str(settings["fs"])
        filesystem.make(kind, bed.device.path)
        with filesystem.mounted(kind, bed.device.path, SERVER_ROOT) as directory:
            bed.fill(directory)
            os.sync()
            write_setting("/proc/sys/fs/leases-enable", "1" if settings["delegations"] else "0")
            with self._serving(bed, settings), self._client(settings) as target:
                yield target

    @contextmanager
    def _serving(self, bed: Bed, settings: Settings) -> Iterator[None]:
        """nfsd and its daemons in the server's namespace; the body runs outside of it again."""
        server = bed.topology.server
        with ExitStack() as stack:
            with server.entered():
                self._start(stack, settings)
            try:
                yield
            finally:
                with server.entered():
                    stack.close()

    def _start(self, stack: ExitStack, settings: Settings) -> None:
        """Called, and taken down again, inside the server's namespace."""
        _write_exports(str(settings["export"]))
        rpcbind = stack.enter_context(Daemon(["rpcbind", "-f"]))
        rpcbind.wait_until_exists(RPCBIND_SOCKET, DAEMON_START_S)
        stack.callback(RPCBIND_SOCKET.unlink, missing_ok=True)
        mount("nfsd", NFSD, "nfsd")
        stack.callback(unmount, NFSD)
        stack.enter_context(Daemon(["rpc.mountd", *self._mountd_arguments()]))
        stack.callback(_flush_exports)
        self._start_threads(int(settings["threads"]))
        stack.callback(write_setting, NFSD / "threads", "0")

    def _mountd_arguments(self) -> list[str]:
        refused = [version for version in "23" if version != self.version]
        arguments = ["-F", "-p", str(MOUNTD_PORT)]
        for version in refused:
            arguments += ["-N", version]
        return arguments

    def _start_threads(self, threads: int) -> None:
        """Only the one version is served, so that neither side can fall back to another."""
        versions = {"2": "-2", "3": "-3", "4": "-4", "4.0": "-4.0", "4.1": "-4.1", "4.2": "-4.2"}
        versions[self.version] = f"+{self.version}"
        if self.version.startswith("4"):
            versions["4"] = "+4"
        order = ["2", "3", "4", "4.0", "4.1", "4.2"]
        wanted = [versions[name] for name in order if name[0] == "4" or self.version != name]
        for change in [*wanted, versions[self.version]]:
            with suppress(LabError):  # a version this kernel is built without
                write_setting(NFSD / "versions", f"{change}\n")
        write_setting(NFSD / "nfsv4gracetime", str(GRACE_S))
        write_setting(NFSD / "portlist", "tcp 2049")
        write_setting(NFSD / "threads", str(threads))
        if self.version[0] == "4":
            # Opens are refused in the grace period, which only a server with nfsdcld may end early.
            time.sleep(GRACE_S + LAUNDROMAT_S)

    @contextmanager
    def _client(self, settings: Settings) -> Iterator[Path]:
        CLIENT_ROOT.mkdir(parents=True, exist_ok=True)
        source = SERVER_ADDRESS + (":/" if self.version[0] == "4" else f":{SERVER_ROOT}")
        kind = "nfs4" if self.version[0] == "4" else "nfs"
        mount(source, CLIENT_ROOT, kind, self.mount_options(settings))
        try:
            yield CLIENT_ROOT
        finally:
            filesystem.take_off(CLIENT_ROOT)
            wait_until_forgotten()

    def mount_options(self, settings: Settings) -> str:
        """nfs(5); what is not said is Linux's default."""
        options = [
            f"vers={self.version}",
            f"addr={SERVER_ADDRESS}",
            "proto=tcp",
            "port=2049",
            "hard",
        ]
        if self.version[0] == "4":
            options.append(f"clientaddr={CLIENT_ADDRESS}")
        else:
            options += ["nolock", "mountproto=tcp", f"mountport={MOUNTD_PORT}"]
            options.append(f"mountaddr={SERVER_ADDRESS}")
        if int(settings["nconnect"]) > 1:
            options.append(f"nconnect={settings['nconnect']}")
        for name in ("rsize", "wsize"):
            if settings[f"{name}_bytes"]:
                options.append(f"{name}={settings[f'{name}_bytes']}")
        if int(settings["actimeo_s"]) >= 0:
            options.append(f"actimeo={settings['actimeo_s']}")
        return ",".join(options)


def wait_until_forgotten() -> None:
    """umount(2) may return while files are still being closed. A client whose server has gone then
    waits for it, and takes the next trial's for it: it claims its old files there.
    """
    deadline = time.monotonic() + GOODBYE_S
    while len(KNOWN_SERVERS.read_text().splitlines()) > 1:
        if time.monotonic() > deadline:
            raise LabError(f"the NFS client still knows its server {GOODBYE_S:g} s after umount")
        time.sleep(0.01)


def _write_exports(commit: str) -> None:
    """etab, as exportfs(8) would write it: that is what rpc.mountd answers the kernel from."""
    options = (
        f"rw,{commit},wdelay,hide,nocrossmnt,insecure,no_root_squash,no_all_squash,"
        "no_subtree_check,secure_locks,acl,no_pnfs,fsid=0,anonuid=65534,anongid=65534,"
        "sec=sys,rw,insecure,no_root_squash,no_all_squash"
    )
    Path("/var/lib/nfs").mkdir(parents=True, exist_ok=True)
    Path("/var/lib/nfs/etab").write_text(f"{SERVER_ROOT}\t*({options})\n")
    Path("/var/lib/nfs/rmtab").touch()


def _flush_exports() -> None:
    """Forgets the kernel's export cache, which holds the exported file system busy."""
    moment = str(int(time.time()) + 1)
    for cache in ("auth.unix.ip", "nfsd.export", "nfsd.fh"):
        with suppress(LabError):
            write_setting(f"/proc/thread-self/net/rpc/{cache}/flush", moment)


NFS_SYSTEMS = tuple(Nfs(version) for version in ("2", "3", "4.0", "4.1", "4.2"))
