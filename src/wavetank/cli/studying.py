"""From a study file to its plan, and from the plan to a run or to what a run would take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wavetank import shipped
from wavetank.analysis.findings import CLAIMS
from wavetank.cli import conducting
from wavetank.cli import dry_run as summaries
from wavetank.cli.conducting import Ways
from wavetank.conduct.catalogue import Rooms
from wavetank.conduct.planning import plan_study
from wavetank.errors import ExitCode, UsageError
from wavetank.runs import directory
from wavetank.runs.records import Plan
from wavetank.study import ready, study_file
from wavetank.study.errors import StudyFileError
from wavetank.study.study import Study
from wavetank.study.toml_positions import positions


def read_ready(study_id: str) -> Study:
    """A ready study by its id."""
    path = ready.path_of(shipped.studies(), study_id)
    return study_file.read(path, Rooms(), f"{path.parent.name}/{path.stem}")


def plan_file(path: Path) -> Plan:
    """The plan of a study file of the user's."""
    study = study_file.read(path, Rooms(CLAIMS))
    try:
        return plan_study(study, ["wavetank", "run", str(path)])
    except UsageError as error:
        # What a part asks for was checked where it stands; that it exceeds the disk was not.
        about_disk = str(error).startswith("disk ")
        stands = positions(path.read_text("utf-8")).get(("disk",)) if about_disk else None
        raise StudyFileError(str(path), stands, str(error)) from None


def plan_ready(study_id: str) -> Plan:
    """The plan of a ready study."""
    study = read_ready(study_id)
    return plan_study(study, ["wavetank", "reproduce", study.id])


def plans_ready(names: Sequence[str]) -> list[Plan]:
    """The plans of ready studies by id; a paper's name stands for all of its studies."""
    known = ready.ids(shipped.studies())
    wanted: list[str] = []
    for name in names:
        paper = name.strip().lower().rstrip("/")
        of_paper = [one for one in known if one.startswith(f"{paper}/")]
        wanted += of_paper or [name]
    return [plan_ready(study_id) for study_id in dict.fromkeys(wanted)]


def conduct_study(plan: Plan, ways: Ways, *, dry_run: bool) -> ExitCode:
    """Runs or resumes the study, or only tells what it would take."""
    if dry_run:
        return tell_dry_run(plan, ways)
    return conducting.conduct(plan, _id_of(plan), ways)


def conduct_studies(plans: Sequence[Plan], ways: Ways, *, dry_run: bool) -> ExitCode:
    """One study after the other, each in a directory of its own below `--out`.

    A later one takes over the trials that it has in common with an earlier one.
    Resuming begins those that were never begun. The worst exit code, after all have been tried.
    """
    if len(plans) == 1:
        return conduct_study(plans[0], ways, dry_run=dry_run)
    if ways.json:
        raise UsageError("--json tells of one study; leave it out, or name one study at a time.")
    if dry_run:
        summaries.tell_all(
            [(_id_of(plan), plan, _missing(plan, _own(plan, ways))) for plan in plans],
            ways.workers,
        )
        return ExitCode.FINE
    codes = []
    done: list[Path] = []
    for plan in plans:
        own, name, began_s = _own(plan, ways), _id_of(plan), time.monotonic()
        out = own.out or directory.default_path(name, datetime.now(UTC))
        own = msgspec.structs.replace(own, out=out, reuse=(*ways.reuse, *done))
        codes.append(conducting.conduct(plan, name, own))
        done.append(out)
        summaries.tell_end(name, codes[-1], time.monotonic() - began_s)
    return max(codes)


def tell_dry_run(plan: Plan, ways: Ways) -> ExitCode:
    """The cells and the estimate; of a run to resume, what is missing of it."""
    summaries.tell(plan, _missing(plan, ways), ways.workers, as_json=ways.json)
    return ExitCode.FINE


def _missing(plan: Plan, ways: Ways) -> list[int]:
    if ways.resume and ways.out is not None:
        _, missing = conducting.missing_of(plan, ways.out)
        return missing
    return list(range(len(plan.trials)))


def _own(plan: Plan, ways: Ways) -> Ways:
    """The ways of one study among several."""
    if ways.out is None:
        if ways.resume:
            raise UsageError("--resume needs --out DIR, the folder of the runs to go on with.")
        return ways
    own = ways.out / _id_of(plan).replace("/", "-")
    return msgspec.structs.replace(ways, out=own, resume=ways.resume and own.exists())


def _id_of(plan: Plan) -> str:
    assert plan.study is not None
    return plan.study.id
