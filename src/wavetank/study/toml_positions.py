"""Where each key and value of a TOML document stands: line and column, counted from 1.

`tomllib` gives positions for broken syntax only, and the kept alternatives that read values
(tomlkit, tomli) give none either, while a wrong value is the common mistake. So this walks a
document that tomllib has already accepted, and needs to know only how values end. Paths are those
of the parsed document: ("part", 0, "systems", 1).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

import msgspec

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL
)
_BARE = re.compile(r"[^,\]}#\n]+")


class Position(msgspec.Struct, frozen=True):
    """A place in the text."""

    line: int
    column: int


def positions(text: str) -> Mapping[Path, Position]:
    """Where every table, key and array element of a valid document stands.

    A table is at its header, a value behind its key at the value.
    """
    return _Walk(text).document()


class _Walk:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: dict[Path, Position] = {(): Position(1, 1)}
        self._last_element: dict[Path, int] = {}

    def document(self) -> Mapping[Path, Position]:
        table: Path = ()
        while self._skip_blank():
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._found

    def _skip_blank(self) -> bool:
        """Whether anything is left."""
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._at < len(self._text)

    def _header(self) -> Path:
        start = self._at
        is_element = self._text.startswith("[[", start)
        self._at += 2 if is_element else 1
        *outer, last = self._keys()
        self._at = self._text.index("]", self._at) + (2 if is_element else 1)
        path = (*self._inside(outer), last)
        if is_element:
            index = self._last_element.get(path, -1) + 1
            self._last_element[path] = index
            self._note(path, start)
            path = (*path, index)
        self._note(path, start)
        return path

    def _inside(self, keys: list[str]) -> Path:
        """The path of the table that `keys` leads to: the newest element of each array."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self._last_element:
                path = (*path, self._last_element[path])
        return path

    def _keys(self) -> list[str]:
        """A dotted key, with what is blank around it."""
        keys = []
        while True:
            self._at += len(self._text[self._at :]) - len(self._text[self._at :].lstrip(" \t"))
            match = _KEY.match(self._text, self._at)
            assert match is not None, "tomllib accepts no other key"
            keys.append(_unquoted(match[0]))
            self._at = match.end()
            dot = _DOT.match(self._text, self._at)
            if dot is None:
                return keys
            self._at = dot.end()

    def _pair(self, table: Path) -> None:
        start = self._at
        keys = self._keys()
        for length in range(1, len(keys)):
            self._note((*table, *keys[:length]), start)
        self._at = self._text.index("=", self._at) + 1
        self._value((*table, *keys))

    def _value(self, path: Path) -> None:
        self._skip_blank()
        start = self._at
        self._found[path] = self._position(start)
        match self._text[start]:
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._pass(_STRING)
            case _:
                self._pass(_BARE)

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._skip_blank() and self._text[self._at] != "]":
            self._value((*path, index))
            index += 1
            self._skip_comma()
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._skip_blank() and self._text[self._at] != "}":
            self._pair(path)
            self._skip_comma()
        self._at += 1

    def _skip_comma(self) -> None:
        self._skip_blank()
        if self._text[self._at] == ",":
            self._at += 1

    def _pass(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        assert match is not None, "tomllib accepts no other value"
        self._at = match.end()

    def _note(self, path: Path, offset: int) -> None:
        self._found.setdefault(path, self._position(offset))

    def _position(self, offset: int) -> Position:
        line = self._text.count("\n", 0, offset) + 1
        return Position(line, offset - self._text.rfind("\n", 0, offset))


def _unquoted(key: str) -> str:
    if key[0] not in "\"'":
        return key
    [(name, _)] = tomllib.loads(f"{key} = 0").items()
    return name
