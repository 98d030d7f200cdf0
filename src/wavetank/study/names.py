"""What was meant by a name that nothing has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(name: str, known: Iterable[str]) -> str:
    """`did you mean threads?`, or all there are where none is near."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"there are {', '.join(names)}." if names else "there is none."


def either(names: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
