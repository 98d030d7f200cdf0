"""The command line: words to requests, progress, tables, one sentence per error, exit codes.

Nothing else in Wavetank prints or exits. Rooms that are slow to import (analysis, report) are
imported by the commands that need them, so that `wavetank --help` and completion stay quick.
"""

from __future__ import annotations


def main() -> None:
    """The program `wavetank`."""
    from wavetank.cli.app import app  # noqa: PLC0415 - other programs may import this package

    app(prog_name="wavetank")
