"""What a study file may name, told by the rooms that know: `study.study_file.Catalogue`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from wavetank import systems, workloads
from wavetank.conduct import planning
from wavetank.study.model import Settings
from wavetank.study.parameters import Parameter


class Rooms:
    """The systems and workloads of this Wavetank.

    `claims`: ids of the findings that can be judged, which only later rooms know; none: any id.
    """

    def __init__(self, claims: Collection[str] = ()) -> None:
        self._claims = claims

    @property
    def claims(self) -> Collection[str]:
        """Ids of the findings that can be judged; empty where that is not known."""
        return self._claims

    def check_system(self, text: str) -> None:
        """`nfs4.2:nconnect=8` names a system and settings it has."""
        planning.parse_system(text)

    def stated_options(self, text: str) -> tuple[str, Settings]:
        """The system's name and only the options that `text` states, resolved."""
        name, raw = planning.stated_system(text)
        settings = systems.resolve(name, raw)
        keys = [one.key for one in systems.get(name).parameters if one.name in raw]
        return name, {key: settings[key] for key in keys}

    def parameters(self, workload: str) -> Sequence[Parameter]:
        """The parameters of a workload."""
        return workloads.get(workload).parameters

    def check_grid(self, workload: str, grid: Mapping[str, list[str]]) -> None:
        """Every point of the grid can be meant."""
        planning.check_grid(workload, grid)
