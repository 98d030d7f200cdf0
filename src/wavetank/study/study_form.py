"""The form of a study file: its tables, keys and defaults, and how a mistake is worded.

Keys are written with hyphens. Checks of one value's type stand here; what names mean together is
`study_file`'s. docs/reference/study-file.md describes every key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

import msgspec

from wavetank.study.model import CacheState, Clock
from wavetank.study.names import meant
from wavetank.study.study import Model, Place, PlotKind, Quantity, Relation, Scale
from wavetank.study.toml_positions import Path

Scalar = str | int | float | bool


class FormError(Exception):
    """A value that the form does not have; `path` is where."""

    def __init__(self, path: Path, sentence: str) -> None:
        super().__init__(sentence)
        self.path = path


class RawPart(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """`[[part]]`"""

    systems: list[str]
    networks: list[str]
    workload: str
    name: str = ""
    parameters: dict[str, Scalar | list[Scalar]] = {}
    client_disk: str | list[str] = []
    client_memory: str | list[str] = []
    client_processors: float | list[float] = []


class RawPlot(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """`[[plot]]`"""

    title: str
    x: str
    y: Quantity = "throughput_bytes_per_s"
    kind: PlotKind = "lines"
    series: list[str] = msgspec.field(default_factory=lambda: ["system"])
    panels: list[str] = msgspec.field(default_factory=lambda: ["network"])
    parts: list[str] = []
    where: dict[str, Scalar | list[Scalar]] = {}
    x_scale: Scale = "log"
    y_scale: Scale = "log"
    model: Model | None = None


class RawPublished(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """`[[published]]`"""

    system: str
    quantity: Quantity
    value: float
    unit: str
    source: str
    relation: Relation = "equal"
    network: str = ""
    part: str = ""
    client_disk: str = ""
    client_memory: str = ""
    client_processors: float | None = None
    parameters: dict[str, Scalar] = {}
    note: str = ""


class RawStudy(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"
):
    """The whole file."""

    title: str
    question: str
    part: list[RawPart]
    source: str = ""
    place: Place = "lab"
    clock: Clock = "virtual"
    seed: int = 1
    repeats: int = 1
    repeats_without_chance: int = 1
    disk: str = "ssd"
    cache_state: CacheState = "cold-client-warm-server"
    syscall_cost: str = "0"
    trial_deadline: str = "15m"
    plot: list[RawPlot] = []
    findings: list[str] = []
    published: list[RawPublished] = []
    notes: list[str] = []


def decode(document: dict[str, object]) -> RawStudy:
    """The parsed document in the form's types; raises `FormError`."""
    try:
        return msgspec.convert(document, RawStudy)
    except msgspec.ValidationError as error:
        sentence, path = _reworded(str(error))
        raise FormError(path, sentence) from None


def _reworded(message: str) -> tuple[str, Path]:
    """msgspec's message in a user's words, and the path it is about."""
    match = re.fullmatch(r"(.*?)(?: - at `\$?(.*)`)?", message, re.S)
    assert match is not None
    path = _path(match[2] or "")
    what = match[1]
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", what):
        fields = _fields(path)
        return f"'{unknown[1]}' means nothing here; {meant(unknown[1], fields)}", (
            *path,
            unknown[1],
        )
    if missing := re.fullmatch(r"Object missing required field `(.*)`", what):
        return f"'{missing[1]}' is missing; {_MISSING.get(missing[1], 'it must be stated')}.", path
    if invalid := re.fullmatch(r"Invalid enum value '(.*)'", what):
        return f"'{invalid[1]}' is not known here; {_choices(path, invalid[1])}", path
    if types := re.fullmatch(r"Expected `(.*)`, got `(.*)`", what):
        return f"this must be {_type_text(types[1])}, not {_type_text(types[2])}.", path
    return f"{what}.", path


def _path(text: str) -> Path:
    """`.part[0].systems[1]` as a path; what msgspec leaves open (`[...]`) ends it."""
    path: list[str | int] = []
    for key, index in re.findall(r"\.([^.\[]+)|\[([^\]]*)\]", text):
        if index == "...":
            break
        path.append(int(index) if index else key)
    return tuple(path)


_FORMS: Mapping[str, type[msgspec.Struct]] = {
    "part": RawPart,
    "plot": RawPlot,
    "published": RawPublished,
}
_MISSING: Mapping[str, str] = {
    "title": 'write for example title = "Batches of small files"',
    "question": 'write for example question = "Which system reads small files fastest?"',
    "part": "a study has at least one [[part]] with systems, networks and workload",
    "systems": 'write for example systems = ["nfs4.2", "iscsi"]',
    "networks": 'write for example networks = ["ideal-100", "realistic"]',
    "workload": 'write for example workload = "batch"',
    "source": 'say where it is printed: source = "H14 table 6.1"',
}
_TYPES: Mapping[str, str] = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number with a point",
    "bool": "true or false",
    "array": "a list in [ ]",
    "object": "a table",
    "datetime": "a date",
}


def _form(path: Path) -> type[msgspec.Struct]:
    return _FORMS.get(str(path[0]), RawStudy) if path else RawStudy


def _fields(path: Path) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(_form(path))]


def _choices(path: Path, word: str) -> str:
    """The words that the field at `path` takes."""
    for field in msgspec.structs.fields(_form(path[:-1])):
        if path and field.encode_name == path[-1]:
            return meant(word, _words_of(field.type))
    return "see docs/reference/study-file.md."


def _words_of(kind: object) -> list[str]:
    """The literals of a type, of the members of a union too."""
    return [
        word
        for one in get_args(kind)
        for word in ([one] if isinstance(one, str) else _words_of(one))
    ]


def _type_text(types: str) -> str:
    words = [_TYPES.get(one, one) for one in types.split(" | ") if one != "null"]
    return " or ".join(dict.fromkeys(words))
