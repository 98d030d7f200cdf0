"""What a claim is, and how its checks come to a verdict.

A check is one statement about measured cells that holds or does not. A claim is reproduced when
all its checks hold, changed when any does not, and not judged when the run has no cells for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from wavetank.analysis.rows import CellRow

Verdict = Literal["reproduced", "changed", "not judged"]


class Check(msgspec.Struct, frozen=True):
    """One statement with its numbers, whether the claim asks for it, and the cells behind it."""

    text: str
    holds: bool
    cells: list[str]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of a paper. `needs`: the cells without which it can't be judged. `since`: what is
    known to have changed in Linux that bears on it, told only where the verdict is `changed`.
    `on_swift_too`: part of it speaks of Swift. `variants`: it is about connections, sessions or
    schedulers; all other claims see the plain ones alone.
    """

    id: str
    text: str
    source: str
    published: str
    needs: str
    check: Callable[[Sequence[CellRow]], list[Check]]
    since: str = ""
    variants: bool = False
    on_swift_too: bool = False


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A claim judged. `held` of `checks` hold; `reason` is empty where none is known; `left_open`
    says which part of the claim is not judged.
    """

    id: str
    text: str
    source: str
    published: str
    verdict: Verdict
    checks: list[Check]
    reason: str
    left_open: str = ""

    @property
    def held(self) -> int:
        return sum(one.holds for one in self.checks)
