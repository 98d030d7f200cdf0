"""Claims about sets of files, by one thread and by many: H14 4.5 and 4.6, O15 IV-D and IV-E."""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis.findings.cells import (
    LARGE,
    MIB,
    SMALL,
    check,
    family,
    pairs,
    pick,
    rate,
    series,
    size_of,
    told,
)
from wavetank.analysis.findings.shapes import knee, leads, rate_words
from wavetank.analysis.findings.verdict import Check, Claim
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import factor_text, listed, percent_text, system_text

SLOW_BELOW = 4 * MIB
MANY_THREADS = 16
LATEST_KNEE = 16
"""Seen only where twice as many threads were tried."""
LEVEL_SHARE = 0.8
GAIN_BY_THREADS = 1.5
FAR_BEHIND = 2.0
RECOVERS = 1.5

OPEN_OWNER = (
    "H14 had Linux 3.2, which mounts NFS 4 as 4.0 by default: there one user's OPEN and CLOSE go "
    "one at a time (sequence numbers of the open-owner, RFC 7530 9.1.7). NFS 4.1 has no such order "
    "(RFC 8881 8.8). Measured here over 50 ms, reading 4 KiB files: nfs4.0 stops at 2 threads, "
    "nfs4.2 at 32 and nfs3 not up to 64. Creating files in one directory stops at 2 to 4 threads "
    "in all versions. On the ideal network one thread of iSCSI nearly fills the link already."
)
MADE_BEFORE = (
    "A single write is timed here from its open to its close, and the directory it goes to is made "
    "just before: that has read the metadata (24 KiB, five commands on the wire) which the papers' "
    "single access had to wait for. What is left, a batch pays as well for each file."
)
SYNC_COMMIT = (
    "Direct iSCSI leads as published; with sync access it does not. Each file then waits for a "
    "commit of ext4's journal, four round trips (content, journal, cache flush, commit record), "
    "while NFS takes two (version 3) or three (4.2). That the papers' NFS took longer, for more "
    "calls per file or for the server's disk, which is memory here, is presumed."
)


def batches_help_small_files(rows: Sequence[CellRow]) -> list[Check]:
    batch = pick(
        rows, workload="batch", threads=1, family="iscsi", operation="write", file_size_bytes=SMALL
    )
    single = pick(
        rows, workload="single-file", family="iscsi", operation="write", file_size_bytes=SMALL
    )
    checks = []
    for many in batch:
        for one in single:
            alike = ("access",)
            if (many.system, many.network, many.clock) != (one.system, one.network, one.clock):
                continue
            if any(many.parameters.get(name) != one.parameters.get(name) for name in alike):
                continue
            gain = rate(many) / rate(one)
            text = f"{told(many, size_of(many))}: {factor_text(gain)} the single access"
            text += f" ({rate_words(many)} against {rate_words(one)})"
            checks.append(check(text, gain > 10, [many, one]))
    return checks


def iscsi_writes_small_sets_fastest(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", threads=1, operation="write", file_size_bytes=SMALL)
    return leads(pairs(found, _is_iscsi, _is_other, ["system"]))


def swift_leads_on_the_realistic_network(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", threads=1, nature="realistic")
    both = pairs(found, _is_swift, lambda row: not _is_swift(row), ["system", "access"])
    return leads([pair for pair in both if not _is_small_write(pair[0])])


def direct_writes_far_ahead_of_sync(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(
        rows, workload="batch", threads=1, operation="write", family="iscsi", file_size_bytes=SMALL
    )
    return leads(pairs(found, _is_direct, _is_sync, ["access"]), least=2.0)


def large_files_level_on_the_ideal_network(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", threads=1, nature="ideal", file_size_bytes=LARGE)
    groups: dict[tuple[str, str, str], list[CellRow]] = {}
    for row in found:
        key = row.network, row.operation, str(row.parameters.get("access"))
        groups.setdefault(key, []).append(row)
    checks = []
    for group in groups.values():
        if len({family(row) for row in group}) < 2:
            continue
        slowest, fastest = min(group, key=rate), max(group, key=rate)
        share = rate(slowest) / rate(fastest)
        names = listed([f"{system_text(row.system)} {rate_words(row)}" for row in group])
        text = f"{told(fastest, size_of(fastest))}: slowest at {percent_text(share)} of this "
        checks.append(check(text + f"({names})", share >= LEVEL_SHARE, group))
    return checks


def threads_help_iscsi_and_stop_helping_nfs(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", file_size_bytes=SMALL, family=("iscsi", "nfs"))
    checks = []
    for points in series(found, "threads"):
        most = points[-1].parameters.get("threads", 1)
        if points[0].parameters.get("threads") != 1 or not _at_least(most, MANY_THREADS):
            continue
        gain = rate(points[-1]) / rate(points[0])
        if family(points[0]) == "iscsi":
            text = f"{told(points[0])}: {factor_text(gain)} from 1 to {most} threads"
            checks.append(check(text, gain >= GAIN_BY_THREADS, points))
        elif _at_least(most, 2 * LATEST_KNEE):
            at = knee(points, "threads")
            text = f"{told(points[0])}: nine tenths of the best rate at {at:g} threads"
            text += f" of up to {most}, {factor_text(gain)} over all"
            checks.append(check(text, at <= LATEST_KNEE, points))
    return checks


def swift_peaks_at_32_threads(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", file_size_bytes=SMALL, family="swift")
    checks = []
    for points in series(found, "threads"):
        if _at_least(points[-1].parameters.get("threads", 1), 64):
            best = max(points, key=rate)
            text = f"{told(best)}: best at {best.parameters.get('threads')} threads"
            checks.append(check(text, best.parameters.get("threads") == 32, points))
    return checks


def ideal_small_reads_in_order(rows: Sequence[CellRow]) -> list[Check]:
    """Also without Swift: that iSCSI leads NFS is a claim of its own; the check says so."""
    found = pick(rows, workload="batch", nature="ideal", operation="read", file_size_bytes=SMALL)
    checks = leads(pairs(found, _is_iscsi, _is_nfs, ["system"]))
    for nfs, swift in pairs(found, _is_nfs, _is_swift, ["system", "access"]):
        ratio = rate(nfs) / rate(swift)
        text = f"{told(nfs)}: {factor_text(ratio)} Swift"
        checks.append(check(text, 1.5 <= ratio <= 3, [nfs, swift]))
    return checks


def nfs_far_behind_over_latency(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", nature="latency", operation="read", file_size_bytes=SMALL)
    many = [row for row in found if _at_least(row.parameters.get("threads", 1), MANY_THREADS)]
    checks = leads(pairs(many, _is_iscsi, _is_nfs, ["system"]), least=FAR_BEHIND)
    swift = pairs(many, _is_swift, _is_iscsi, ["system", "access"])
    return checks + leads(swift, least=0.95)


def one_connection_cannot_fill_a_lossy_link(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", nature="realistic", file_size_bytes=LARGE)
    checks = []
    for row in found:
        if not _at_least(row.parameters.get("threads", 1), MANY_THREADS):
            continue
        words = told(row, f"{row.parameters['threads']} threads")
        if _is_swift(row):
            share = row.link_utilisation or 0.0
            text = f"{words}: {percent_text(share)} of the link"
            checks.append(check(text, share > 0.9, [row]))
        else:
            text = f"{words}: {rate_words(row)}"
            checks.append(check(text, rate(row) < SLOW_BELOW, [row]))
    return checks


def several_connections_recover_the_loss(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", nature="realistic", file_size_bytes=LARGE)
    many = [row for row in found if _at_least(row.parameters.get("threads", 1), MANY_THREADS)]
    checks = []
    for above, below in pairs(
        many,
        lambda row: _connections(row) > 1,
        lambda row: _connections(row) == 1,
        ["system"],
    ):
        if above.system.partition(":")[0] != below.system.partition(":")[0]:
            continue
        ratio = rate(above) / rate(below)
        threads = f"{above.parameters['threads']} threads"
        text = f"{told(above, threads)}: {factor_text(ratio)} "
        text += f"one connection ({rate_words(above)} against {rate_words(below)})"
        checks.append(check(text, ratio >= RECOVERS, [above, below]))
    return checks


def _connections(row: CellRow) -> int:
    return max(int(row.options.get(name, 1)) for name in ("nconnect", "sessions"))


def _at_least(value: object, least: int) -> bool:
    return isinstance(value, int | float) and value >= least


def _is_small_write(row: CellRow) -> bool:
    return row.operation == "write" and row.parameters.get("file_size_bytes") == SMALL


def _is_iscsi(row: CellRow) -> bool:
    return family(row) == "iscsi"


def _is_nfs(row: CellRow) -> bool:
    return family(row) == "nfs"


def _is_swift(row: CellRow) -> bool:
    return family(row) == "swift"


def _is_other(row: CellRow) -> bool:
    return family(row) in {"nfs", "swift"}


def _is_direct(row: CellRow) -> bool:
    return row.parameters.get("access") == "direct"


def _is_sync(row: CellRow) -> bool:
    return row.parameters.get("access") == "sync"


_THREADED = "batch cells of 4 KiB files from 1 to at least 16 threads"
CLAIMS = [
    Claim(
        id="bat-1",
        text="Written as a set, small files on iSCSI go orders of magnitude faster than one alone.",
        source="O15 IV-D",
        published="several orders of magnitude (here: over 10 times at 4 KiB)",
        needs="batch and single-file cells of iSCSI writing 4 KiB with the same access",
        check=batches_help_small_files,
        since=MADE_BEFORE,
    ),
    Claim(
        id="bat-2",
        text="With one thread, iSCSI writes sets of small files fastest on every network.",
        source="H14 4.5, O15 IV-D",
        published="first on all networks",
        needs="batch cells of NFS and iSCSI writing 4 KiB files with one thread",
        check=iscsi_writes_small_sets_fastest,
        since=SYNC_COMMIT,
    ),
    Claim(
        id="bat-3",
        text="On the realistic network Swift comes first with one thread, but for small writes.",
        source="O15 IV-D",
        published="order",
        needs="batch cells of Swift, which joins later",
        check=swift_leads_on_the_realistic_network,
    ),
    Claim(
        id="bat-4",
        text="Writing small files, direct iSCSI is far ahead of synchronous iSCSI.",
        source="H14 4.5, O15 IV-D",
        published="far ahead (here: over 2 times at 4 KiB)",
        needs="batch cells of iSCSI writing 4 KiB files with direct and with sync access",
        check=direct_writes_far_ahead_of_sync,
    ),
    Claim(
        id="bat-5",
        text="Sets of 16 MiB files take every system the same time on the ideal network.",
        source="H14 4.5",
        published="level (here: within 20 %)",
        needs="batch cells of two systems with 16 MiB files, one thread, an ideal network",
        check=large_files_level_on_the_ideal_network,
    ),
    Claim(
        id="thr-1",
        text="More threads help iSCSI with small files; NFS stops gaining after a few.",
        source="H14 4.6 and 7.2.2, O15 IV-E",
        published="NFS levels at 2 to 16 threads (O15: 2 to 4)",
        needs=_THREADED,
        check=threads_help_iscsi_and_stop_helping_nfs,
        on_swift_too=True,
        since=OPEN_OWNER,
    ),
    Claim(
        id="thr-2",
        text="Swift gains up to 32 threads and loses a little at 64.",
        source="H14 4.6.1, O15 IV-E",
        published="peak at 32 threads",
        needs="batch cells of Swift, which joins later",
        check=swift_peaks_at_32_threads,
    ),
    Claim(
        id="thr-3",
        text="On the ideal network 4 KiB files are read fastest on iSCSI, then NFS, which does "
        "twice Swift.",
        source="H14 4.6.1, O15 IV-E",
        published="iSCSI over NFS, NFS twice Swift",
        needs="batch cells of NFS and iSCSI reading 4 KiB files on an ideal network",
        check=ideal_small_reads_in_order,
        on_swift_too=True,
    ),
    Claim(
        id="thr-4",
        text="With 50 ms, 4 KiB reads put Swift level with iSCSI and NFS far behind both.",
        source="H14 4.6.1",
        published="order (here: iSCSI over 2 times NFS)",
        needs=f"{_THREADED}, reading on a network with latency",
        check=nfs_far_behind_over_latency,
        on_swift_too=True,
        since=OPEN_OWNER,
    ),
    Claim(
        id="thr-5",
        text="On the realistic network Swift's many threads fill the link with 16 MiB files, "
        "while NFS and iSCSI crawl.",
        source="H14 4.6.2",
        published="12.5 MiB/s against less than 4 MiB/s",
        needs="batch cells of 16 MiB files with 16 threads or more on a realistic network",
        check=one_connection_cannot_fill_a_lossy_link,
        on_swift_too=True,
    ),
    Claim(
        id="thr-6",
        text="That is a matter of TCP connections: with several, NFS and iSCSI recover much of it.",
        source="conjectured in H14 7.1 and O15 IV-E3",
        published="no number (here: 1.5 times or more)",
        needs="the cells of thr-5 with nconnect or sessions above 1, and with 1",
        check=several_connections_recover_the_loss,
        variants=True,
    ),
]
