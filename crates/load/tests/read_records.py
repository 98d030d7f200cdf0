"""Reads an engine's output as Wavetank does and checks each histogram against its counts."""

import sys
from pathlib import Path

import msgspec
from hdrh.histogram import HdrHistogram

from wavetank.runs.records import PhaseRecord

lines = Path(sys.argv[1]).read_bytes().splitlines()
for line in lines:
    record = msgspec.json.decode(line, type=PhaseRecord)
    for operation in record.operations:
        histogram = HdrHistogram.decode(operation.latency_histogram)
        name = f"{record.phase} {operation.operation}"
        assert histogram.get_total_count() == operation.count, name
        longest = histogram.get_max_value()
        assert abs(longest - operation.latency_ns_max) <= operation.latency_ns_max / 1000, name
    assert sum(record.series.operations) == record.operations[0].count, record.phase
sys.stdout.write(f"{len(lines)} records\n")
