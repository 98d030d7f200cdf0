"""The rows as a table of columns, for Parquet and for data frames: exact, one line per cell.

Polars writes Parquet and makes frames out of one wheel without further dependencies; pyarrow would
need a second library for frames, fastparquet needs pandas. It is imported when first used: the
page and the terminal do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wavetank.analysis import CellRow
from wavetank.report.export import table_of

if TYPE_CHECKING:
    import polars


def frame(rows: Sequence[CellRow]) -> polars.DataFrame:
    """A data frame of `rows`: the columns of the CSV, typed."""
    import polars  # noqa: PLC0415 - 50 ms and 180 MB that most commands do without

    header, lines = table_of(rows)
    columns = {name: [line[i] for line in lines] for i, name in enumerate(header)}
    return polars.DataFrame(
        {name: _of_one_type(values) for name, values in columns.items()}, strict=False
    )


def _of_one_type(values: list[object]) -> list[object]:
    """A parameter may be a word for one workload and a number for another: words, then."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if value is None else str(value) for value in values]
    if kinds == {int, float}:
        return [float(value) if isinstance(value, int | float) else None for value in values]
    return values


def write_parquet(rows: Sequence[CellRow], path: Path) -> None:
    """Writes the frame of `rows` to `path`."""
    frame(rows).write_parquet(path)
