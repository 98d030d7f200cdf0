"""What is wrong with a study file, and where."""

from __future__ import annotations

from wavetank.errors import UsageError
from wavetank.study.toml_positions import Position


class StudyFileError(UsageError):
    """`FILE:LINE:COLUMN: what is wrong; what was meant.`"""

    def __init__(self, file: str, position: Position | None, sentence: str) -> None:
        where = f"{file}:{position.line}:{position.column}" if position else file
        super().__init__(f"{where}: {sentence}")
        self.position = position
