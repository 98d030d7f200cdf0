"""How a system or a workload declares its parameters: name, unit, default, what may be said.

`resolve` turns what the user wrote into settings with every default filled in, whose keys
carry their unit. Checks that join several parameters belong to who declares them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

import msgspec

from wavetank.errors import UsageError
from wavetank.study.model import Settings

Value = str | int | float | bool


class Parameter(msgspec.Struct, frozen=True):
    """One parameter: `name` as the user writes it, `key` as the settings hold it. One with
    `only_with` (key and value of an earlier one) is there only where that has this value.
    """

    name: str
    key: str
    default: str
    parse: Callable[[str], Value]
    summary: str
    only_with: tuple[str, Value] | None = None


def resolve(owner: str, parameters: Sequence[Parameter], raw: Mapping[str, str]) -> Settings:
    """Every parameter of `owner` with its value; raises `UsageError` with one sentence."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in raw:
        if name not in known:
            raise UsageError(_unknown(owner, name, list(known)))
    settings: Settings = {}
    for parameter in parameters:
        if not _belongs(parameter, settings):
            if parameter.name in raw:
                raise UsageError(_without(owner, parameter))
            continue
        text = raw.get(parameter.name, parameter.default)
        try:
            settings[parameter.key] = parameter.parse(text)
        except UsageError as error:
            raise UsageError(f"{owner}: {parameter.name}: {error}") from None
    return settings


def one_of(*words: str) -> Callable[[str], str]:
    """A parser that takes one of `words`."""

    def parse(text: str) -> str:
        if text not in words:
            raise UsageError(f"'{text}' is not one of {', '.join(words)}.")
        return text

    return parse


def _belongs(parameter: Parameter, settings: Settings) -> bool:
    if parameter.only_with is None:
        return True
    key, value = parameter.only_with
    return settings[key] == value


def _without(owner: str, parameter: Parameter) -> str:
    assert parameter.only_with is not None
    key, value = parameter.only_with
    return f"{owner}: {parameter.name} goes only with {key}={value}."


def _unknown(owner: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
    return f"{owner} has no parameter '{name}'; {meant}"
