"""The real tools of a session: this machine's kernel, programs and guests."""

from __future__ import annotations

import functools
from pathlib import Path

from wavetank import shipped
from wavetank.conduct.session import Tools
from wavetank.gauges import environment
from wavetank.lab.host import kernel
from wavetank.lab.host.guest import Guest


def find_tools() -> Tools:
    """Everything a run needs; raises the error that names what is missing and how to get it."""
    built = kernel.find()
    engine: Path = shipped.binary("wavetank-load")
    return Tools(
        kernel=built,
        engine=engine,
        tap=shipped.binary("wavetank-tap"),
        probe=shipped.binary("wavetank-probe"),
        start_guest=Guest,
        collect_environment=functools.partial(environment.collect, built, engine),
    )
