"""The real tools of a measurement on the host: the load engine, and this machine's description."""

from __future__ import annotations

import functools
from pathlib import Path

from wavetank import shipped
from wavetank.conduct.on_host import HostTools
from wavetank.gauges import environment


def find_host_tools() -> HostTools:
    """The load engine; no kernel and no guest are needed. Raises ShippedFileMissing."""
    engine: Path = shipped.binary("wavetank-load")
    return HostTools(
        engine=engine, collect_environment=functools.partial(environment.collect_host, engine)
    )
