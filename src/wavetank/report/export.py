"""The results as data: one JSON document, and the rows as CSV. Nothing here is rounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from wavetank.analysis import Analysis, CellRow, Comparison, sentence
from wavetank.runs.records import Environment

DOCUMENT_SCHEMA = 1

CSV_COLUMNS = (
    "system",
    "network",
    "workload",
    "operation",
    "clock",
    "seed",
    "status",
    "reason",
    "operations",
    "failed_operations",
    "operations_per_s",
    "throughput_bytes_per_s",
    "latency_ns_p50",
    "latency_ns_p90",
    "latency_ns_p99",
    "latency_ns_p999",
    "latency_ns_max",
    "elapsed_s",
    "payload_bytes",
    "link_bytes",
    "link_packets",
    "requests",
    "retries",
    "dropped_packets",
    "retransmitted_packets",
    "amplification",
    "round_trips_p50",
    "link_utilisation",
    "steady",
    "repeats",
    "repeats_ok",
    "simulated_s",
    "wall_s",
    "disk",
    "cache_state",
    "syscall_ns",
    "client_disk",
    "client_memory_bytes",
    "client_processors",
    "overall_bytes_per_s",
    "processors_used",
    "latency_ns_mean",
    "digest",
)


def json_document(analysis: Analysis, environment: Environment) -> dict[str, Any]:
    """The document of `--json`, made of plain values: schema, environment, clock, verdicts, cells;
    findings, fitted models, policies and published values where the run is a study's.

    `clock` is `mixed` where cells of both clocks are there; each cell has its own beside it.
    """
    clocks = {row.clock for row in analysis.rows}
    document = {
        "schema": DOCUMENT_SCHEMA,
        "environment": _plain(environment),
        "clock": clocks.pop() if len(clocks) == 1 else "mixed",
        "networks": [
            {"network": one.network, "clock": one.clock, "headline": one.headline}
            for one in analysis.networks
        ],
        "verdicts": [_verdict(one) for one in analysis.comparisons],
        "cells": [_plain(row) for row in analysis.rows],
    }
    if analysis.study is not None:
        document["study"] = _plain(analysis.study)
    return document


def _verdict(comparison: Comparison) -> dict[str, Any]:
    return {"verdict": sentence(comparison), **_plain(comparison)}


def _plain(record: msgspec.Struct) -> dict[str, Any]:
    """As JSON has it: no tuple, which `to_builtins` would leave."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return plain


def csv_text(rows: Sequence[CellRow]) -> str:
    """One line per row, under the names of `table_of`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header, lines = table_of(rows)
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()


def table_of(rows: Sequence[CellRow]) -> tuple[list[str], list[list[object]]]:
    """Names and lines: the fixed columns, then one for each parameter of the workloads."""
    parameters = list(
        dict.fromkeys(name for row in rows for name in row.parameters if name != "operation")
    )
    ends = ("throughput_low", "throughput_high", "operations_low", "operations_high")
    lines: list[list[object]] = []
    for row in rows:
        fixed = [getattr(row, name) for name in CSV_COLUMNS]
        stated = [row.parameters.get(name) for name in parameters]
        options = ";".join(f"{name}={value}" for name, value in row.options.items())
        parts = ";".join(row.parts)
        outliers = sum(trial.outlier for trial in row.trials)
        lines.append([*fixed, *_ends(row), *stated, options, parts, outliers])
    return [*CSV_COLUMNS, *ends, *parameters, "options", "parts", "outlier_repeats"], lines


def _ends(row: CellRow) -> list[float | None]:
    intervals = (row.throughput_interval, row.operations_interval)
    return [end for one in intervals for end in ((one.low, one.high) if one else (None, None))]
