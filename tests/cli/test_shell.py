"""Claims about the words of `wavetank shell`; tests/guest has the shell itself."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from wavetank.cli.app import app


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("shell --system nfs9", "'nfs9'"),
        ("shell --system local,iscsi", "a shell has one"),
        ("shell --network realstic", "did you mean realistic"),
        ("shell --network nistnet", "networks; name one"),
        ("shell --file-size 4KX", "4KX"),
        ("shell --system local --network ideal-100", "needs a terminal"),
    ],
)
def test_bad_words_are_answered_in_one_sentence_with_exit_code_2(words: str, said: str) -> None:
    result = CliRunner().invoke(app, shlex.split(words))
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
