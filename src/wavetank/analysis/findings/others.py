"""Claims about schedulers, amplification, bandwidth, and random and sequential access: H14 4.6.3,
4.7 and 4.8, O15 IV-F, R04 4.5 and 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wavetank.analysis.amplification import (
    KIB,
    AmplificationFit,
    fit_amplification,
    overhead_bytes_per_file,
)
from wavetank.analysis.findings.cells import (
    LARGE,
    MIB,
    SMALL,
    check,
    family,
    nature,
    pairs,
    pick,
    rate,
    series,
    size_of,
    told,
)
from wavetank.analysis.findings.shapes import rate_words
from wavetank.analysis.findings.verdict import Check, Claim
from wavetank.analysis.fits import fit_line
from wavetank.analysis.rows import CellRow
from wavetank.analysis.wording import (
    factor_text,
    kib_text,
    percent_text,
    significant,
    size_text,
    span_text,
    system_text,
)
from wavetank.study.study import Model

CONSTANT_WITHIN = 1.25
"""A fitted constant this far from the published one, either way, counts as the same."""

SCHEDULERS = (
    "CFQ left Linux in 5.0 with the single-queue block layer; bfq, its fair-queueing successor, "
    "stands in for it here."
)
INODE_TABLE = (
    "Not Linux but the disk's past: ext4 reads inode tables ahead in windows of 32 blocks, and no "
    "further than inodes were ever used. Here the file is alone on a fresh file system; with 1 100 "
    "others before and after it, reading or overwriting the same 4 KiB read 132 KiB more (SCSI "
    "commands on the wire), as H14 saw. The papers also overwrote a file where it is a new one "
    "here, and counted what was written back after the last call."
)
ASYNCHRONOUS_WRITES = (
    "The NFS client's own limit on pending writes, which R04 names as the cause, is gone: the "
    "page cache's general limits on dirty memory hold instead."
)


NO_REPEATED_CALLS = (
    "R04 saw its NFS client time out and repeat calls as the round trip grew. Over TCP Linux now "
    "waits 60 s before it does (timeo=600, nfs(5)), and both clients read ahead alike: they wait "
    "for as many round trips."
)


def bfq_starves_large_reads(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(
        rows,
        workload="batch",
        family="iscsi",
        operation="read",
        nature="latency",
        file_size_bytes=LARGE,
    )
    threaded = [row for row in found if _number(row, "threads") > 1]
    return [
        _against(bfq, deadline, rate(bfq) / rate(deadline) < 0.9)
        for bfq, deadline in pairs(threaded, _uses("bfq"), _uses("mq-deadline"), ["system"])
    ]


def schedulers_level_on_small_files(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", family="iscsi", nature="latency", file_size_bytes=SMALL)
    checks = []
    for deadline, bfq in pairs(found, _uses("mq-deadline"), _uses("bfq"), ["system"]):
        ratio = rate(deadline) / rate(bfq)
        reading = deadline.operation == "read"
        checks.append(_against(deadline, bfq, 0.9 < ratio < 1 / 0.9 if reading else ratio > 1.0))
    return checks


def _uses(scheduler: str) -> Callable[[CellRow], bool]:
    return lambda row: row.options.get("scheduler") == scheduler


def _against(one: CellRow, other: CellRow, holds: bool) -> Check:
    threads = f"{_number(one, 'threads'):g} threads"
    text = f"{told(one, size_of(one), threads)}: {factor_text(rate(one) / rate(other))} "
    text += f"{system_text(other.system)} ({rate_words(one)} against {rate_words(other)})"
    return check(text, holds, [one, other])


def single_read_costs_a_constant(rows: Sequence[CellRow]) -> list[Check]:
    return _constants(rows, "single-read", 148 * KIB, 148 * KIB)


def single_write_costs_a_constant(rows: Sequence[CellRow]) -> list[Check]:
    return _constants(rows, "single-write", 204 * KIB, 204 * KIB)


def batch_sync_write_costs_a_journal(rows: Sequence[CellRow]) -> list[Check]:
    return _constants(rows, "batch-write", 23 * KIB, 40 * KIB)


def _constants(rows: Sequence[CellRow], model: Model, low: float, high: float) -> list[Check]:
    """The fitted constant of iSCSI on each ideal network, against the published range."""
    checks = []
    for fit in _iscsi_fits(rows, model):
        holds = low / CONSTANT_WITHIN <= fit.constant_bytes <= high * CONSTANT_WITHIN
        checks.append(Check(fit_text(fit), holds, fit.digests))
    return checks


def _iscsi_fits(rows: Sequence[CellRow], model: Model) -> list[AmplificationFit]:
    ideal = pick(rows, family="iscsi", nature="ideal")
    return [fit for fit in fit_amplification(ideal) if fit.model == model]


def fit_text(fit: AmplificationFit) -> str:
    """`iSCSI, direct, on ideal-100: 148 KiB (120 KiB to 176 KiB) and 1.05 bytes per byte`."""
    access = f", {fit.access}" if fit.access else ""
    text = f"{system_text(fit.system)}{access} on {fit.network}: {kib_text(fit.constant_bytes)}"
    interval = fit.constant_interval
    if interval is not None:
        text += f" ({kib_text(interval.low)} to {kib_text(interval.high)})"
    return f"{text} and {significant(fit.base)} bytes per byte, fitted to {fit.points} cells"


def threads_share_the_journal(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(
        rows, workload="batch", family="iscsi", operation="write", access="sync", nature="ideal"
    )
    small = [row for row in found if row.amplification and _number(row, "file_size_bytes") <= MIB]
    checks = []
    for points in series(small, "threads"):
        if len(points) < 3:
            continue
        first, last = points[0].amplification or 1.0, points[-1].amplification or 1.0
        text = (
            f"{told(points[0], size_of(points[0]))}: {significant(first)} with "
            f"{_number(points[0], 'threads'):g} thread, {significant(last)} with "
            f"{_number(points[-1], 'threads'):g}"
        )
        # What is left above the base must shrink as the model has it: by n, here by half or more.
        checks.append(check(text, last - 1 < (first - 1) / 2, points))
    return checks


NEXT_TO_NOTHING_BYTES = 2 * KIB


def direct_batches_commit_together(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(
        rows,
        workload="batch",
        family="iscsi",
        operation="write",
        nature="ideal",
        file_size_bytes=SMALL,
    )
    checks = []
    for direct, sync in pairs(found, _accesses("direct"), _accesses("sync"), ["access"]):
        less, more = overhead_bytes_per_file(direct), overhead_bytes_per_file(sync)
        if less is None or more is None:
            continue
        threads = _number(direct, "threads")
        text = f"{told(direct, size_of(direct))}, {threads:g} threads: {size_text(max(less, 0))} "
        text += f"beside the content of each file, headers included; sync {size_text(max(more, 0))}"
        # H14's comparison with sync is of one thread: many share a commit of theirs (amp-4).
        holds = less < (more / 5 if threads == 1 else NEXT_TO_NOTHING_BYTES)
        checks.append(check(text, holds, [direct, sync]))
    return checks


def _accesses(name: str) -> Callable[[CellRow], bool]:
    return lambda row: row.parameters.get("access") == name


def nfs_costs_a_few_kib_per_file(rows: Sequence[CellRow]) -> list[Check]:
    ideal = pick(rows, family=("nfs", "iscsi"), nature="ideal")
    fits = [fit for fit in fit_amplification(ideal) if fit.model.startswith("single-")]
    least = {fit.model: fit.constant_bytes for fit in fits if fit.system.startswith("iscsi")}
    checks = []
    for fit in fits:
        if not fit.system.startswith("nfs"):
            continue
        below = fit.constant_bytes < least.get(fit.model, float("inf"))
        holds = below and fit.constant_bytes < 10 * KIB
        checks.append(Check(f"{fit.model}, {fit_text(fit)}", holds, fit.digests))
    return checks


def iscsi_fills_the_pipe_better(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="batch", rate=10**9, family=("nfs", "iscsi"))
    kept: dict[tuple[object, ...], dict[str, tuple[float, CellRow]]] = {}
    for late, ideal in pairs(
        found, lambda row: nature(row) == "latency", lambda row: nature(row) == "ideal", ["network"]
    ):
        settings = tuple(sorted(late.parameters.items()))
        work = late.operation, settings, late.network_declared.rtt_ns
        kept.setdefault(work, {})[family(late)] = (rate(late) / rate(ideal), late)
    checks = []
    for families in kept.values():
        if len(families) < 2:
            continue
        (iscsi, row), (nfs, other) = families["iscsi"], families["nfs"]
        text = f"{told(row, size_of(row))}, {_number(row, 'threads'):g} threads: keeps "
        text += f"{percent_text(iscsi)} of its ideal rate, NFS {percent_text(nfs)}"
        checks.append(check(text, iscsi > nfs, [row, other]))
    return checks


def reads_level_and_writes_far_apart(rows: Sequence[CellRow]) -> list[Check]:
    found = pick(rows, workload="random-sequential", family=("nfs", "iscsi"))
    if not found:
        return []
    least = min(row.network_declared.rtt_ns for row in found)
    near = [row for row in found if row.network_declared.rtt_ns == least]
    checks = []
    for iscsi, nfs in pairs(near, _family_is("iscsi"), _family_is("nfs"), ["system"]):
        if not iscsi.elapsed_s or not nfs.elapsed_s:
            continue
        ratio = nfs.elapsed_s / iscsi.elapsed_s
        text = f"{told(iscsi, _order(iscsi))}: {span_text(iscsi.elapsed_s)} against "
        text += f"{span_text(nfs.elapsed_s)} on {system_text(nfs.system)}"
        reading = iscsi.operation == "read"
        holds = _level(ratio) if reading else ratio > 2
        checks.append(check(text, holds, [iscsi, nfs]))
    return checks + _messages(near)


def _level(ratio: float) -> bool:
    return 1 / CONSTANT_WITHIN < ratio < CONSTANT_WITHIN


def _messages(rows: Sequence[CellRow]) -> list[Check]:
    """Requests of NFS and iSCSI, which are R04's messages.

    R04 counts what moved after the last call too: beside an NFS write, which ends with its data on
    the server, stands the iSCSI write that ends with an fsync. R04's clients read by 4 KiB, both
    of them; today's read ahead in larger requests, both of them unless rsize forbids it to NFS.
    """
    checks = []
    for iscsi, nfs in pairs(rows, _family_is("iscsi"), _family_is("nfs"), ["system", "flush"]):
        reading = iscsi.operation == "read"
        safe = reading or bool(iscsi.parameters.get("flush"))
        held_back = reading and bool(nfs.options.get("rsize_bytes"))
        if not safe or held_back or bool(nfs.parameters.get("flush")):
            continue
        if nfs.requests is None or iscsi.requests is None:
            continue
        text = f"{told(iscsi, _order(iscsi))}, requests: {_counted(iscsi)} against "
        text += f"{_counted(nfs)} on {system_text(nfs.system)}"
        # R04: 1.02 and 1.00 times as many in reading, 29 times in writing.
        ratio = nfs.requests / max(iscsi.requests, 1)
        checks.append(check(text, _level(ratio) if reading else ratio > 2, [iscsi, nfs]))
    return checks


def _counted(row: CellRow) -> str:
    each = round((row.requests or 0) / max(row.repeats_ok, 1))
    return f"{each:,}".replace(",", " ")


def _order(row: CellRow) -> str:
    return str(row.parameters.get("order", row.parameters.get("pattern", "in order")))


def nfs_slows_faster_with_latency(rows: Sequence[CellRow]) -> list[Check]:
    """Slopes of completion time over RTT: how many round trips stand one after another."""
    found = [
        row
        for row in pick(rows, workload="random-sequential", family=("nfs", "iscsi"))
        if row.elapsed_s and nature(row) in {"ideal", "latency"}
    ]
    slopes: dict[tuple[object, ...], dict[str, tuple[float, float, list[CellRow]]]] = {}
    for system in dict.fromkeys(row.system for row in found):
        works: dict[tuple[object, ...], list[CellRow]] = {}
        for row in pick(found, system=system):
            works.setdefault((row.operation, _order(row)), []).append(row)
        for work, points in works.items():
            line = fit_line(
                [row.network_declared.rtt_ns / 1e9 for row in points],
                [row.elapsed_s or 0.0 for row in points],
            )
            if line is not None and len(points) >= 3:
                times = [row.elapsed_s or 0.0 for row in points]
                growth = max(times) / min(times)
                slopes.setdefault(work, {})[family(points[0])] = (line.slope, growth, points)
    checks = []
    for (operation, order), families in slopes.items():
        if len(families) < 2:
            continue
        (iscsi, growth, cells), (nfs, _, others) = families["iscsi"], families["nfs"]
        text = f"{operation}, {order}: {significant(iscsi)} round trips in a row on iSCSI, "
        text += f"{significant(nfs)} on NFS"
        holds = iscsi < nfs
        if operation == "write":
            text += f"; iSCSI's time grows {factor_text(growth)} over the sweep"
            holds = holds and growth < 1.2
        checks.append(check(text, holds, [*cells, *others]))
    return checks


def _family_is(name: str) -> Callable[[CellRow], bool]:
    return lambda row: family(row) == name


def _number(row: CellRow, name: str) -> float:
    value = row.parameters.get(name, 0)
    return float(value) if isinstance(value, int | float) else 0.0


CLAIMS = [
    Claim(
        id="sch-1",
        text="A fair-queueing scheduler starves threads that read large files over latency; a "
        "deadline scheduler does not.",
        source="H14 4.6.3",
        published="CFQ far below deadline at 16 MiB over 50 ms (here: bfq below 90 %)",
        needs="batch cells of iSCSI reading 16 MiB files with threads over latency, by bfq and "
        "by mq-deadline",
        check=bfq_starves_large_reads,
        variants=True,
        since=SCHEDULERS,
    ),
    Claim(
        id="sch-2",
        text="On 4 KiB files the schedulers read alike, and deadline writes faster.",
        source="H14 4.6.3",
        published="order (here: level is within 10 %)",
        needs="batch cells of iSCSI with 4 KiB files over latency, by bfq and by mq-deadline",
        check=schedulers_level_on_small_files,
        variants=True,
        since=SCHEDULERS,
    ),
    Claim(
        id="amp-1",
        text="Reading one file over iSCSI costs a constant on top of its content.",
        source="H14 4.7, O15 equation 1",
        published="148 KiB (here: within a quarter)",
        needs="single-file cells of iSCSI reading at three sizes or more on an ideal network",
        check=single_read_costs_a_constant,
        since=INODE_TABLE,
    ),
    Claim(
        id="amp-2",
        text="Writing one file over iSCSI costs a larger constant.",
        source="H14 4.7, O15 equation 1",
        published="204 KiB (here: within a quarter)",
        needs="single-file cells of iSCSI writing at three sizes or more on an ideal network",
        check=single_write_costs_a_constant,
        since=INODE_TABLE,
    ),
    Claim(
        id="amp-3",
        text="Each file of a set written synchronously by one thread pays for journal and "
        "metadata.",
        source="O15 equation 2, H14 4.7",
        published="36 to 40 KiB per file, a ratio of 10 at 4 KiB; H14: about 23 KiB",
        needs="batch cells of iSCSI writing synchronously with one thread at three sizes or more "
        "on an ideal network",
        check=batch_sync_write_costs_a_journal,
    ),
    Claim(
        id="amp-4",
        text="Threads that write synchronously share one journal entry and its metadata.",
        source="O15 equation 3",
        published="(journal + metadata + n s) / (n s)",
        needs="batch cells of iSCSI writing synchronously by three numbers of threads or more on "
        "an ideal network",
        check=threads_share_the_journal,
    ),
    Claim(
        id="amp-5",
        text="Direct writes of a set commit metadata in large batches, next to nothing per file.",
        source="H14 4.7",
        published="about 2 MiB per 10 000 files, against 23 KiB per file with sync",
        needs="batch cells of iSCSI writing 4 KiB files with direct and with sync access on an "
        "ideal network",
        check=direct_batches_commit_together,
    ),
    Claim(
        id="amp-6",
        text="Swift adds least to the content, NFS a few KiB per file.",
        source="H14 4.7, O15 IV-F",
        published="a few KiB (here: below 10 KiB and below iSCSI)",
        needs="single-file cells of NFS at three sizes or more on an ideal network",
        check=nfs_costs_a_few_kib_per_file,
        on_swift_too=True,
    ),
    Claim(
        id="bdp-1",
        text="At 1 Gbit/s with latency Swift changes least, and iSCSI keeps the pipe fuller than "
        "NFS.",
        source="H14 4.8",
        published="no number; share of the ideal rate",
        needs="batch cells of NFS and iSCSI at 1 Gbit/s, ideal and with latency",
        check=iscsi_fills_the_pipe_better,
        on_swift_too=True,
        since="One iSCSI session has the receive window that open-iscsi asks for by default "
        "(node.conn[0].tcp.window_size = 524288; ss shows rcv_ssthresh 663 kB here), which over "
        "50 ms carries 13 MB/s; NFS leaves its window to TCP, which opens it as far as tcp_rmem "
        "allows. That NFS had less of a window in the papers' day is presumed.",
    ),
    Claim(
        id="rs-1",
        text="128 MiB in 4 KiB calls: reading takes NFS and iSCSI the same time, writing takes "
        "iSCSI a fraction.",
        source="R04 4.5, table 4",
        published="writes in 2 s against 17 s, with 1 135 against 32 990 messages",
        needs="random-sequential cells of NFS and iSCSI",
        check=reads_level_and_writes_far_apart,
        since=ASYNCHRONOUS_WRITES,
    ),
    Claim(
        id="rs-2",
        text="With a longer round trip NFS reads slow down faster, and iSCSI writes not at all.",
        source="R04 4.6, figure 6",
        published="10 to 90 ms",
        needs="random-sequential cells of NFS and iSCSI at three round trips or more",
        check=nfs_slows_faster_with_latency,
        since=NO_REPEATED_CALLS,
    ),
]
