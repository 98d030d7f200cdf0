"""`nvme`: NVMe over TCP: nvmet through configfs, nvme-cli's connect, a file system on the client.

Beyond the papers. The namespace is served through the server's page cache (buffered_io), so that
a warm server means what it means for NFS and iSCSI.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from wavetank import quantity
from wavetank.lab.errors import LabError
from wavetank.lab.guest import programs
from wavetank.lab.guest.disks import BlockDevice
from wavetank.lab.guest.kernel_settings import write_setting
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import filesystem
from wavetank.systems.bed import CLIENT_ROOT, Bed

TARGET = Path("/sys/kernel/config/nvmet")
SUBSYSTEM = "nqn.2026-01.org.wavetank:disk"
HOST_NAME = "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000002"
HOST_ID = "00000000-0000-4000-8000-000000000002"
DISK_APPEARS_S = 10.0


class Nvme(msgspec.Struct, frozen=True):
    """The system's face (`systems.System`)."""

    name: str = "nvme"
    summary: str = "NVMe over TCP: Linux host and nvmet, the file system on the client"
    parameters: tuple[Parameter, ...] = (
        Parameter("fs", "fs", "ext4", one_of("ext4", "xfs"), "file system on the disk"),
        Parameter(
            "queue-depth",
            "queue_depth",
            "128",
            lambda text: quantity.parse_count(text, 16),
            "commands in flight on the queue",
        ),
        Parameter(
            "cached", "cached", "yes", quantity.parse_yes, "whether the server caches the disk"
        ),
    )
    programs: tuple[str, ...] = ("mkfs.ext4", "dumpe2fs", "nvme")
    needs_network: bool = True

    def server_caches(self, settings: Settings, /) -> bool:
        """As asked for."""
        return bool(settings["cached"])

    def check(self, settings: Settings) -> None:
        """Every combination goes."""

    @contextmanager
    def up(self, bed: Bed, settings: Settings) -> Iterator[Path]:
        """The disk filled in place, then served."""
        kind = str(settings["fs"])
        used = filesystem.filled_in_place(bed, kind)
        with ExitStack() as stack:
            with bed.topology.server.entered():
                stack.enter_context(_target(bed.device, bool(settings["cached"])))
            if bed.server_is_warm and settings["cached"]:
                filesystem.read_ranges(bed.device.path, used)
            disk = stack.enter_context(_connected(int(settings["queue_depth"])))
            yield stack.enter_context(filesystem.mounted(kind, disk, CLIENT_ROOT))


@contextmanager
def _target(device: BlockDevice, cached: bool) -> Iterator[None]:
    """nvmet with one namespace on one TCP port of the current network namespace."""
    subsystem, port = TARGET / "subsystems" / SUBSYSTEM, TARGET / "ports" / "1"
    namespace = subsystem / "namespaces" / "1"
    subsystem.mkdir()
    write_setting(subsystem / "attr_allow_any_host", "1")
    namespace.mkdir()
    write_setting(namespace / "device_path", device.path)
    write_setting(namespace / "buffered_io", "1" if cached else "0")
    write_setting(namespace / "enable", "1")
    port.mkdir()
    for name, value in (
        ("addr_trtype", "tcp"),
        ("addr_adrfam", "ipv4"),
        ("addr_traddr", SERVER_ADDRESS),
        ("addr_trsvcid", "4420"),
    ):
        write_setting(port / name, value)
    link = port / "subsystems" / SUBSYSTEM
    link.symlink_to(subsystem)
    try:
        yield
    finally:
        link.unlink()
        port.rmdir()
        write_setting(namespace / "enable", "0")
        namespace.rmdir()
        subsystem.rmdir()


@contextmanager
def _connected(queue_depth: int) -> Iterator[str]:
    """The client's disk while it is connected."""
    programs.run(
        [
            "nvme",
            "connect",
            "-t",
            "tcp",
            "-a",
            SERVER_ADDRESS,
            "-s",
            "4420",
            "-n",
            SUBSYSTEM,
            "-q",
            HOST_NAME,
            "--hostid",
            HOST_ID,
            "-Q",
            str(queue_depth),
        ]
    )
    try:
        yield _disk()
    finally:
        programs.run(["nvme", "disconnect", "-n", SUBSYSTEM])


def _disk() -> str:
    deadline = time.monotonic() + DISK_APPEARS_S
    while time.monotonic() < deadline:
        for block in sorted(Path("/sys/block").glob("nvme*n*")):
            if Path(f"/dev/{block.name}").exists():
                return f"/dev/{block.name}"
        time.sleep(0.01)
    raise LabError(f"NVMe showed no disk within {DISK_APPEARS_S:.0f} s of connecting")


NVME = Nvme()
