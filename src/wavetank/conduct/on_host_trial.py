"""One trial on a directory of the host: files made, caches brought to their state, measured.

The same steps as in a guest, with what a host allows: the set is made where it is measured (there
is no other side to make it on), the page cache is emptied as far as this user may, and how much
of the set was still in it stands in the record.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import msgspec

from wavetank import workloads
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host_directory import DirectoryFailed, OwnDirectory
from wavetank.conduct.on_host_engine import Engine, EngineFailed, EngineOverdue
from wavetank.conduct.on_host_plan import workload_cell
from wavetank.gauges import host
from wavetank.gauges.host import PAGE_CACHE_TEXT, Mount, PageCacheMethod
from wavetank.runs.records import PhaseRecord, StateProof, TrialRecord, TrialStatus
from wavetank.workloads.job import EngineJob

# A set of which more than this is still in memory is not cold.
MOST_CACHED_SHARE = 0.02
# Errors after which no further trial can be better.
_FATAL = {
    "ENOSPC": "{path} became full during the run",
    "EDQUOT": "the quota of {path} was used up during the run",
    "EROFS": "{path} became read-only during the run",
    "ESTALE": "{path} went away from its server during the run",
}


class Place(msgspec.Struct, frozen=True):
    """Where is measured: the user's directory, ours in it, and what both lie on."""

    path: Path
    own: OwnDirectory
    mount: Mount
    method: PageCacheMethod
    interrupted: threading.Event

    @property
    def told(self) -> str:
        """The place in words, for the record of the environment."""
        return f"none: files lie in {self.path}, {self.mount.text} ({self.mount.options})"


def run_trial(trial: GuestTrial, place: Place, engine: Engine, deadline_s: float) -> TrialRecord:
    """One trial within `deadline_s` seconds; what fails it alone is in its record.

    Raises DirectoryFailed when the directory is lost to all trials, EngineStopped after Ctrl-C.
    """
    try:
        return _Trial(trial, place, engine, time.monotonic() + deadline_s).run()
    except EngineOverdue:
        return _lost(trial, "timeout", f"no end within {deadline_s:g} s (wall clock)")
    except EngineFailed as error:
        place.own.require_writable()
        return _lost(trial, "failed", str(error))


def _lost(trial: GuestTrial, status: TrialStatus, reason: str) -> TrialRecord:
    return TrialRecord(cell=trial.cell.digest, repeat=trial.repeat, status=status, reason=reason)


class _Trial:
    """One trial's way."""

    def __init__(self, trial: GuestTrial, place: Place, engine: Engine, deadline_s: float) -> None:
        self._trial = trial
        self._cell = workload_cell(trial)
        self._workload = workloads.on_files(self._cell.workload.name)
        self._place = place
        self._engine = engine
        self._deadline_s = deadline_s

    def run(self) -> TrialRecord:
        """Set, caches, measurement."""
        cold = self._cell.cache_state != "warm"
        with self._place.own.file_set() as root:
            self._fill(root)
            if not cold:
                self._run(self._workload.measure(self._cell), root)
            cached_share = self._bring_caches(root, cold)
            if cold and cached_share > MOST_CACHED_SHARE:
                reason = f"{cached_share:.0%} of the set were still in memory before a cold trial"
                return _lost(self._trial, "void", reason)
            return self._measured(root, cached_share)

    def _fill(self, root: Path) -> None:
        """The set that the workload needs."""
        prepared = self._workload.prepare(self._cell)
        phases = self._run(prepared, root) if prepared is not None else []
        lost = {name: n for phase in phases for name, n in phase.operations[0].errors.items()}
        if lost:
            told = ", ".join(f"{n} with {name}" for name, n in lost.items())
            raise EngineFailed(f"the set could not be made: files failed, {told}")

    def _bring_caches(self, root: Path, cold: bool) -> float:
        """What is left of the set in memory, as a share."""
        host.sync_file_system(self._place.own.descriptor)
        files = [file for folder in sorted(root.iterdir()) for file in folder.iterdir()]
        if cold:
            host.empty_page_cache(self._place.method, files)
        return host.cached_share(files)

    def _measured(self, root: Path, cached_share: float) -> TrialRecord:
        own = self._place.own.descriptor
        job = self._workload.measure(self._cell)
        disk_before = host.disk_traffic(own)
        start_ns = time.monotonic_ns()
        phases = self._run(job, root)
        elapsed_ns = time.monotonic_ns() - start_ns
        disk_after = host.disk_traffic(own)
        set_bytes = job.set.files * job.set.file_size_bytes
        proof = None
        if disk_before is not None and disk_after is not None:
            proof = StateProof(
                cached_bytes_before=round(cached_share * set_bytes),
                disk_read_bytes=disk_after[0] - disk_before[0],
                disk_written_bytes=disk_after[1] - disk_before[1],
                client_mounted_fresh=False,
            )
        return TrialRecord(
            cell=self._trial.cell.digest,
            repeat=self._trial.repeat,
            status="ok",
            simulated_ns=elapsed_ns,
            phases=phases,
            state_proof=proof,
            effective=self._effective(cached_share),
        )

    def _effective(self, cached_share: float) -> dict[str, str]:
        """The mount as the kernel tells it, and what was done about the page cache."""
        mount = self._place.mount
        cold = self._cell.cache_state != "warm"
        return {
            "path": str(self._place.path),
            "mount_source": mount.source,
            "mount_type": mount.kind,
            "mount_options": mount.options,
            "mount_point": mount.point,
            "page_cache": PAGE_CACHE_TEXT[self._place.method] if cold else "warm: not emptied",
            "cached_share_before": f"{cached_share:.4f}",
        }

    def _run(self, job: EngineJob, root: Path) -> list[PhaseRecord]:
        """The engine's records; raises DirectoryFailed for errors that end all trials."""
        phases = self._engine.run(job, root, self._deadline_s)
        for phase in phases:
            for name, count in phase.operations[0].errors.items():
                if name in _FATAL:
                    told = _FATAL[name].format(path=self._place.path)
                    raise DirectoryFailed(f"{told}: {count} operations failed with {name}.")
        return phases
