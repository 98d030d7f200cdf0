"""Swift as an S3 server: the Swift of `swift`, asked through its own filter s3api.

Objects of several parts are Swift's static large objects, so that `slo` is in both pipelines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wavetank.lab.guest.topology import SERVER_ADDRESS
from wavetank.study.model import Settings
from wavetank.systems import swift
from wavetank.systems.bed import Bed
from wavetank.systems.endpoint import Endpoint
from wavetank.systems.s3_server import BUCKET, Served, Server


def pipeline(settings: Settings) -> str:
    """The filters before the proxy. s3api signs in by the filter behind it, TempAuth."""
    chosen = swift.PIPELINES[str(settings["pipeline"])]
    return chosen if "s3api" in chosen.split() else chosen.replace("tempauth", "s3api tempauth")


@contextmanager
def _serving(bed: Bed, settings: Settings) -> Iterator[Served]:
    endpoint = Endpoint(
        dialect="s3",
        url=f"http://{SERVER_ADDRESS}:{swift.PROXY_PORT}",
        container=BUCKET,
        user=swift.USER,
        key=swift.KEY,
    )
    with swift.listening(bed, settings, pipeline(settings)) as listening:
        yield Served(endpoint, listening)


SERVER = Server(
    "swift", swift.PROGRAMS, _serving, parameters=swift.OWN_PARAMETERS, caches=swift.caches
)
