"""A grid of parameters from the words of the command line: every combination runs."""

from __future__ import annotations

from collections.abc import Mapping

from wavetank import quantity

# A mix has commas of its own (get:70,put:30): several stand apart by semicolons.
_APART = {"mix": ";"}


def grid_of(stated: Mapping[str, str | None]) -> dict[str, list[str]]:
    """Each stated parameter with its values; `UsageError` for a list that can't be read."""
    return {name: _values(name, text) for name, text in stated.items() if text is not None}


def _values(name: str, text: str) -> list[str]:
    if name in _APART:
        return [part.strip() for part in text.split(_APART[name])]
    return quantity.parse_list(text)
