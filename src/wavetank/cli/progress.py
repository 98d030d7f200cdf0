"""Progress of a run on stderr: a live line on a terminal, plain lines elsewhere.

Both say the same: cells done, simulated and wall time, their ratio, and the time left.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from wavetank import quantity
from wavetank.conduct.events import Event, RunStarted, TrialEnded, TrialStarted
from wavetank.runs.records import Plan, TrialRecord
from wavetank.study.model import Cell

REASON_CHARACTERS = 160


class Tally:
    """What has been done so far. Counts only what this call of wavetank did."""

    def __init__(self, plan: Plan, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._plan = plan
        self._monotonic = monotonic
        self._began_s = monotonic()
        self._ended = 0
        self.done = 0
        self.planned = len(plan.trials)
        self.simulated_s = 0.0
        self.lost = 0

    def take(self, event: Event) -> None:
        """Counts the event."""
        match event:
            case RunStarted(done=done):
                self.done, self._began_s = done, self._monotonic()
            case TrialEnded(trial=trial):
                self.done += 1
                self._ended += 1
                self.simulated_s += trial.simulated_ns / 1e9
                self.lost += trial.status != "ok"
            case _:
                pass

    def summary(self) -> str:
        """`4:10 simulated in 0:12 (20.8x), 0:30 left`."""
        wall_s = self._monotonic() - self._began_s
        text = f"{span_text(self.simulated_s)} simulated in {span_text(wall_s)}"
        if self._ended and wall_s > 0:
            left_s = wall_s / self._ended * (self.planned - self.done)
            text += f" ({self.simulated_s / wall_s:.1f}x), {span_text(left_s)} left"
        return text + (f", {self.lost} lost" if self.lost else "")

    def title(self, index: int) -> str:
        """What the trial is, in a few words."""
        trial = self._plan.trials[index]
        again = f" #{trial.repeat + 1}" if trial.repeat else ""
        return cell_title(trial.cell) + again


class LineProgress(AbstractContextManager["LineProgress"]):
    """A line per trial that ended: for pipes, logs and CI."""

    def __init__(self, plan: Plan, console: Console) -> None:
        self._tally = Tally(plan)
        self._console = console

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def __call__(self, event: Event) -> None:
        self._tally.take(event)
        match event:
            case RunStarted(planned=planned, done=done, workers=workers):
                self._print(f"{planned - done} of {planned} trials to run, {workers} at a time")
            case TrialEnded(index=index, trial=trial):
                place = f"[{self._tally.done}/{self._tally.planned}]"
                how = how_it_ended(trial)
                self._print(f"{place} {self._tally.title(index)}: {how}; {self._tally.summary()}")
            case _:
                pass

    def _print(self, line: str) -> None:
        self._console.print(line, soft_wrap=True, highlight=False, markup=False)


class TerminalProgress(AbstractContextManager["TerminalProgress"]):
    """A bar that stays on one line, and a line above it for each trial that is lost."""

    def __init__(self, plan: Plan, console: Console) -> None:
        self._tally = Tally(plan)
        self._bar = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[summary]}"),
            TextColumn("[dim]{task.description}", markup=True),
            console=console,
            transient=True,
            # Under the real clock whatever we draw is measured too.
            refresh_per_second=4,
        )
        self._task: TaskID = self._bar.add_task("booting", total=len(plan.trials), summary="")

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        self._tally.take(event)
        match event:
            case TrialStarted(index=index):
                self._bar.update(self._task, description=self._tally.title(index))
            case TrialEnded(index=index, trial=trial) if trial.status != "ok":
                line = f"{self._tally.title(index)}: {how_it_ended(trial)}"
                self._bar.console.print(line, highlight=False, markup=False)
            case _:
                pass
        self._bar.update(self._task, completed=self._tally.done, summary=self._tally.summary())


def progress_of(plan: Plan, console: Console) -> LineProgress | TerminalProgress:
    """The display that suits where stderr leads."""
    return TerminalProgress(plan, console) if console.is_terminal else LineProgress(plan, console)


def how_it_ended(trial: TrialRecord) -> str:
    """The status, and as much of the reason as a line holds; the record has all of it."""
    if trial.reason is None:
        return trial.status
    return textwrap.shorten(
        f"{trial.status}: {trial.reason}", REASON_CHARACTERS, placeholder=" ..."
    )


def cell_title(cell: Cell) -> str:
    """`nfs4.2, realistic, batch read 4KiB x8`; of objects `s3, realistic, object put 4KiB x8`."""
    parameters = cell.workload.parameters
    words = [cell.workload.name, str(parameters.get("operation", ""))]
    sizes = (parameters.get(name) for name in ("file_size_bytes", "object_size_bytes"))
    words += [quantity.size_text(size) for size in sizes if isinstance(size, int)]
    counts = (parameters.get(name, 1) for name in ("threads", "parallel", "parts"))
    words += [f"x{count}" for count in counts if count != 1]
    return ", ".join([cell.system.name, cell.network.name, " ".join(filter(None, words))])


def span_text(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, whole_s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole_s:02}" if hours else f"{minutes}:{whole_s:02}"
