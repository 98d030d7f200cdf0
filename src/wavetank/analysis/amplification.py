"""Amplification: bytes on the link for each byte of payload, and the models of what makes it.

    single access        A(s)    = (c + s) / s            H14 4.7, O15 eq. 1
    batch, sync write    A(s)    = (j + m + s) / s        O15 eq. 2
    the same, n threads  A(n, s) = (j + m + n s) / (n s)  O15 eq. 3

All are A = b + c x with x = 1/s or 1/(n s). The papers count SCSI payload alone, so their b is 1;
on the link, headers and acknowledgements come on top in proportion, and b is fitted with c. The
residuals are weighted by 1/A: an error of 5 % counts the same at a ratio of 40 and of 1.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wavetank.analysis.fits import Line, fit_line
from wavetank.analysis.intervals import Interval
from wavetank.analysis.labels import Scalar
from wavetank.analysis.rows import CellRow
from wavetank.study.study import Model

KIB = 1024
LEAST_POINTS = 3


class PublishedConstant(msgspec.Struct, frozen=True):
    """What a paper says the constant is; `low` and `high` where it gives a range."""

    low_bytes: float
    high_bytes: float
    source: str


PUBLISHED: dict[Model, list[PublishedConstant]] = {
    "single-read": [PublishedConstant(148 * KIB, 148 * KIB, "H14 4.7, O15 equation 1")],
    "single-write": [PublishedConstant(204 * KIB, 204 * KIB, "H14 4.7, O15 equation 1")],
    "batch-write": [
        PublishedConstant(36 * KIB, 40 * KIB, "O15 equation 2"),
        PublishedConstant(23 * KIB, 23 * KIB, "H14 4.7"),
    ],
    "batch-write-threads": [PublishedConstant(36 * KIB, 40 * KIB, "O15 equation 3")],
}
"""All of iSCSI with ext4; other systems have no such constant in the papers."""


class AmplificationFit(msgspec.Struct, frozen=True, kw_only=True):
    """One model fitted to the cells of one system, access and network.

    `constant_bytes`: what each file (or round of n files) costs beside its content; `base`: bytes
    on the link per byte however large the file. `digests` are the cells fitted to.
    """

    model: Model
    system: str
    network: str
    access: str
    constant_bytes: float
    constant_interval: Interval | None
    base: float
    points: int
    digests: list[str]
    published: list[PublishedConstant]

    def ratio_at(self, payload_bytes: float) -> float:
        """The model's amplification for a payload of s, or n s, bytes."""
        return self.base + self.constant_bytes / payload_bytes


def shared_payload_bytes(row: CellRow, model: Model) -> float:
    """What shares one fixed cost: a file, or the files that n threads have open."""
    size = _number(row.parameters.get("file_size_bytes"))
    threads = _number(row.parameters.get("threads")) or 1
    return size * threads if model == "batch-write-threads" else size


def fit_amplification(rows: Sequence[CellRow]) -> list[AmplificationFit]:
    """Every model that `rows` have the cells for, in the models' order."""
    fits = []
    for model in PUBLISHED:
        groups: dict[tuple[str, str, str, Scalar], list[CellRow]] = {}
        for row in rows:
            if row.amplification is not None and _fits_model(row, model):
                fixed = row.parameters.get("file_size_bytes") if _by_threads(model) else None
                key = (row.system, row.network, str(row.parameters.get("access", "")), fixed)
                groups.setdefault(key, []).append(row)
        for group in groups.values():
            found = fit_model(model, group)
            if found is not None:
                fits.append(found)
    return fits


def fit_model(model: Model, rows: Sequence[CellRow]) -> AmplificationFit | None:
    """`model` fitted to `rows` of one system, network and access; None for too few of them."""
    usable = [row for row in rows if row.amplification]
    payloads = [shared_payload_bytes(row, model) for row in usable]
    if len(set(payloads)) < LEAST_POINTS:
        return None
    ratios = [row.amplification or 0.0 for row in usable]
    line: Line | None = fit_line(
        [1 / payload for payload in payloads], ratios, [1 / ratio for ratio in ratios]
    )
    if line is None:
        return None
    first = usable[0]
    return AmplificationFit(
        model=model,
        system=first.system,
        network=first.network,
        access=str(first.parameters.get("access", "")),
        constant_bytes=line.slope,
        constant_interval=line.slope_interval,
        base=line.intercept,
        points=line.points,
        digests=[row.digest for row in usable],
        published=PUBLISHED[model] if first.system.partition(":")[0] == "iscsi" else [],
    )


def overhead_bytes_per_file(row: CellRow) -> float | None:
    """Bytes on the link beside the content, per file."""
    size = _number(row.parameters.get("file_size_bytes"))
    if row.amplification is None or not size:
        return None
    return (row.amplification - 1) * size


def _fits_model(row: CellRow, model: Model) -> bool:
    found = row.parameters
    if model in {"single-read", "single-write"}:
        return row.workload == "single-file" and row.operation == model.removeprefix("single-")
    batch_write = row.workload == "batch" and row.operation == "write"
    if not batch_write or found.get("access") != "sync":
        return False
    return model == "batch-write-threads" or found.get("threads") == 1


def _by_threads(model: Model) -> bool:
    return model == "batch-write-threads"


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
