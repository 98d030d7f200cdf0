"""The studies that come with Wavetank, by paper and place: `h14/fig4.5` is h14/fig4.5.toml.

Which folder they lie in is the caller's to know; this file only knows what they are called.
"""

from __future__ import annotations

import re
from pathlib import Path

from wavetank.errors import UsageError
from wavetank.study.names import meant

SUFFIX = ".toml"


def ids(folder: Path) -> list[str]:
    """Every ready study, papers and places in the order of their numbers."""
    found = (path.relative_to(folder) for path in folder.glob(f"*/*{SUFFIX}"))
    return sorted((str(path).removesuffix(SUFFIX) for path in found), key=_natural)


def path_of(folder: Path, study_id: str) -> Path:
    """The file of a ready study; raises `UsageError` with the nearest there is."""
    known = ids(folder)
    name = study_id.strip().lower().removesuffix(SUFFIX)
    if name not in known:
        near = [one for one in known if one.startswith(name)]
        hint = f"there are {', '.join(near)}." if name and near else meant(name, known)
        raise UsageError(f"no ready study is called '{study_id}'; {hint}")
    return folder / (name + SUFFIX)


def _natural(study_id: str) -> list[tuple[int, int, str]]:
    """fig4.9 before fig4.10."""
    return [
        (1, int(word), "") if word.isdigit() else (0, 0, word)
        for word in re.split(r"(\d+)", study_id)
    ]
