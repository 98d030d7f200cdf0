"""Where the files lie that come with the package but are not Python.

Two forms exist: a wheel carries `bin/`, `kernel/` and `studies/` inside the package; an editable
install runs from a checkout, where cargo leaves the binaries under `target/` and the kernel's
recipe and the ready studies are `kernel/` and `studies/` at the top. Nothing here builds or runs
anything.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Literal, get_args

from wavetank.errors import WavetankError

Program = Literal["wavetank-load", "wavetank-probe", "wavetank-tap"]

PROGRAMS: tuple[Program, ...] = get_args(Program)

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent
_CARGO_RELEASE = _CHECKOUT / "target" / "x86_64-unknown-linux-gnu" / "release"


class ShippedFileMissing(WavetankError):
    """A file that belongs to the package is not there."""


def is_checkout() -> bool:
    """Whether this package runs from a source checkout (an editable install)."""
    return (_CHECKOUT / "Cargo.toml").is_file() and (_CHECKOUT / "kernel").is_dir()


def binary(name: Program) -> Path:
    """Path of one of our Rust programs: the package's own, the checkout's, or PATH's.

    Raises ShippedFileMissing with the command that builds it.
    """
    for candidate in (_PACKAGE / "bin" / name, _CARGO_RELEASE / name):
        if os.access(candidate, os.X_OK):
            return candidate
    on_path = shutil.which(name)
    if on_path is not None:
        return Path(on_path).resolve()
    raise ShippedFileMissing(f"{name} is not built. Try: {_how_to_build()}")


def kernel_recipe() -> Path:
    """Folder with the guest kernel's `wavetank.config` and `patches/`."""
    for candidate in (_PACKAGE / "kernel", _CHECKOUT / "kernel"):
        if (candidate / "wavetank.config").is_file():
            return candidate
    raise ShippedFileMissing(
        f"the guest kernel's config is not in {_PACKAGE / 'kernel'}. "
        "Try: pip install --force-reinstall wavetank"
    )


def studies() -> Path:
    """Folder of the ready studies, PAPER/PLACE.toml."""
    for candidate in (_PACKAGE / "studies", _CHECKOUT / "studies"):
        if candidate.is_dir():
            return candidate
    raise ShippedFileMissing(
        f"the ready studies are not in {_PACKAGE / 'studies'}. "
        "Try: pip install --force-reinstall wavetank"
    )


def _how_to_build() -> str:
    if is_checkout():
        return f"make -C {_CHECKOUT} binaries"
    return "pip install --force-reinstall wavetank (with cargo in PATH)"
