"""`wavetank run` and `wavetank reproduce`: a study file, the user's or a ready one, conducted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wavetank.cli import options as o
from wavetank.cli.failures import guarded

RUN_EXAMPLE = "Example: wavetank run my-study.toml --dry-run"
REPRODUCE_EXAMPLE = "Example: wavetank reproduce h14/fig4.5 --out fig4.5"


def study_ids() -> list[str]:
    """For completion."""
    from wavetank import shipped  # noqa: PLC0415 - only when the shell asks
    from wavetank.study import ready  # noqa: PLC0415

    ids = ready.ids(shipped.studies())
    return [*dict.fromkeys(one.partition("/")[0] for one in ids), *ids]


def _completed(incomplete: str) -> list[str]:
    return [one for one in study_ids() if one.startswith(incomplete)]


DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="List the cells and estimate the time; run nothing."),
]


@guarded
def run(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="A study file.", dir_okay=False)
    ],
    *,
    out: o.Out = None,
    workers: o.Workers = None,
    resume: o.Resume = False,
    reuse: o.Reuse = None,
    dry_run: DryRun = False,
    json: o.Json = False,
) -> None:
    """Run a study: every cell it asks for, and its report."""
    from wavetank.cli import conducting, studying  # noqa: PLC0415 - keeps --help quick

    ways = conducting.Ways(
        out=out, resume=resume, workers=workers, json=json, reuse=tuple(reuse or ())
    )
    plan = studying.plan_file(study)
    raise typer.Exit(int(studying.conduct_study(plan, ways, dry_run=dry_run)))


@guarded
def reproduce(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Ready studies by paper and figure (h14/fig4.5), or a whole paper (o15); "
            "see wavetank list studies.",
            autocompletion=_completed,
        ),
    ],
    *,
    out: o.Out = None,
    workers: o.Workers = None,
    resume: o.Resume = False,
    reuse: o.Reuse = None,
    dry_run: DryRun = False,
    json: o.Json = False,
) -> None:
    """Run ready studies of the papers, and put their numbers beside the published ones.

    Several run one after the other, each in a directory of its own below --out.
    """
    from wavetank.cli import conducting, studying  # noqa: PLC0415

    ways = conducting.Ways(
        out=out, resume=resume, workers=workers, json=json, reuse=tuple(reuse or ())
    )
    plans = studying.plans_ready(studies)
    raise typer.Exit(int(studying.conduct_studies(plans, ways, dry_run=dry_run)))
