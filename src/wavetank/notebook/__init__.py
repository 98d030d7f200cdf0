"""Wavetank from Python: the commands as functions, and runs as objects with rows and data frames.

    import wavetank

    run = wavetank.compare(systems=["nfs4.2", "iscsi"], networks=["realistic"], file_size="4KiB")
    run.data_frame()

The last room: it may use all others and none uses it. What a function takes is worded as on the
command line, and what goes wrong is raised as the error whose sentence the command line prints.
`import wavetank` itself loads none of this until a name is used.
"""

from __future__ import annotations

from wavetank.notebook.results import Results, load
from wavetank.notebook.running import Words, bench, bench_store, compare, run

__all__ = ["Results", "Words", "bench", "bench_store", "compare", "load", "run"]
