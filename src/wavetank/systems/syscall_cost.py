"""What a system call costs in virtual time, for systems whose servers and clients are programs.

Under the virtual clock the CPU is free, and a program that polls until a moment comes spins: a
declared cost for each system call bounds that, and is a first model of CPU time
(docs/method/clock.md has the measurements behind the default). It is a setting of the systems
that need one: what runs inside the kernel is not charged, and its cells stay as they are.
"""

from __future__ import annotations

from wavetank import quantity
from wavetank.study.model import Cell
from wavetank.study.parameters import Parameter

KEY = "syscall_ns"
PARAMETER = Parameter(
    "syscall-cost",
    KEY,
    "10us",
    quantity.parse_duration,
    "virtual time charged for each system call of a program",
)


def of_cell(cell: Cell) -> int:
    """The cost that a guest running this cell charges, in ns: the whole run's where one is
    declared, else the system's own, 0 for systems inside the kernel.
    """
    return cell.syscall_ns or int(cell.system.options.get(KEY, 0))
