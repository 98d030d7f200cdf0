"""Ours beside the published: each number that a paper gives, and the cells that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from wavetank.analysis.amplification import AmplificationFit, overhead_bytes_per_file
from wavetank.analysis.rows import CellRow
from wavetank.study.study import Published, Quantity

ABOUT = 1.25
"""What a paper calls `about` may be this factor off either way."""

EQUAL = 1.05


class BesidePublished(msgspec.Struct, frozen=True, kw_only=True):
    """One published number and ours: the median over the cells it is about, least and most.

    `ratio` is ours over theirs. `agrees` follows the relation: equal within 5 %, about within a
    quarter, below and above as they say; None where we have no number.
    """

    published: Published
    ours: float | None
    least: float | None
    most: float | None
    ratio: float | None
    agrees: bool | None
    digests: list[str]


def beside_published(
    published: Sequence[Published], rows: Sequence[CellRow], fits: Sequence[AmplificationFit]
) -> list[BesidePublished]:
    """One for each published number, in their order."""
    return [_beside(one, rows, fits) for one in published]


def is_about(published: Published, row: CellRow) -> bool:
    """Whether the published number is about this cell."""
    network = published.network
    return (
        row.status == "ok"
        and row.system.partition(":")[0] == published.system
        and network in {"", row.network, row.network_declared.name}
        and (not published.part or published.part in row.parts)
        and published.options.items() <= row.options.items()
        and published.client_disk in {"", row.client_disk}
        and published.client_memory_bytes in {None, row.client_memory_bytes}
        and published.client_processors in {None, row.client_processors}
        and published.parameters.items() <= {**row.parameters, "operation": row.operation}.items()
    )


def value_of(row: CellRow, quantity: Quantity) -> float | None:
    """A quantity of one cell; None where the cell has none. Counts are per trial."""
    match quantity:
        case "link_bytes" | "link_packets" | "requests":
            total: int | None = getattr(row, quantity)
            return None if total is None else total / max(row.repeats_ok, 1)
        case "metadata_bytes_per_file":
            return overhead_bytes_per_file(row)
        case "fixed_overhead_bytes" | "journal_bytes":
            return None
        case _:
            found: float | None = getattr(row, quantity)
            return found


def _beside(
    published: Published, rows: Sequence[CellRow], fits: Sequence[AmplificationFit]
) -> BesidePublished:
    about = [row for row in rows if is_about(published, row)]
    values, digests = _values(published.quantity, about, fits)
    ours = median(values) if values else None
    ratio = ours / published.value if ours is not None and published.value else None
    return BesidePublished(
        published=published,
        ours=ours,
        least=min(values, default=None),
        most=max(values, default=None),
        ratio=ratio,
        agrees=None if ratio is None else _agrees(published, values, ratio),
        digests=digests,
    )


def _values(
    quantity: Quantity, about: Sequence[CellRow], fits: Sequence[AmplificationFit]
) -> tuple[list[float], list[str]]:
    if quantity in {"fixed_overhead_bytes", "journal_bytes"}:
        digests = {row.digest for row in about}
        kinds = "single-" if quantity == "fixed_overhead_bytes" else "batch-write"
        fitted = [
            fit
            for fit in fits
            if fit.model.startswith(kinds)
            and fit.model != "batch-write-threads"
            and digests & set(fit.digests)
        ]
        cells = [digest for fit in fitted for digest in fit.digests]
        return [fit.constant_bytes for fit in fitted], list(dict.fromkeys(cells))
    pairs = [(row, value) for row in about if (value := value_of(row, quantity)) is not None]
    return [value for _, value in pairs], [row.digest for row, _ in pairs]


def _agrees(published: Published, values: Sequence[float], ratio: float) -> bool:
    match published.relation:
        case "below":
            return max(values) < published.value
        case "above":
            return min(values) > published.value
        case "about":
            return 1 / ABOUT <= ratio <= ABOUT
        case _:
            return 1 / EQUAL <= ratio <= EQUAL
