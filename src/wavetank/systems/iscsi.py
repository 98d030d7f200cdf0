"""`iscsi`: open-iscsi's initiator against LIO, a file system on the initiator's disk.

The target is set up through configfs inside the server's namespace; the sessions by iscsid and
iscsiadm in the client's. With several of them device-mapper's multipath makes one disk. Segment
and burst lengths default to H14 3.2 (64 KiB, and bursts as long as LIO takes).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.lab.errors import LabError
from wavetank.lab.guest import programs
from wavetank.lab.guest.disks import BlockDevice
from wavetank.lab.guest.kernel_settings import write_setting
from wavetank.lab.guest.mounts import mount
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter, one_of
from wavetank.systems import filesystem
from wavetank.systems.bed import CLIENT_ROOT, Bed

TARGET = Path("/sys/kernel/config/target")
TARGET_NAME = "iqn.2026-01.org.wavetank:disk"
INITIATOR_NAME = "iqn.2026-01.org.wavetank:client"
CONFIGURATION = Path("/etc/iscsi")
SESSIONS = Path("/sys/class/iscsi_session")
DISK_APPEARS_S = 10.0
# A queue of large writes over a slow path waits longer than either end is patient by default: LIO
# closes the connection 3 s after it asked for data that has not come, Linux aborts a command after
# 30 s, and what was written fails with EIO. The longest that LIO allows, and ten minutes.
DATAOUT_TIMEOUT_S = "60"
# Client and server share one kernel here, and its one limit on dirty pages: at 20 %, the default,
# the pages that the client has yet to send stop the server that they are to be sent to.
DIRTY_RATIO = Path("/proc/sys/vm/dirty_ratio")
DIRTY_PERCENT = "80"
COMMAND_TIMEOUT_S = "600"
# The largest burst the protocol can express (RFC 7143 13.13).
BURST_MOST_BYTES = (1 << 24) - 1
SESSIONS_MOST = 16


def _segment(text: str) -> int:
    size = quantity.parse_size(text)
    if not 512 <= size <= BURST_MOST_BYTES:
        raise UsageError(f"'{text}' is not between 512B and 16777215B (RFC 7143).")
    return size


def _sessions(text: str) -> int:
    count = quantity.parse_count(text, 1)
    if count > SESSIONS_MOST:
        raise UsageError(f"'{text}' is more than {SESSIONS_MOST} sessions.")
    return count


PARAMETERS = (
    filesystem.PARAMETER,
    Parameter(
        "scheduler",
        "scheduler",
        "mq-deadline",
        one_of("bfq", "mq-deadline", "kyber", "none"),
        "the initiator's I/O scheduler",
    ),
    Parameter("segment", "segment_bytes", "64KiB", _segment, "MaxRecvDataSegmentLength, both ways"),
    Parameter("max-burst", "max_burst_bytes", "16777215B", _segment, "MaxBurstLength"),
    Parameter("first-burst", "first_burst_bytes", "64KiB", _segment, "FirstBurstLength"),
    Parameter(
        "queue-depth",
        "queue_depth",
        "32",
        lambda text: quantity.parse_count(text, 1),
        "commands in flight on the disk",
    ),
    Parameter("sessions", "sessions", "1", _sessions, "sessions, one TCP connection each"),
    Parameter(
        "backstore",
        "backstore",
        "fileio",
        one_of("fileio", "iblock"),
        "LIO's backstore: fileio caches on the server, iblock does not",
    ),
)


class Iscsi(msgspec.Struct, frozen=True):
    """The system's face (`systems.System`)."""

    name: str = "iscsi"
    summary: str = "iSCSI: open-iscsi initiator and LIO target, the file system on the client"
    parameters: tuple[Parameter, ...] = PARAMETERS
    programs: tuple[str, ...] = ("mkfs.ext4", "dumpe2fs", "iscsid", "iscsiadm", "dmsetup")
    needs_network: bool = True

    def server_caches(self, settings: Settings, /) -> bool:
        """iblock goes straight to the disk."""
        return settings["backstore"] == "fileio"

    def check(self, settings: Settings) -> None:
        """RFC 7143: a first burst can't exceed the burst."""
        if int(settings["first_burst_bytes"]) > int(settings["max_burst_bytes"]):
            raise UsageError("iscsi: first-burst can't exceed max-burst.")

    @contextmanager
    def up(self, bed: Bed, settings: Settings) -> Iterator[Path]:
        """The disk filled in place, then served; warm when the server's cache holds it."""
        kind = str(settings["fs"])
        used = filesystem.filled_in_place(bed, kind)
        with ExitStack() as stack:
            stack.callback(DIRTY_RATIO.write_text, DIRTY_RATIO.read_text())
            DIRTY_RATIO.write_text(DIRTY_PERCENT)
            with bed.topology.server.entered():
                stack.enter_context(_target(bed.device, settings))
            if bed.server_is_warm and settings["backstore"] == "fileio":
                filesystem.read_ranges(bed.device.path, used)
            disk = stack.enter_context(_sessions_joined(settings))
            yield stack.enter_context(filesystem.mounted(kind, disk, CLIENT_ROOT))


@contextmanager
def _target(device: BlockDevice, settings: Settings) -> Iterator[None]:
    """LIO with one disk, open to every initiator; the portal belongs to the current namespace."""
    store = TARGET / "core" / f"{settings['backstore']}_0" / "disk"
    portal_group = TARGET / "iscsi" / TARGET_NAME / "tpgt_1"
    portal = portal_group / "np" / f"{SERVER_ADDRESS}:3260"
    unit = portal_group / "lun" / "lun_0"
    store.mkdir(parents=True)
    if settings["backstore"] == "fileio":
        control = f"fd_dev_name={device.path},fd_dev_size={device.size_bytes},fd_buffered_io=1"
    else:
        control = f"udev_path={device.path}"
    write_setting(store / "control", control)
    write_setting(store / "enable", "1")
    (TARGET / "iscsi").mkdir(exist_ok=True)
    portal_group.parent.mkdir()
    portal_group.mkdir()
    portal.mkdir()
    unit.mkdir()
    (unit / "disk").symlink_to(store)
    for name, value in (
        ("authentication", "0"),
        ("generate_node_acls", "1"),
        ("demo_mode_write_protect", "0"),
        ("cache_dynamic_acls", "1"),
    ):
        write_setting(portal_group / "attrib" / name, value)
    for name, value in _negotiated(settings).items():
        write_setting(portal_group / "param" / name, value)
    initiator = portal_group / "acls" / INITIATOR_NAME
    (initiator / "lun_0").mkdir(parents=True)
    (initiator / "lun_0" / "default").symlink_to(unit)
    write_setting(initiator / "attrib" / "dataout_timeout", DATAOUT_TIMEOUT_S)
    write_setting(portal_group / "enable", "1")
    try:
        yield
    finally:
        write_setting(portal_group / "enable", "0")
        (initiator / "lun_0" / "default").unlink()
        (unit / "disk").unlink()
        for directory in (
            initiator / "lun_0",
            initiator,
            unit,
            portal,
            portal_group,
            portal_group.parent,
            store,
            store.parent,
        ):
            directory.rmdir()


def _negotiated(settings: Settings) -> dict[str, str]:
    """What the target offers in the login (RFC 7143 chapter 13)."""
    return {
        "MaxRecvDataSegmentLength": str(settings["segment_bytes"]),
        "MaxXmitDataSegmentLength": str(settings["segment_bytes"]),
        "MaxBurstLength": str(settings["max_burst_bytes"]),
        "FirstBurstLength": str(settings["first_burst_bytes"]),
        "ImmediateData": "Yes",
        "InitialR2T": "No",
    }


@contextmanager
def _sessions_joined(settings: Settings) -> Iterator[str]:
    """The initiator's disk: of one session, or of several joined by multipath."""
    with ExitStack() as stack:
        disks = stack.enter_context(_logged_in(settings))
        for disk in disks:
            write_setting(f"/sys/block/{disk}/queue/scheduler", str(settings["scheduler"]))
            write_setting(f"/sys/block/{disk}/device/timeout", COMMAND_TIMEOUT_S)
        if len(disks) == 1:
            yield f"/dev/{disks[0]}"
        else:
            yield stack.enter_context(_multipath(disks))


@contextmanager
def _logged_in(settings: Settings) -> Iterator[list[str]]:
    """iscsid and a login; the sessions' disks by name, sda first."""
    _configure_initiator(settings)
    node = ["iscsiadm", "-m", "node", "-T", TARGET_NAME, "-p", f"{SERVER_ADDRESS}:3260,1"]
    with Daemon(["iscsid", "-f", "-c", f"{CONFIGURATION}/iscsid.conf"]):
        programs.run([*node, "-o", "new"])
        programs.run([*node, "-l"])
        try:
            yield _disks(int(settings["sessions"]))
        finally:
            programs.run([*node, "-u"])


def _configure_initiator(settings: Settings) -> None:
    """iscsid's configuration, whose node settings every new record takes over; none of the host's
    nodes is seen.
    """
    options = {
        "node.startup": "manual",
        "node.session.nr_sessions": settings["sessions"],
        "node.session.queue_depth": settings["queue_depth"],
        "node.session.cmds_max": max(128, 1 << (int(settings["queue_depth"]) - 1).bit_length()),
        "node.session.iscsi.InitialR2T": "No",
        "node.session.iscsi.ImmediateData": "Yes",
        "node.session.iscsi.FirstBurstLength": settings["first_burst_bytes"],
        "node.session.iscsi.MaxBurstLength": settings["max_burst_bytes"],
        "node.conn[0].iscsi.MaxRecvDataSegmentLength": settings["segment_bytes"],
        "node.conn[0].iscsi.MaxXmitDataSegmentLength": settings["segment_bytes"],
        # A NOP every few seconds would be traffic of no operation's.
        "node.conn[0].timeo.noop_out_interval": 0,
        "node.conn[0].timeo.noop_out_timeout": 0,
    }
    if not CONFIGURATION.is_mount():
        CONFIGURATION.mkdir(exist_ok=True)
        Path("/run/lock").mkdir(exist_ok=True)
        mount("initiator", CONFIGURATION, "tmpfs", "mode=0755")
    lines = [f"{name} = {value}" for name, value in options.items()]
    (CONFIGURATION / "iscsid.conf").write_text("\n".join(lines) + "\n")
    (CONFIGURATION / "initiatorname.iscsi").write_text(f"InitiatorName={INITIATOR_NAME}\n")


def _disks(sessions: int) -> list[str]:
    """The block devices of all sessions, once the kernel has found them."""
    deadline = time.monotonic() + DISK_APPEARS_S
    while time.monotonic() < deadline:
        found = SESSIONS.glob("session*/device/target*/*:*/block/*")
        names = sorted(block.name for block in found if Path(f"/dev/{block.name}").exists())
        if len(names) == sessions:
            return names
        time.sleep(0.01)
    raise LabError(f"{sessions} iSCSI sessions did not show a disk each within {DISK_APPEARS_S} s")


@contextmanager
def _multipath(disks: list[str]) -> Iterator[str]:
    """One device over several paths, the least busy path first (dm-mpath, queue-length)."""
    sectors = int(Path(f"/sys/block/{disks[0]}/size").read_text())
    paths = " ".join(f"/dev/{disk} 1" for disk in disks)
    table = f"0 {sectors} multipath 0 0 1 1 queue-length 0 {len(disks)} 1 {paths}"
    programs.run(["dmsetup", "create", "joined", "--noudevsync", "--table", table])
    try:
        yield f"/dev/{_mapped_device('joined')}"
    finally:
        programs.run(["dmsetup", "remove", "--noudevsync", "joined"])


def _mapped_device(name: str) -> str:
    """The kernel's name of a mapped device; without udev nothing makes /dev/mapper's links."""
    for path in Path("/sys/block").glob("dm-*/dm/name"):
        if path.read_text().strip() == name:
            return path.parent.parent.name
    raise LabError(f"device-mapper made no device {name}")


ISCSI = Iscsi()
