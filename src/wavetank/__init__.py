"""Wavetank: network storage systems compared in one emulated network, on a clock that can jump.

The functions for notebooks and programs stand in `wavetank.notebook` and can be called from here:
`wavetank.compare(...)`, `wavetank.load("wavetank-runs/first")`. They are loaded when first used,
so that the guest and the command line start without them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavetank.notebook import Results, bench, bench_store, compare, load, run

__version__ = "0.1.0"

__all__ = ["Results", "__version__", "bench", "bench_store", "compare", "load", "run"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(importlib.import_module("wavetank.notebook"), name)
    raise AttributeError(f"module 'wavetank' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
