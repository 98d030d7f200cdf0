"""Claims about the studies that come with Wavetank: each can be planned, and says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavetank import shipped
from wavetank.analysis.findings import CLAIMS
from wavetank.conduct import memory
from wavetank.conduct.catalogue import Rooms
from wavetank.conduct.planning import acts_by_chance, plan_study
from wavetank.errors import UsageError
from wavetank.runs.records import PlannedTrial
from wavetank.study import ready, study_file
from wavetank.study.model import Cell, Client
from wavetank.study.study import FACETS, Published, Study

FOLDER = shipped.studies()
IDS = ready.ids(FOLDER)
# Of STUDIES: what is to be there.
WANTED = [
    *(f"h14/fig4.{number}" for number in range(2, 11)),
    "h14/table4.2",
    "h14/appendix-b",
    *(f"o15/fig{number}" for number in range(2, 8)),
    "r04/table4",
    "r04/fig6",
    *(f"c16/fig{number}" for number in (1, 4, 5, 6, 7, 8, 9, 10, 11)),
    "c16/table4",
    "c16/table5",
]


def read(study_id: str) -> Study:
    return study_file.read(ready.path_of(FOLDER, study_id), Rooms(), study_id)


STUDIES = {study_id: read(study_id) for study_id in IDS}
PLANS = {study_id: plan_study(study, []) for study_id, study in STUDIES.items()}
every_study = pytest.mark.parametrize("study", STUDIES.values(), ids=IDS)


def test_no_study_is_missing() -> None:
    assert set(WANTED) <= set(IDS)


def test_studies_are_listed_in_the_order_of_their_numbers() -> None:
    figures = [one for one in IDS if one.startswith("h14/fig4.")]
    assert figures.index("h14/fig4.9") < figures.index("h14/fig4.10")
    assert [one.partition("/")[0] for one in IDS] == sorted(one.partition("/")[0] for one in IDS)


@every_study
def test_a_study_is_planned_whole_and_carried_in_its_plan(study: Study) -> None:
    plan = PLANS[study.id]
    assert plan.study == study
    assert plan.question == study.question
    assert sorted(index for batch in plan.batches for index in batch) == list(
        range(len(plan.trials))
    )
    asked = {part for trial in plan.trials for part in trial.parts}
    assert asked == {part.name for part in study.parts}


@every_study
def test_a_study_repeats_where_chance_acts_and_nowhere_else(study: Study) -> None:
    repeats: dict[str, int] = {}
    chance: dict[str, bool] = {}
    for trial in PLANS[study.id].trials:
        digest = trial.cell.digest
        repeats[digest] = max(repeats.get(digest, 0), trial.repeat + 1)
        chance[digest] = acts_by_chance(trial.cell.network) or trial.cell.clock == "real"
    assert all(
        count == (study.repeats if chance[digest] else 1) for digest, count in repeats.items()
    )
    assert study.repeats > 1 if any(chance.values()) else study.repeats == 1


@every_study
def test_a_study_says_where_it_is_from_what_it_shows_and_judges(study: Study) -> None:
    assert study.source is not None
    assert study.id.startswith(study.source.paper.lower() + "/")
    assert study.plots
    assert study.notes
    assert study.question.endswith("?")
    # Neither the baseline nor files of 1 MiB by threads have a claim to themselves.
    assert study.findings or study.id in ("h14/appendix-b", "h14/fig4.6")
    assert set(study.findings) <= set(CLAIMS)


@every_study
def test_a_published_value_is_about_cells_of_the_study(study: Study) -> None:
    cells = [(trial.cell, trial.parts) for trial in PLANS[study.id].trials]
    for one in study.published:
        matching = [
            cell
            for cell, parts in cells
            if cell.system.name == one.system
            and one.options.items() <= cell.system.options.items()
            and is_of_the_client(one, cell)
            and one.network in ("", cell.network.name)
            and (not one.part or one.part in parts)
            and one.parameters.items() <= cell.workload.parameters.items()
        ]
        assert matching, one


def is_of_the_client(one: Published, cell: Cell) -> bool:
    client = cell.client if isinstance(cell.client, Client) else Client()
    return (
        one.client_disk in ("", client.disk and client.disk.name)
        and one.client_memory_bytes in (None, client.memory_bytes)
        and one.client_processors in (None, client.processors)
    )


@every_study
def test_a_plot_has_points_and_tells_all_cells_of_a_place_apart(study: Study) -> None:
    """Cells that share x, series and panel must be one cell: else points lie on one another."""
    trials = {trial.cell.digest: trial for trial in PLANS[study.id].trials}.values()
    for plot in study.plots:
        places: list[tuple[object, ...]] = []
        for trial in trials:
            cell, settings = trial.cell, trial.cell.workload.parameters

            def value(name: str, trial: PlannedTrial = trial) -> object:
                return facet_of(trial, name)

            if plot.parts and not set(plot.parts) & set(trial.parts):
                continue
            if any(value(name) not in wanted for name, wanted in plot.where.items()):
                continue
            system = repr(cell.system)
            names = [plot.x, *plot.series, *plot.panels]
            assert all(name in FACETS or name in settings for name in names), (plot.title, names)
            where = [system if name == "system" else value(name) for name in names]
            places.append(tuple(where))
        assert places, plot.title
        assert len(places) == len(set(places)), plot.title


def facet_of(trial: PlannedTrial, name: str) -> object:
    """What `where`, an axis or a panel sees of a trial; `system` by its name alone."""
    cell = trial.cell
    match name:
        case "system":
            return cell.system.name
        case "network":
            return cell.network.name
        case "rtt_ns":
            return cell.network.rtt_ns
        case "part":
            return tuple(trial.parts)
        case "client_disk" | "client_memory_bytes" | "client_processors":
            client = cell.client if isinstance(cell.client, Client) else Client()
            disk = client.disk.name if client.disk else None
            return {
                "client_disk": disk,
                "client_memory_bytes": client.memory_bytes,
                "client_processors": client.processors,
            }[name]
        case _:
            return cell.workload.parameters.get(name)


@every_study
def test_the_largest_guest_of_a_study_fits_a_laptop(study: Study) -> None:
    if study.place == "host":
        return  # no guest
    largest = max(memory.batch_memory_bytes(PLANS[study.id]))
    assert largest <= 8 * 2**30


def test_an_unknown_study_is_answered_with_those_of_its_paper_or_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"did you mean h14/fig4\.5"):
        ready.path_of(FOLDER, "h14/fig45")
    with pytest.raises(UsageError, match=r"there are r04/fig6, r04/table4"):
        ready.path_of(FOLDER, "r04")


def test_a_study_is_found_however_its_name_is_written() -> None:
    assert ready.path_of(FOLDER, "H14/fig4.5") == FOLDER / "h14" / "fig4.5.toml"
    assert ready.path_of(FOLDER, "h14/fig4.5.toml") == FOLDER / "h14" / "fig4.5.toml"


def test_no_study_lies_where_it_is_not_listed(tmp_path: Path) -> None:
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.toml")}
    assert there == {f"{study_id}.toml" for study_id in IDS}
    assert ready.ids(tmp_path) == []
