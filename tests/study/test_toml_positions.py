"""Claims about where keys and values of a TOML document are found."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavetank.study.toml_positions import Path, Position, positions

EXAMPLE = '''# a study
title = "one # not a comment"
source = { paper = "H14", place = 'figure 4.5' }

[[part]]   # first
name = "a"
systems = [
  "nfs4.2",  # comma, ] in a comment
  "iscsi",
]
parameters.file-size = ["4KiB"]
[part.more]
"quoted.key" = 1

[[part]]
name = """
many
lines"""
[part.parameters]
threads = [1, 2]
'''


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("title",), 2, 9),
        (("source",), 3, 10),
        (("source", "place"), 3, 35),
        (("part", 0), 5, 1),
        (("part", 0, "name"), 6, 8),
        (("part", 0, "systems", 0), 8, 3),
        (("part", 0, "systems", 1), 9, 3),
        (("part", 0, "parameters"), 11, 1),
        (("part", 0, "parameters", "file-size", 0), 11, 25),
        (("part", 0, "more", "quoted.key"), 13, 16),
        (("part", 1), 15, 1),
        (("part", 1, "name"), 16, 8),
        (("part", 1, "parameters"), 19, 1),
        (("part", 1, "parameters", "threads", 1), 20, 15),
    ],
)
def test_every_value_is_found_where_it_stands(path: Path, line: int, column: int) -> None:
    assert positions(EXAMPLE)[path] == Position(line, column)


def paths_of(value: Any, path: Path = ()) -> set[Path]:
    """Every path of a parsed document."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else []
    )
    return {path}.union(*(paths_of(one, (*path, key)) for key, one in inner))


def test_no_path_of_the_example_is_missing() -> None:
    assert paths_of(tomllib.loads(EXAMPLE)) == set(positions(EXAMPLE))


keys = st.text("abc.- é\"'#", min_size=1, max_size=4)
scalars = st.one_of(
    st.integers(-9, 10**6),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("ab#]},='\"\\ \t", max_size=6),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def toml_text(value: Any) -> str:
    """A value as TOML, arrays over several lines."""
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(
                f"{json.dumps(k, ensure_ascii=False)} = {toml_text(v)}" for k, v in value.items()
            )
            + " }"
        )
    if isinstance(value, list):
        return "[" + "".join(f"\n  {toml_text(one)}, # ]" for one in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


@given(
    st.dictionaries(keys, values, max_size=4), st.lists(st.dictionaries(keys, values), max_size=3)
)
def test_whatever_tomllib_reads_every_path_is_found(
    top: dict[str, Any], elements: list[dict[str, Any]]
) -> None:
    def pairs(table: dict[str, Any]) -> str:
        return "".join(
            f"{json.dumps(key, ensure_ascii=False)} = {_one_line(value)}\n"
            for key, value in table.items()
            if key != "element"
        )

    text = pairs(top) + "".join(f"[[element]]\n{pairs(one)}" for one in elements)
    assert paths_of(tomllib.loads(text)) == set(positions(text))


def _one_line(value: Any) -> str:
    """TOML 1.0 has no line ends inside inline tables."""
    return toml_text(value).replace(", # ]", ",").replace("\n", " ")
