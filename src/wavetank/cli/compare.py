"""`wavetank compare`: options to words; the work is in `conducting`."""

from __future__ import annotations

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded

EXAMPLE = (
    "Example: wavetank compare --systems local,nfs4.2,iscsi --networks ideal-100,realistic "
    "--file-size 4KiB,1MiB --threads 1,8 --duration 10s --out first"
)


@guarded
def compare(  # noqa: PLR0913 - one argument per option is how Typer declares them
    *,
    systems: o.Systems = "",
    networks: o.Networks = "",
    workload: o.WorkloadName = "batch",
    disk: o.DiskText = "ssd",
    client_disk: o.ClientDisk = "",
    client_memory: o.ClientMemory = "",
    cache_state: o.CacheStateOption = o.CacheStateName.COLD_CLIENT,
    operation: o.Operation = None,
    file_size: o.FileSize = None,
    threads: o.Threads = None,
    access: o.AccessForm = None,
    unit: o.Unit = None,
    order: o.Order = None,
    flush: o.Flush = None,
    size: o.Size = None,
    parallel: o.Parallel = None,
    objects: o.Objects = None,
    mix: o.Mix = None,
    page: o.Page = None,
    parts: o.Parts = None,
    set_size: o.SetSize = None,
    duration: o.Duration = None,
    rate: o.Rate = None,
    verify: o.Verify = None,
    clock: o.ClockOption = o.ClockName.VIRTUAL,
    seed: o.Seed = 1,
    repeats: o.Repeats = 1,
    syscall_cost: o.SyscallCost = "0",
    workers: o.Workers = None,
    trial_deadline: o.TrialDeadline = "15m",
    packet_digest: o.PacketDigest = False,
    out: o.Out = None,
    resume: o.Resume = False,
    json: o.Json = False,
) -> None:
    """Compare storage systems over networks: every combination, one report."""
    from wavetank.cli import conducting, request  # noqa: PLC0415 - keeps --help quick

    words = request.Words(
        systems=systems,
        networks=networks,
        workload=workload,
        disk=disk,
        client_disk=client_disk,
        client_memory=client_memory,
        cache_state=cache_state.value,
        clock=clock.value,
        seed=seed,
        repeats=repeats,
        syscall_cost=syscall_cost,
        trial_deadline=trial_deadline,
        packet_digest=packet_digest,
        grid={
            "operation": operation,
            "file-size": file_size,
            "threads": threads,
            "access": access,
            "unit": unit,
            "order": order,
            "flush": flush,
            "size": size,
            "parallel": parallel,
            "objects": objects,
            "mix": mix,
            "page": page,
            "parts": parts,
            "set-size": set_size,
            "duration": duration,
            "rate": rate,
            "verify": verify,
        },
    )
    ways = conducting.Ways(out=out, resume=resume, workers=workers, json=json)
    raise typer.Exit(int(conducting.compare(words, ways)))
