"""A run as an object: rows, data frames, verdicts and report, computed from its directory."""

from __future__ import annotations

import importlib
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from wavetank.analysis import Analysis, CellRow, analyse, sentence
from wavetank.analysis.differences import DEFAULT_THRESHOLD, RunDifference, difference
from wavetank.cli.outcome import write_report
from wavetank.errors import UsageError
from wavetank.report.columns import frame
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Environment, Plan, TrialRecord

if TYPE_CHECKING:
    import polars

Library = Literal["polars", "pandas"]


class Results:
    """A run directory read back. Nothing here is rounded; units stand in the names."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def path(self) -> Path:
        """The run directory."""
        return self._run.path

    @property
    def plan(self) -> Plan:
        """What was asked."""
        return self._run.plan

    @property
    def environment(self) -> Environment:
        """Where it was measured."""
        return self._run.environment

    @property
    def trials(self) -> list[TrialRecord]:
        """Every trial that ended, as it was measured: histograms, series, link, TCP counters."""
        return self._run.trials

    @property
    def complete(self) -> bool:
        """Whether every trial of the plan is done."""
        return not self._run.missing

    @cached_property
    def analysis(self) -> Analysis:
        """Rows, comparisons and verdicts."""
        return analyse(self._run.plan, self._run.trials, self._run.walls)

    def rows(self) -> list[CellRow]:
        """One record for each cell and operation, repeats joined, in the plan's order.

        Rates are medians over repeats (`throughput_bytes_per_s`, `operations_per_s`), percentiles
        come from merged histograms (`latency_ns_p50`, ...). What is void keeps its place, with
        `status` and `reason` and without numbers.
        """
        return self.analysis.rows

    def verdicts(self) -> list[str]:
        """Who wins by what factor, a sentence for each network and set of conditions."""
        return [sentence(one) for one in self.analysis.comparisons]

    @overload
    def data_frame(self) -> polars.DataFrame: ...

    @overload
    def data_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...

    @overload
    def data_frame(self, library: Literal["pandas"]) -> Any: ...

    def data_frame(self, library: Library = "polars") -> Any:
        """The rows as a data frame: the columns of the CSV, parameters of the workload included.

        Raises UsageError where pandas is asked for and not installed.
        """
        if library not in ("polars", "pandas"):
            raise UsageError(
                f"'{library}' is no library of data frames here; say polars or pandas."
            )
        found = frame(self.rows())
        if library == "polars":
            return found
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise UsageError(
                "pandas is not installed. Try: pip install pandas, or data_frame() for polars."
            ) from None
        return pandas.DataFrame(found.to_dict(as_series=False))

    def report(self, path: str | Path | None = None) -> Path:
        """Writes the HTML report, by default into the run directory, CSV and Parquet beside it;
        its path.
        """
        return write_report(self._run, Path(path) if path is not None else None)

    def diff(
        self, later: Results, *, threshold: float = DEFAULT_THRESHOLD, force: bool = False
    ) -> RunDifference:
        """What changed from this run to a later one, cell by cell; `threshold` 0.05 is 5 %.

        Raises AnalysisError for runs of unlike environments unless `force`d, and for runs that
        have no cell in common.
        """
        return difference(self._run, later._run, threshold=threshold, force=force)

    def __repr__(self) -> str:
        done = len(self.plan.trials) - len(self._run.missing)
        return f"<Results {self.path}: {done} of {len(self.plan.trials)} trials>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the question, the verdicts, the frame."""
        verdicts = "".join(f"<li>{escape(text)}</li>" for text in self.verdicts())
        table = frame(self.rows())._repr_html_()
        return f"<p><b>{escape(self.plan.question)}</b></p><ul>{verdicts}</ul>{table}"


def load(path: str | Path) -> Results:
    """A run directory, also one that is still being written.

    Raises RunDirectoryRefused for what is none, or of a newer format.
    """
    return Results(directory.read(Path(path)))
