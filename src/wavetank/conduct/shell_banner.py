"""What the user of the shell is told and given: a banner, a prompt, and three helpers."""

from __future__ import annotations

import shlex
from pathlib import Path

from wavetank import quantity
from wavetank.lab.guest.topology import CLIENT_ADDRESS, SERVER_ADDRESS
from wavetank.runs.records import NetworkMeasured
from wavetank.study.model import Cell
from wavetank.systems.bed import CLIENT_ROOT, SERVER_ROOT

RC, BANNER = "shell.rc", "banner.txt"
RUN = "/run/netns"


def banner(cell: Cell, measured: NetworkMeasured | None, with_set: bool) -> str:
    """What is where, in a few lines."""
    network = cell.network
    lines = [
        f"{cell.system.name} over {network.name}, {cell.clock} clock: of all this nothing stays.",
        "",
        f"  {CLIENT_ROOT}    {cell.system.name}, mounted"
        + (f"; the set is {_set_text(cell)}" if with_set else "; empty"),
        f"  {SERVER_ROOT}  the same on the server's side, where the system has one",
        f"  here           the client, {CLIENT_ADDRESS}; the server is {SERVER_ADDRESS}",
        "  server CMD     runs CMD on the server's network (router CMD: on the router's)",
        "  banner         prints this again",
        "",
    ]
    if measured is not None:
        lines.insert(1, f"network as measured: {_measured_text(measured)}")
        lines[2:2] = [f"  not what was declared: {told}" for told in measured.violations]
    if cell.clock == "virtual":
        lines.insert(1, "Virtual time runs on, and jumps, while you type and think.")
    lines.append("exit or Ctrl-D ends it; Ctrl-] three times ends it at once.")
    return "\n".join(lines) + "\n"


def shell_rc(cell: Cell, home: Path) -> str:
    """For bash, and near enough for sh: prompt, helpers, banner."""
    where = shlex.quote(f"{cell.system.name} {cell.network.name}")
    return "\n".join(
        [
            f"tank={where}",
            r"PS1='[$tank \W]# '",
            "server() { nsenter --net=" + f"{RUN}/server" + ' -- "${@:-bash}"; }',
            "router() { nsenter --net=" + f"{RUN}/router" + ' -- "${@:-bash}"; }',
            f"banner() {{ cat {home / BANNER}; }}",
            f"HISTFILE={home}/history",
            "alias ls='ls --color=auto' ll='ls -l'",
            "banner",
            "",
        ]
    )


def _set_text(cell: Cell) -> str:
    settings = cell.workload.parameters
    size, whole = settings["file_size_bytes"], settings.get("set_bytes")
    text = f"files of {quantity.size_text(int(size))}"
    return text if whole is None else f"{text}, {quantity.size_text(int(whole))} in all"


def _measured_text(measured: NetworkMeasured) -> str:
    """`RTT 50.1 ms, 99.8 Mbit/s, loss 0.05 % to the server and 0 % to the client`."""
    parts = [f"RTT {measured.rtt_ns_median / 1e6:.3g} ms"]
    rates = [way.rate_bit_per_s for way in (measured.to_server, measured.to_client)]
    known = [rate for rate in rates if rate is not None]
    if known:
        parts.append(f"{min(known) / 1e6:.4g} Mbit/s")
    lost = [way.loss_probability * 100 for way in (measured.to_server, measured.to_client)]
    if any(lost):
        parts.append(f"loss {lost[0]:.2g} % to the server and {lost[1]:.2g} % to the client")
    return ", ".join(parts)
