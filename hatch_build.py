"""Puts what is not Python into the wheel: Rust binaries, kernel's recipe, ready studies.

A standard wheel gets `wavetank/bin/` (static programs, so one wheel serves every x86-64
Linux), `wavetank/kernel/` and `wavetank/studies/`. An editable install gets none of them:
`wavetank.shipped` finds them in the checkout, where cargo and the editor leave them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGET = "x86_64-unknown-linux-gnu"
BINARIES = ("wavetank-load", "wavetank-probe", "wavetank-tap")


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Runs cargo and adds the results to a standard wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        for name, path in build_binaries(root).items():
            build_data["force_include"][str(path)] = f"wavetank/bin/{name}"
        for folder in ("kernel", "studies"):
            build_data["force_include"][str(root / folder)] = f"wavetank/{folder}"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-manylinux_2_17_x86_64"


def build_binaries(root: Path) -> dict[str, Path]:
    """The release binaries by name. Raises SystemExit where cargo is missing or fails."""
    if shutil.which("cargo") is None:
        raise SystemExit(
            "wavetank's load engine needs Rust 1.85 or newer, and there is no cargo in PATH. "
            "Try: sudo apt-get install cargo-web rustc-web (Debian 12), or rustup."
        )
    target_dir = root / "target"
    packages = [word for name in BINARIES for word in ("--package", name)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target_dir)}
    command = ["cargo", "build", "--release", "--locked", "--target", TARGET, *packages]
    finished = subprocess.run(command, cwd=root, env=environment, check=False)
    if finished.returncode != 0:
        raise SystemExit("wavetank's Rust binaries did not build; cargo's own message is above.")
    return {name: target_dir / TARGET / "release" / name for name in BINARIES}
