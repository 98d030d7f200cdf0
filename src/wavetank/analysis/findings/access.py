"""Claims about access units and single files: H14 4.3 and 4.4, O15 IV-B and IV-C."""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.findings.cells import (
    LARGE,
    MIB,
    SMALL,
    check,
    family,
    mean_ratio,
    nature,
    number,
    pairs,
    pick,
    rate,
    series,
    size_of,
    told,
)
from wavetank.analysis.findings.shapes import is_level, leads, rises, sizes_told, some
from wavetank.analysis.findings.verdict import Check, Claim
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import factor_text, percent_text

UNIT, SIZE = "unit_bytes", "file_size_bytes"
FAR_BEYOND_LINK = 2.0
READ_AHEAD_SPREAD, WHOLE_OBJECT_SPREAD = 1.3, 1.2


def _units(rows: Sequence[CellRow], **wanted: object) -> list[list[CellRow]]:
    found = pick(rows, workload="access-unit", **{"family": ("nfs", "iscsi"), **wanted})
    return series(found, UNIT)


def direct_gains_from_larger_units(rows: Sequence[CellRow]) -> list[Check]:
    return some([rises(points, UNIT) for points in _units(rows, access="direct")])


def sync_reads_do_not_depend_on_the_unit(rows: Sequence[CellRow]) -> list[Check]:
    found = _units(rows, access="sync", operation="read", nature=("ideal", "latency"))
    return some([is_level(points, UNIT, READ_AHEAD_SPREAD) for points in found])


def iscsi_sync_read_stays_low_over_latency(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="access-unit", access="sync", operation="read", nature="latency")
    both = pairs(found, _is_iscsi, _is_nfs, ["system"])
    by_network: dict[tuple[str, str], list[tuple[CellRow, CellRow]]] = {}
    for pair in both:
        by_network.setdefault((pair[0].network, pair[1].system), []).append(pair)
    checks = []
    for group in by_network.values():
        shares = [rate(iscsi) / rate(nfs) for iscsi, nfs in group]
        text = f"{told(group[0][0])}: {percent_text(min(shares))} to {percent_text(max(shares))}"
        text += " of NFS over the units"
        checks.append(check(text, max(shares) < 0.5, [row for pair in group for row in pair]))
    return checks


def iscsi_default_writes_stay_in_memory(rows: Sequence[CellRow]) -> list[Check]:
    checks = []
    for points in _units(rows, access="default", operation="write", family="iscsi"):
        known = [row for row in points if row.link_utilisation is not None]
        if not known:
            continue
        least = min(known, key=lambda row: row.link_utilisation or 0)
        beyond = least.link_utilisation or 0.0
        text = f"{told(least)}: at least {factor_text(beyond)} what the link carries"
        checks.append(check(text, beyond > FAR_BEYOND_LINK, known))
    return checks


def iscsi_direct_write_beats_sync(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="access-unit", operation="write", family="iscsi")
    return leads(pairs(found, _is_direct, _is_sync, ["access"]))


def whole_objects_do_not_depend_on_the_unit(rows: Sequence[CellRow]) -> list[Check]:
    found = _units(rows, family="swift")
    return some([is_level(points, UNIT, WHOLE_OBJECT_SPREAD) for points in found])


def loss_hurts_small_units_most(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="access-unit", access="direct", family=("nfs", "iscsi"))
    both = pairs(
        found,
        lambda row: nature(row) == "loss",
        lambda row: nature(row) == "ideal",
        ["network"],
    )
    groups: dict[tuple[str, str, str, str], list[tuple[CellRow, CellRow]]] = {}
    for lossy, ideal in both:
        if lossy.network_declared.rate_bit_per_s == ideal.network_declared.rate_bit_per_s:
            key = lossy.system, lossy.operation, lossy.network, ideal.network
            groups.setdefault(key, []).append((lossy, ideal))
    checks = []
    for group in groups.values():
        group.sort(key=lambda pair: number(pair[0], UNIT))
        if len(group) < 2:
            continue
        small, large = (rate(group[i][0]) / rate(group[i][1]) for i in (0, -1))
        ends = [size_of(group[i][0], UNIT) for i in (0, -1)]
        text = (
            f"{told(group[0][0])}: keeps {percent_text(small)} of the ideal rate by {ends[0]}, "
            f"{percent_text(large)} by {ends[1]}"
        )
        checks.append(check(text, small < large, [row for pair in group for row in pair]))
    return checks


def throughput_rises_with_file_size(rows: Sequence[CellRow]) -> list[Check]:
    found = [row for row in pick(rows, workload="single-file") if number(row, SIZE) <= LARGE]
    return some([rises(points, SIZE) for points in series(found, SIZE)])


def ideal_network_has_a_leader_each_way(rows: Sequence[CellRow]) -> list[Check]:
    found = [
        row
        for row in pick(rows, workload="single-file", nature="ideal")
        if SMALL <= number(row, SIZE) <= MIB
    ]
    writes = pairs(pick(found, operation="write"), _is_iscsi, _is_nfs, ["system"])
    reads = pairs(pick(found, operation="read"), _is_nfs, _is_iscsi, ["system"])
    return leads(writes) + leads(reads)


def iscsi_loses_most_by_latency(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="single-file", nature=("ideal", "latency"))
    checks = _losses_to_latency(found)
    beyond = [
        row
        for row in pick(found, nature="latency", operation="read", access="sync")
        if number(row, SIZE) > MIB
    ]
    by_size = pairs(beyond, _is_iscsi, _is_nfs, ["system"])
    if by_size:
        ratios = [rate(iscsi) / rate(nfs) for iscsi, nfs in by_size]
        iscsi = sorted((pair[0] for pair in by_size), key=lambda row: number(row, SIZE))
        text = f"{told(iscsi[0])}, {sizes_told(iscsi)}: {factor_text(mean_ratio(ratios))} NFS"
        checks.append(check(text, max(ratios) < 1, [row for pair in by_size for row in pair]))
    return checks


def _losses_to_latency(rows: Sequence[CellRow]) -> list[Check]:
    both = pairs(
        rows,
        lambda row: nature(row) == "latency",
        lambda row: nature(row) == "ideal",
        ["network"],
    )
    kept: dict[tuple[str, str], dict[str, list[tuple[float, CellRow]]]] = {}
    for late, ideal in both:
        if late.network_declared.rate_bit_per_s != ideal.network_declared.rate_bit_per_s:
            continue
        work = late.operation, str(late.parameters.get("access"))
        families = kept.setdefault(work, {})
        families.setdefault(family(late), []).append((rate(late) / rate(ideal), late))
    checks = []
    for (operation, access), families in kept.items():
        if "iscsi" not in families or "nfs" not in families:
            continue
        means = {name: mean_ratio([one[0] for one in found]) for name, found in families.items()}
        text = (
            f"{operation}, {access}: with latency iSCSI keeps {percent_text(means['iscsi'])} of "
            f"its ideal rate, NFS {percent_text(means['nfs'])}"
        )
        cells = [row for found in families.values() for _, row in found]
        checks.append(check(text, means["iscsi"] < means["nfs"], cells))
    return checks


def _is_iscsi(row: CellRow) -> bool:
    return family(row) == "iscsi"


def _is_nfs(row: CellRow) -> bool:
    return family(row) == "nfs"


def _is_direct(row: CellRow) -> bool:
    return row.parameters.get("access") == "direct"


def _is_sync(row: CellRow) -> bool:
    return row.parameters.get("access") == "sync"


LARGE_READS = (
    "A read call larger than the read-ahead is no longer cut down to it (commit 9491ae4aade6, "
    "2016), so large units ask for more at once than small ones."
)
NFS_READ_AHEAD = (
    "The NFS client read 15 times rsize ahead when the papers were written, and reads 128 KiB "
    "ahead by default now: over a long path it waits as iSCSI does."
)
LOSS_DECIDES = (
    "Where packets are lost, what one connection gets over 50 ms at 0.1 % is 1.1 MB/s by Mathis' "
    "formula. Transfers of several MiB come near it, and repeats of one cell differ by a factor of "
    "four (0.5 to 2.1 MB/s measured at 4 MiB): a step back there is chance."
)
SYNC_JOURNAL = (
    "A synchronous write waits for a commit of ext4's journal: 77 kB on the link for 4 KiB of "
    "content, where NFS needs 8 kB; direct iSCSI writes lead up to 16 KiB. That the "
    "papers' NFS was slower because its server wrote to a real disk, which is memory here, is "
    "presumed."
)
_CELLS = "access-unit cells of NFS and iSCSI"
CLAIMS = [
    Claim(
        id="acc-1",
        text="With direct I/O, larger access units mean more throughput, on NFS and on iSCSI.",
        source="H14 4.3, O15 IV-B",
        published="rises from 4 KiB to 16 MiB units, reading and writing",
        needs=f"direct {_CELLS} at three units or more",
        check=direct_gains_from_larger_units,
        since=LOSS_DECIDES,
    ),
    Claim(
        id="acc-2",
        text="Synchronous reads run at one rate whatever the unit: read-ahead makes them large.",
        source="H14 4.3, O15 IV-B",
        published="level over the units (here: largest below 1.3 times smallest)",
        needs=f"synchronous reading {_CELLS} at three units or more",
        check=sync_reads_do_not_depend_on_the_unit,
        since=LARGE_READS,
    ),
    Claim(
        id="acc-3",
        text="Over 50 ms a synchronous iSCSI read is slow at every unit, as its commands go one "
        "after another.",
        source="H14 4.3, O15 IV-B",
        published="constantly low (here: below half of NFS at every unit)",
        needs=f"synchronous reading {_CELLS} on a network with latency",
        check=iscsi_sync_read_stays_low_over_latency,
        since=NFS_READ_AHEAD,
    ),
    Claim(
        id="acc-4",
        text="A default write on iSCSI ends in the client's memory.",
        source="H14 4.2, O15 IV-B",
        published="rate of the memory, not of the link",
        needs="writing access-unit cells of iSCSI with default access on a link of limited rate",
        check=iscsi_default_writes_stay_in_memory,
    ),
    Claim(
        id="acc-5",
        text="Direct writes on iSCSI outrun synchronous ones.",
        source="H14 4.3, O15 IV-B",
        published="slightly faster",
        needs="writing access-unit cells of iSCSI with direct and with sync access",
        check=iscsi_direct_write_beats_sync,
    ),
    Claim(
        id="acc-6",
        text="A client that fetches and stores whole objects does not feel the access unit.",
        source="H14 4.3, O15 IV-B",
        published="unaffected (here: largest below 1.2 times smallest)",
        needs="access-unit cells of Swift, which joins later",
        check=whole_objects_do_not_depend_on_the_unit,
    ),
    Claim(
        id="acc-7",
        text="Loss takes most from small units, where it hits the command that starts the work.",
        source="H14 4.3",
        published="no number; share of the ideal rate rises with the unit",
        needs=f"direct {_CELLS} on an ideal and a lossy network of one rate",
        check=loss_hurts_small_units_most,
    ),
    Claim(
        id="sgl-1",
        text="The larger a single file, the higher the throughput, on every system.",
        source="H14 4.4",
        published="rises from 4 KiB to 16 MiB",
        needs="single-file cells at three sizes or more",
        check=throughput_rises_with_file_size,
        since=LOSS_DECIDES,
    ),
    Claim(
        id="sgl-2",
        text="On the ideal network iSCSI leads in writing a single file, NFS in reading one.",
        source="O15 IV-C",
        published="order at 4 KiB to 1 MiB",
        needs="single-file cells of NFS and iSCSI on an ideal network",
        check=ideal_network_has_a_leader_each_way,
        since=SYNC_JOURNAL,
    ),
    Claim(
        id="sgl-3",
        text="50 ms take more from iSCSI than from NFS, and its synchronous reads fall behind "
        "beyond 1 MiB.",
        source="H14 4.4, O15 IV-C",
        published="order, and share of the ideal rate",
        needs="single-file cells of NFS and iSCSI on an ideal network and one with latency",
        check=iscsi_loses_most_by_latency,
        since=NFS_READ_AHEAD,
    ),
]
