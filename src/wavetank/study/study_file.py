"""A study as written in TOML: read, checked, every name resolved.

docs/reference/study-file.md describes the form, with an example. This file says of every mistake
where it stands and what was meant. What systems and workloads there are it asks of a `Catalogue`,
for those rooms come later.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Protocol

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study import clients, disks, networks, study_form
from wavetank.study.errors import StudyFileError
from wavetank.study.model import LOOPBACK, Settings
from wavetank.study.names import meant
from wavetank.study.parameters import Parameter
from wavetank.study.study import (
    FACETS,
    Part,
    Place,
    Plot,
    Published,
    Source,
    Study,
)
from wavetank.study.study_form import FormError, RawPart, RawPlot, RawPublished, RawStudy, Scalar
from wavetank.study.toml_positions import Path, Position, positions
from wavetank.study.units import in_base_unit


class Catalogue(Protocol):
    """What a study may name. Everything raises `UsageError` in one sentence."""

    @property
    def claims(self) -> Collection[str]:
        """Ids of the findings that can be judged; empty where that is not known."""

    def check_system(self, text: str) -> None:
        """`nfs4.2:nconnect=8` names a system and settings it has."""

    def stated_options(self, text: str) -> tuple[str, Settings]:
        """The system's name and only the options that `text` states, resolved."""

    def parameters(self, workload: str) -> Sequence[Parameter]:
        """The parameters of a workload."""

    def check_grid(self, workload: str, grid: Mapping[str, list[str]]) -> None:
        """Every point of the grid can be meant."""


def read(path: FilePath, catalogue: Catalogue, study_id: str = "") -> Study:
    """The study in the file; its id is the file's stem unless one is given.

    Raises `StudyFileError`: one sentence that begins FILE:LINE:COLUMN.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StudyFileError(str(path), None, f"cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise StudyFileError(str(path), None, "is not UTF-8 text, as TOML is.") from None
    return parse(text, str(path), study_id or path.stem, catalogue)


def parse(text: str, file: str, study_id: str, catalogue: Catalogue) -> Study:
    """The study that `text` says; `file` is what errors call it."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(file, text, str(error)) from None
    reader = _Reader(file, positions(text), catalogue)
    return reader.study(reader.raw(document), study_id)


class _Reader:
    """One file being read."""

    def __init__(self, file: str, where: Mapping[Path, Position], catalogue: Catalogue) -> None:
        self._file = file
        self._where = where
        self._catalogue = catalogue
        self._parameters: dict[str, Parameter] = {}
        self._part_names: list[str] = []
        self._place: Place = "lab"

    def fail(self, path: Path, sentence: str) -> StudyFileError:
        """The error at `path`, or at the nearest thing around it that has a place."""
        while path not in self._where:
            path = path[:-1]
        return StudyFileError(self._file, self._where[path], sentence)

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Gives what is found wrong inside the place `path`."""
        try:
            yield
        except StudyFileError:
            raise
        except UsageError as error:
            raise self.fail(path, str(error)) from None

    def raw(self, document: dict[str, object]) -> RawStudy:
        """The document in the form's types."""
        try:
            return study_form.decode(document)
        except FormError as error:
            raise self.fail(error.path, str(error)) from None

    def study(self, raw: RawStudy, study_id: str) -> Study:
        """Every name resolved, in the order in which a reader of the file would go."""
        self._check_head(raw)
        if not raw.part:
            raise self.fail(("part",), "a study needs at least one [[part]].")
        self._place = raw.place
        parts = [self._part(index, part, len(raw.part)) for index, part in enumerate(raw.part)]
        self._check_part_names(parts)
        with self.at("syscall-cost"):
            syscall_ns = quantity.parse_duration(raw.syscall_cost)
        with self.at("trial-deadline"):
            trial_deadline_s = quantity.parse_duration(raw.trial_deadline) / 1e9
        return Study(
            id=study_id,
            title=raw.title,
            question=raw.question,
            source=_source(raw.source) if raw.source else None,
            place=raw.place,
            clock=raw.clock,
            seed=raw.seed,
            repeats=raw.repeats,
            repeats_without_chance=min(raw.repeats, raw.repeats_without_chance),
            disk=raw.disk,
            cache_state=raw.cache_state,
            syscall_ns=syscall_ns,
            trial_deadline_s=trial_deadline_s,
            parts=parts,
            plots=[self._plot(index, plot) for index, plot in enumerate(raw.plot)],
            findings=raw.findings,
            published=[self._published(i, one) for i, one in enumerate(raw.published)],
            notes=raw.notes,
        )

    def _check_head(self, raw: RawStudy) -> None:
        with self.at("disk"):
            disks.parse(raw.disk)
        if raw.place == "host" and raw.clock != "real":
            place: Path = ("clock",) if ("clock",) in self._where else ("place",)
            raise self.fail(place, 'place = "host" has no other clock than clock = "real".')
        for key, count, least in (
            ("seed", raw.seed, 0),
            ("repeats", raw.repeats, 1),
            ("repeats-without-chance", raw.repeats_without_chance, 1),
        ):
            if not least <= count < 2**32:
                raise self.fail((key,), f"{key} must be at least {least}, not {count}.")
        for index, finding in enumerate(raw.findings):
            if not re.fullmatch(r"[a-z]+-\d+", finding):
                raise self.fail(
                    ("findings", index), f"'{finding}' is not a finding's id, such as thr-1."
                )
            claims = self._catalogue.claims
            if claims and finding not in claims:
                raise self.fail(
                    ("findings", index),
                    f"no finding is called '{finding}'; {meant(finding, claims)}",
                )

    def _part(self, index: int, raw: RawPart, parts: int) -> Part:
        place: Path = ("part", index)
        if parts > 1 and not raw.name:
            raise self.fail(place, "this part has no name, and there are several.")
        for key, texts in (("systems", raw.systems), ("networks", raw.networks)):
            if not texts:
                raise self.fail((*place, key), f"{key} is empty; name at least one.")
        for place_in_list, text in enumerate(raw.systems):
            with self.at(*place, "systems", place_in_list):
                self._catalogue.check_system(text)
        for place_in_list, text in enumerate(raw.networks):
            with self.at(*place, "networks", place_in_list):
                self._check_network(text)
        with self.at(*place, "workload"):
            known = {one.name: one for one in self._catalogue.parameters(raw.workload)}
        self._parameters |= known
        grid = {
            name: self._values((*place, "parameters", name), known, raw.workload, name, value)
            for name, value in raw.parameters.items()
        }
        with self.at(*place):
            self._catalogue.check_grid(raw.workload, grid)
        asked = self._clients(place, raw)
        name = raw.name or raw.workload
        self._part_names.append(name)
        return Part(
            name=name,
            systems=raw.systems,
            networks=raw.networks,
            workload=raw.workload,
            parameters=grid,
            client_disks=asked["client-disk"],
            client_memory=asked["client-memory"],
            client_processors=asked["client-processors"],
        )

    def _check_network(self, text: str) -> None:
        if self._place == "lab":
            networks.expand(text)
        elif text != LOOPBACK:
            raise UsageError(
                f"'{text}' can't be emulated on the host; there is its {LOOPBACK} alone."
            )

    def _clients(self, place: Path, raw: RawPart) -> dict[str, list[str]]:
        """What is declared of the client, in words that can be read."""
        checks: Mapping[str, Callable[[str], object]] = {
            "client-disk": disks.parse_client,
            "client-memory": clients.parse_memory,
            "client-processors": clients.parse_processors,
        }
        stated = (raw.client_disk, raw.client_memory, raw.client_processors)
        found: dict[str, list[str]] = {}
        for (key, check), value in zip(checks.items(), stated, strict=True):
            found[key] = [_text(one) for one in (value if isinstance(value, list) else [value])]
            for index, text in enumerate(found[key]):
                with self.at(*place, key, *([index] if isinstance(value, list) else [])):
                    check(text)
        with self.at(*place):
            clients.of_words(*found.values())
        return found

    def _check_part_names(self, parts: list[Part]) -> None:
        seen: set[str] = set()
        for index, part in enumerate(parts):
            if part.name in seen:
                raise self.fail(("part", index, "name"), f"two parts are called '{part.name}'.")
            seen.add(part.name)

    def _values(
        self,
        place: Path,
        known: Mapping[str, Parameter],
        workload: str,
        name: str,
        value: Scalar | list[Scalar],
    ) -> list[str]:
        """The texts of one parameter's values, each of which can be read."""
        if name not in known:
            raise self.fail(place, f"{workload} has no parameter '{name}'; {meant(name, known)}")
        several = isinstance(value, list)
        texts = [_text(one) for one in (value if isinstance(value, list) else [value])]
        if not texts:
            raise self.fail(place, f"{name} has no values; write at least one, or leave it out.")
        for index, text in enumerate(texts):
            with self.at(*place, *([index] if several else [])):
                known[name].parse(text)
        return texts

    def _plot(self, index: int, raw: RawPlot) -> Plot:
        place: Path = ("plot", index)
        where: dict[str, list[str | int | float | bool]] = {}
        for name, value in raw.where.items():
            key = self._dimension((*place, "where", name), name)
            values = value if isinstance(value, list) else [value]
            with self.at(*place, "where", name):
                where[key] = [self._where_value(name, _text(one)) for one in values]
        for place_in_list, part in enumerate(raw.parts):
            self._require_part((*place, "parts", place_in_list), part)
        return Plot(
            title=raw.title,
            x=self._dimension((*place, "x"), raw.x),
            y=raw.y,
            kind=raw.kind,
            series=[self._dimension((*place, "series", i), s) for i, s in enumerate(raw.series)],
            panels=[self._dimension((*place, "panels", i), s) for i, s in enumerate(raw.panels)],
            parts=raw.parts,
            where=where,
            x_scale=raw.x_scale,
            y_scale=raw.y_scale,
            model=raw.model,
        )

    def _dimension(self, place: Path, name: str) -> str:
        """A facet as it is, a parameter by its key."""
        if name in self._parameters and name != "operation":
            return self._parameters[name].key
        if name in FACETS:
            return name
        known = [*FACETS, *self._parameters]
        raise self.fail(place, f"'{name}' is nothing to plot by; {meant(name, known)}")

    def _where_value(self, name: str, text: str) -> Scalar:
        if name == "network":
            return networks.parse(text).name
        return self._parameters[name].parse(text) if name in self._parameters else text

    def _published(self, index: int, raw: RawPublished) -> Published:
        place: Path = ("published", index)
        with self.at(*place, "system"):
            system, options = self._catalogue.stated_options(raw.system)
        with self.at(*place, "network"):
            network = networks.parse(raw.network).name if raw.network else ""
        with self.at(*place, "unit"):
            value = in_base_unit(raw.quantity, raw.value, raw.unit)
        with self.at(*place, "client-disk"):
            disk = disks.notation(disks.parse_client(raw.client_disk)) if raw.client_disk else ""
        with self.at(*place, "client-memory"):
            memory = clients.parse_memory(raw.client_memory) if raw.client_memory else None
        if raw.part:
            self._require_part((*place, "part"), raw.part)
        settings: Settings = {}
        for name, one in raw.parameters.items():
            if name not in self._parameters:
                known = meant(name, self._parameters)
                raise self.fail((*place, "parameters", name), f"no part has '{name}'; {known}")
            with self.at(*place, "parameters", name):
                settings[self._parameters[name].key] = self._parameters[name].parse(_text(one))
        return Published(
            system=system,
            options=options,
            client_disk=disk,
            client_memory_bytes=memory,
            client_processors=raw.client_processors,
            quantity=raw.quantity,
            value=value,
            printed=raw.value,
            unit=raw.unit,
            source=_source(raw.source),
            relation=raw.relation,
            network=network,
            part=raw.part,
            parameters=settings,
            note=raw.note,
        )

    def _require_part(self, place: Path, name: str) -> None:
        if name not in self._part_names:
            raise self.fail(place, f"no part is called '{name}'; {meant(name, self._part_names)}")


def _text(value: Scalar) -> str:
    """A TOML value in the words of the command line."""
    return quantity.yes_text(value) if isinstance(value, bool) else str(value)


def _source(text: str) -> Source:
    paper, _, place = text.partition(" ")
    return Source(paper=paper, place=place)


def _syntax_error(file: str, text: str, message: str) -> StudyFileError:
    """tomllib's sentence with its place in front."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.S)
    if match is None:
        return StudyFileError(file, None, f"is not TOML: {message}.")
    if match[2]:
        position = Position(int(match[2]), int(match[3]))
    else:
        position = Position(text.count("\n") + 1, len(text) - text.rfind("\n"))
    meant = ' Text stands in quotes: title = "My study".' if match[1] == "Invalid value" else ""
    return StudyFileError(file, position, f"is not TOML here: {match[1]}.{meant}")
