"""The guest's side of the tests in this folder: asks in, answers out, one line each.

The guest is the lab's own, booted by the lab's own code; only what is done in it differs from a
run's. One guest answers several asks, each on a path of its own.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from unittest import mock

import msgspec

from wavetank import systems, workloads
from wavetank.conduct import in_guest
from wavetank.conduct.guest_job import GuestJob, GuestTrial
from wavetank.gauges import link
from wavetank.lab.guest import mounts, programs
from wavetank.lab.guest.disks import attached
from wavetank.lab.guest.namespaces import Namespace
from wavetank.lab.guest.programs import Daemon
from wavetank.lab.guest.topology import (
    ROUTER_TO_CLIENT,
    ROUTER_TO_SERVER,
    SERVER_ADDRESS,
    Topology,
)
from wavetank.runs.records import LinkRecord, PhaseRecord, TrialRecord
from wavetank.study.model import Cell, Network
from wavetank.systems.bed import Bed
from wavetank.workloads.job import EngineJob

TAP_REPORT, TAP_READY = Path("/run/tap.json"), Path("/run/tap.json.ready")
PCAP = Path("/run/tap.pcap")
JOB, OUTPUT = Path("/run/engine.json"), Path("/run/engine.jsonl")
READY_S = 10.0
FLOW_PORT, WAKE_BYTES = 5001, 1 << 20
PAGE_BYTES = 4096
DEADLINE_S = 20 * 86400.0
# /proc/net/tcp's number of the state ESTABLISHED (include/net/tcp_states.h).
ESTABLISHED = "01"


class Iperf(msgspec.Struct, frozen=True, tag=True):
    """One iperf3 transfer from client to server; `arguments` are added to the client's."""

    network: Network
    seed: int
    arguments: list[str]


class Flow(msgspec.Struct, frozen=True, tag=True):
    """One endless TCP transfer from client to server, looked at between two moments."""

    network: Network
    seed: int
    warm_up_s: float
    seconds: float


class Capture(msgspec.Struct, frozen=True, tag=True):
    """A cell's measured phase under the tap, which writes every packet down."""

    cell: Cell


class Misshapen(msgspec.Struct, frozen=True, tag=True):
    """A trial whose path is shaped like `applied` while its cell declares its own network."""

    cell: Cell
    applied: Network


class Asking(msgspec.Struct, frozen=True, tag=True):
    """One system call in which the kernel asks `times` whether another task should run."""

    times: int


Ask = Iperf | Flow | Capture | Misshapen | Asking


class Asked(msgspec.Struct, frozen=True):
    """All asks of one guest, and our programs."""

    asks: list[Ask]
    engine: str
    tap: str
    probe: str


class IperfAnswer(msgspec.Struct, frozen=True, tag=True):
    """As iperf3's receiver counts."""

    received_bytes: int
    seconds: float

    @property
    def goodput_bit_per_s(self) -> float:
        return 8 * self.received_bytes / self.seconds


class FlowAnswer(msgspec.Struct, frozen=True, tag=True):
    """What the sender's kernel says was acknowledged between the two moments, and the link."""

    acked_bytes: int
    segment_bytes: int
    seconds: float
    link: LinkRecord

    @property
    def losses(self) -> int:
        """Packets lost on their way to the server."""
        return self.link.to_server.dropped

    @property
    def loss_probability(self) -> float:
        """The share that was lost, of all packets sent to the server."""
        return self.losses / (self.link.to_server.packets + self.losses)

    def window_packets(self, rtt_s: float) -> float:
        """The mean window: segments acknowledged per round trip."""
        return self.acked_bytes / self.segment_bytes / self.seconds * rtt_s


class CaptureAnswer(msgspec.Struct, frozen=True, tag=True):
    """`connections`: the client's established ones to the server when the phase had ended."""

    pcap_base64: str
    tap_packets: int
    connections: int
    link: LinkRecord
    phases: list[PhaseRecord]


class MisshapenAnswer(msgspec.Struct, frozen=True, tag=True):
    """The trial's record, as a run would have it."""

    trial: TrialRecord


class AskingAnswer(msgspec.Struct, frozen=True, tag=True):
    """How long the call took by the guest's clock."""

    seconds: float


class Failure(msgspec.Struct, frozen=True, tag=True):
    """What an ask ended with instead of an answer."""

    error: str


Answer = IperfAnswer | FlowAnswer | CaptureAnswer | MisshapenAnswer | AskingAnswer | Failure


class _TapReport(msgspec.Struct, frozen=True):
    packets: int
    complete: bool


def main(scratch: str) -> None:
    """Runs as process 1 of the guest."""
    try:
        mounts.enter_overlay_root(scratch)
        mounts.mount_kernel_interfaces()
        in_guest.prepare_kernel()
        asked = msgspec.json.decode((mounts.EXCHANGE / "job.json").read_bytes(), type=Asked)
        for ask in asked.asks:
            tell(answer(ask, asked))
    except BaseException:
        traceback.print_exc()
        sys.stdout.flush()
    mounts.power_off()


def tell(found: Answer) -> None:
    with (mounts.EXCHANGE / "records.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(found) + b"\n")


def answer(ask: Ask, asked: Asked) -> Answer:
    found: Answer
    try:
        match ask:
            case Iperf():
                found = iperf(ask)
            case Flow():
                found = flow(ask)
            case Capture():
                found = capture(ask.cell, asked)
            case Misshapen():
                found = misshapen(ask, asked)
            case Asking():
                found = asking(ask.times)
    except Exception as error:  # the host's test shows it
        traceback.print_exc()
        sys.stderr.flush()
        return Failure(f"{type(error).__name__}: {error}")
    return found


def iperf(ask: Iperf) -> IperfAnswer:
    with (
        Topology(ask.network, ask.seed) as topology,
        Daemon(["iperf3", "--server", "--one-off"], topology.server),
    ):
        time.sleep(1)  # until it listens
        command = ["iperf3", "--client", SERVER_ADDRESS, "--json", *ask.arguments]
        report = json.loads(programs.run(command, topology.client, DEADLINE_S))
    received = report["end"]["sum_received"]
    return IperfAnswer(received["bytes"], received["seconds"])


def flow(ask: Flow) -> FlowAnswer:
    """The receiver is woken for megabytes only: a wake-up per packet would cost wall time."""
    with Topology(ask.network, ask.seed) as topology:
        with topology.server.entered():
            listener = socket.create_server((SERVER_ADDRESS, FLOW_PORT))
        sender = socket.create_connection((SERVER_ADDRESS, FLOW_PORT))
        receiver, _ = listener.accept()
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, WAKE_BYTES)
        threads = [
            threading.Thread(target=_send_until_closed, args=(sender,)),
            threading.Thread(target=_receive_until_closed, args=(receiver,)),
        ]
        for thread in threads:
            thread.start()
        time.sleep(ask.warm_up_s)
        acked, link_before, start_ns = acked_bytes(sender), link.read(topology), time.monotonic_ns()
        time.sleep(ask.seconds)
        seconds = (time.monotonic_ns() - start_ns) / 1e9
        found = FlowAnswer(
            acked_bytes=acked_bytes(sender) - acked,
            segment_bytes=sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG),
            seconds=seconds,
            link=link.between(link_before, link.read(topology)),
        )
        for end in (sender, receiver):
            end.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for end in (sender, receiver, listener):
            end.close()
    return found


def _send_until_closed(sender: socket.socket) -> None:
    data = bytes(WAKE_BYTES)
    with suppress(OSError):
        while True:
            sender.sendall(data)


def _receive_until_closed(receiver: socket.socket) -> None:
    buffer = bytearray(WAKE_BYTES)
    with suppress(OSError):
        while receiver.recv_into(buffer):
            pass


def acked_bytes(sender: socket.socket) -> int:
    """tcpi_bytes_acked of struct tcp_info (include/uapi/linux/tcp.h)."""
    info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return int(struct.unpack_from("=Q", info, 120)[0])


def capture(cell: Cell, asked: Asked) -> CaptureAnswer:
    system = systems.file_system(cell.system.name)
    workload = workloads.on_files(cell.workload.name)

    def fill(directory: Path) -> None:
        prepared = workload.prepare(cell)
        if prepared is not None:
            run_engine(asked.engine, prepared, directory)

    with ExitStack() as stack:
        topology = stack.enter_context(Topology(cell.network, cell.seed))
        device = stack.enter_context(attached(cell.disk))
        bed = Bed(topology, device, fill, cell.cache_state)
        root = stack.enter_context(system.up(bed, cell.system.options))
        with tapped(topology, asked.tap):
            before = link.read(topology)
            phases = run_engine(asked.engine, workload.measure(cell), root)
            crossed = link.between(before, link.read(topology))
        connections = established(topology.client)
    report = msgspec.json.decode(TAP_REPORT.read_bytes(), type=_TapReport)
    assert report.complete, "the tap missed packets"
    return CaptureAnswer(
        pcap_base64=base64.b64encode(PCAP.read_bytes()).decode(),
        tap_packets=report.packets,
        connections=connections,
        link=crossed,
        phases=phases,
    )


@contextmanager
def tapped(topology: Topology, tap: str) -> Iterator[None]:
    """The router's egress in both directions, written to PCAP."""
    TAP_READY.unlink(missing_ok=True)
    arguments = [tap, "--output", str(TAP_REPORT), "--pcap", str(PCAP)]
    for name in (ROUTER_TO_SERVER, ROUTER_TO_CLIENT):
        arguments += ["--interface", name]
    with Daemon(arguments, topology.router) as daemon:
        daemon.wait_until_exists(TAP_READY, READY_S)
        yield
        daemon.stop(signal.SIGTERM)


def run_engine(engine: str, job: EngineJob, root: Path) -> list[PhaseRecord]:
    JOB.write_bytes(msgspec.json.encode(msgspec.structs.replace(job, root=str(root))))
    OUTPUT.unlink(missing_ok=True)
    programs.run([engine, str(JOB), "--output", str(OUTPUT)], deadline_s=DEADLINE_S)
    lines = OUTPUT.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=PhaseRecord) for line in lines]


def established(client: Namespace) -> int:
    """The client's TCP connections to the server, as /proc/net/tcp lists them."""
    server = "".join(f"{int(part):02X}" for part in reversed(SERVER_ADDRESS.split(".")))
    with client.entered():
        lines = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in lines]
    return sum(row[2].startswith(server) and row[3] == ESTABLISHED for row in rows)


def misshapen(ask: Misshapen, asked: Asked) -> MisshapenAnswer:
    class OtherPath(Topology):
        def shape(self, network: Network) -> None:
            super().shape(ask.applied)

    job = GuestJob(trials=[], engine=asked.engine, tap=asked.tap, probe=asked.probe)
    trial = GuestTrial(index=0, cell=ask.cell, repeat=0)
    with mock.patch.object(in_guest, "Topology", OtherPath):
        return MisshapenAnswer(in_guest.run_trial(trial, job, {}))


def asking(times: int) -> AskingAnswer:
    """A hole in tmpfs is read page by page, cond_resched() after each (mm/shmem.c)."""
    pages = 1024  # of a buffer that is named often enough in one readv()
    buffer = bytearray(pages * PAGE_BYTES)
    with tempfile.TemporaryFile(dir="/run", buffering=0) as hole:
        hole.truncate(times * PAGE_BYTES)
        start_ns = time.monotonic_ns()
        got = os.readv(hole.fileno(), [buffer] * (times // pages))
        seconds = (time.monotonic_ns() - start_ns) / 1e9
    assert got == times * PAGE_BYTES, "the call did less than it was asked"
    return AskingAnswer(seconds)
