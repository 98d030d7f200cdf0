"""`batch`: a set of files of one size, one after another, by one worker or a pool.

H14 4.5 and 4.6, O15 IV-D and IV-E: 2 GiB in all, at most 90 s, directories of at most 4096
files, each file opened, read or created whole in one call, closed. Writes always create.
"""

from __future__ import annotations

from collections.abc import Mapping

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import Cell, Settings
from wavetank.study.parameters import Parameter, resolve
from wavetank.workloads import files
from wavetank.workloads.job import EngineJob
from wavetank.workloads.parameters import (
    ACCESS,
    FILE_SIZE,
    OPERATION,
    UNIT,
    VERIFY,
    positive_size,
    some_duration,
    threads,
    whole,
    with_unit,
)
from wavetank.workloads.reach import reachable_files, set_footprint_bytes

OPEN_LOOP_OFF = "0"


def _item_rate(text: str) -> float:
    try:
        rate_per_s = float(text)
    except ValueError:
        rate_per_s = -1.0
    if not 0 <= rate_per_s <= 1e9:
        raise UsageError(f"'{text}' is not a number of files per second; 0 means no limit.")
    return rate_per_s


class Batch:
    """The workload's face (`workloads.Workload`)."""

    name = "batch"
    summary = "a set of files of one size, in order, by 1 to 64 threads, at most 90 s"
    parameters: tuple[Parameter, ...] = (
        OPERATION,
        FILE_SIZE,
        Parameter("threads", "threads", "1", threads, "workers on one set"),
        ACCESS,
        UNIT,
        Parameter("set-size", "set_bytes", "2GiB", positive_size, "all files together"),
        Parameter("duration", "duration_ns", "90s", some_duration, "the longest a trial measures"),
        Parameter("rate", "rate_per_s", OPEN_LOOP_OFF, _item_rate, "files per second offered"),
        VERIFY,
    )

    def resolve(self, raw: Mapping[str, str]) -> Settings:
        """All parameters with their defaults; raises `UsageError` for what can't be meant."""
        settings = with_unit(self.name, resolve(self.name, self.parameters, raw))
        count = _files(settings)
        if count == 0:
            raise UsageError(
                f"{self.name}: a set of {quantity.size_text(whole(settings, 'set_bytes'))} holds "
                f"no file of {quantity.size_text(whole(settings, 'file_size_bytes'))}; "
                "take a larger set-size."
            )
        if whole(settings, "threads") > count:
            raise UsageError(
                f"{self.name}: {settings['threads']} threads have only {count} files to share; "
                "take fewer threads or a larger set-size."
            )
        return settings

    def prepare(self, cell: Cell) -> EngineJob | None:
        """The set that a reading trial needs; a writing one starts from nothing."""
        if cell.workload.parameters["operation"] == "write":
            return None
        return files.preparation(cell, _reached(cell))

    def measure(self, cell: Cell) -> EngineJob:
        """One phase, until the duration or the set ends."""
        settings = cell.workload.parameters
        rate_per_s = float(settings["rate_per_s"])
        return files.measurement(
            cell,
            _reached(cell),
            threads=whole(settings, "threads"),
            duration_ns=whole(settings, "duration_ns"),
            rate_per_s=rate_per_s or None,
        )

    def footprint_bytes(self, cell: Cell) -> int:
        """Room for as much of the set as the trial can reach."""
        size = whole(cell.workload.parameters, "file_size_bytes")
        return set_footprint_bytes(_reached(cell), size)

    def whole_set_bytes(self, settings: Settings) -> int:
        """Room for the whole set."""
        return set_footprint_bytes(_files(settings), whole(settings, "file_size_bytes"))


def _files(settings: Settings) -> int:
    return whole(settings, "set_bytes") // whole(settings, "file_size_bytes")


def _reached(cell: Cell) -> int:
    settings = cell.workload.parameters
    return reachable_files(
        cell,
        _files(settings),
        whole(settings, "file_size_bytes"),
        whole(settings, "duration_ns"),
    )
