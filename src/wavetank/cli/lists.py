"""`wavetank list`: what there is to name on the command line."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping, Sequence

import typer
from rich.console import Console
from rich.table import Table

from wavetank import quantity
from wavetank.cli import options as o
from wavetank.cli.failures import guarded
from wavetank.study.model import Network

app = typer.Typer(
    help="List what there is: systems, networks, workloads, disks, studies.",
    epilog="Example: wavetank list systems",
    no_args_is_help=True,
)


@app.command(epilog="Example: wavetank list systems")
@guarded
def systems(json: o.Json = False) -> None:
    """Storage systems."""
    from wavetank import systems as catalogue  # noqa: PLC0415 - keeps --help quick

    rows = [{"name": name, "summary": catalogue.summary(name)} for name in catalogue.names()]
    _print("systems", rows, json)


@app.command(epilog="Example: wavetank list networks --json")
@guarded
def networks(json: o.Json = False) -> None:
    """Named networks; any network can also be stated as RATE/RTT/LOSS/JITTER."""
    from wavetank.study.named_networks import named  # noqa: PLC0415

    if json:
        _print("networks", [_network_facts(network) for network in named().values()], json)
        return
    _print("networks", [_network_row(network) for network in named().values()], json)


@app.command(epilog="Example: wavetank list workloads")
@guarded
def workloads(json: o.Json = False) -> None:
    """Workloads and their parameters."""
    from wavetank import workloads as catalogue  # noqa: PLC0415

    found = [catalogue.get(name) for name in catalogue.names()]
    if json:
        documents = [
            {
                "name": workload.name,
                "summary": workload.summary,
                "parameters": {p.name: p.default for p in workload.parameters},
            }
            for workload in found
        ]
        _print("workloads", documents, json)
        return
    rows = [
        {"workload": workload.name, "parameter": p.name, "default": p.default, "what": p.summary}
        for workload in found
        for p in workload.parameters
    ]
    _print("workloads", rows, json)


@app.command(epilog="Example: wavetank list disks")
@guarded
def disks(json: o.Json = False) -> None:
    """Disk models."""
    from wavetank.study import disks as catalogue  # noqa: PLC0415

    rows = [{"name": name, "summary": text} for name, text in catalogue.SUMMARIES.items()]
    _print("disks", rows, json)


@app.command(epilog="Example: wavetank list studies")
@guarded
def studies(json: o.Json = False) -> None:
    """Ready studies, which `wavetank reproduce ID` runs."""
    from wavetank import shipped  # noqa: PLC0415 - keeps --help quick
    from wavetank.cli import studying  # noqa: PLC0415
    from wavetank.study import ready  # noqa: PLC0415

    found = [studying.read_ready(study_id) for study_id in ready.ids(shipped.studies())]
    if json:
        documents = [
            {
                "id": study.id,
                "title": study.title,
                "question": study.question,
                "source": f"{study.source.paper} {study.source.place}" if study.source else "",
                "findings": study.findings,
            }
            for study in found
        ]
        _print("studies", documents, json)
        return
    rows = [
        {
            "id": study.id,
            "of": study.source.place if study.source else "",
            "title": study.title,
            "findings": ", ".join(study.findings),
        }
        for study in found
    ]
    _print("studies", rows, json)


def _network_row(network: Network) -> dict[str, object]:
    from wavetank.study.networks import loss_text  # noqa: PLC0415

    return {
        "name": network.name,
        "rate": quantity.rate_text(network.rate_bit_per_s or 0),
        "RTT": quantity.duration_text(network.rtt_ns),
        "loss": loss_text(network.loss),
        "jitter": quantity.duration_text(network.jitter_ns),
    }


def _network_facts(network: Network) -> dict[str, object]:
    from wavetank.study.networks import loss_text  # noqa: PLC0415

    return {
        "name": network.name,
        "rate_bit_per_s": network.rate_bit_per_s,
        "rtt_ns": network.rtt_ns,
        "loss": loss_text(network.loss),
        "jitter_ns": network.jitter_ns,
    }


def _print(what: str, rows: Sequence[Mapping[str, object]], as_json: bool) -> None:
    if as_json:
        typer.echo(json_text.dumps({what: rows}, indent=2, ensure_ascii=False))
        return
    console = Console()
    if not console.is_terminal:
        for row in rows:
            typer.echo("\t".join(str(value) for value in row.values()))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in rows[0]:
        table.add_column(heading)
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console.print(table)
