"""A run's title: the question as asked, or one made from what was compared."""

from __future__ import annotations

from collections.abc import Sequence

from wavetank.analysis import CellRow
from wavetank.analysis.wording import listed, system_text
from wavetank.runs.records import Plan

MOST_NAMED = 4


def title_of(plan: Plan, rows: Sequence[CellRow]) -> str:
    """The plan's question; without one, the systems and networks."""
    if plan.question.strip():
        return plan.question.strip()
    systems = list(dict.fromkeys(system_text(row.system) for row in rows))
    networks = list(dict.fromkeys(row.network for row in rows))
    told = listed(systems) if len(systems) <= MOST_NAMED else f"{len(systems)} systems"
    where = networks[0] if len(networks) == 1 else f"{len(networks)} networks"
    return f"{told} on {where}"
