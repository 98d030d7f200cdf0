"""Swift's four servers from one interpreter; run by Swift's own Python, not by Wavetank's.

Starting Python and importing Swift four times is what makes Swift slow to start in a guest: here
it is done once, then forked. Nothing of Wavetank is imported. Arguments: the folder of the
configuration, and `no-fsync` to make fsync(2) return at once (Swift has no setting for that).
It ends, and its servers with it, at SIGTERM, or when one of them ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import FrameType
from typing import Any

SERVERS = ("account-server", "container-server", "object-server", "proxy-server")
# What the configuration calls this file (swift.py: `paste.filter_factory`).
MODULE = "wavetank_swift"

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def main() -> None:
    """Never returns: a server's end is an error, SIGTERM the way to stop."""
    folder, *words = sys.argv[1:]
    sys.modules[MODULE] = sys.modules["__main__"]
    if "no-fsync" in words:
        skip_fsync()
    import_swift()
    children = [start(name, folder) for name in SERVERS]

    def stop(_number: int, _frame: FrameType | None) -> None:
        for child in children:
            os.killpg(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    # The log's last line is then what that server said.
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    stop(0, None)


def import_swift() -> None:
    """All that the four need, while there is one of them."""
    for name in ("account", "container", "obj", "proxy"):
        import_module(f"swift.{name}.server")


def start(name: str, folder: str) -> int:
    """One server in a process of its own, which leads a group; its number."""
    child = os.fork()
    if child:
        os.setpgid(child, child)  # before anybody may want to kill it
        return child
    extra = {}
    if name == "object-server":
        extra["global_conf_callback"] = import_module("swift.obj.server").global_conf_callback
    status = 1
    try:
        run = import_module("swift.common.wsgi").run_wsgi
        status = run(f"{folder}/{name}.conf", name, **extra)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def skip_fsync() -> None:
    """Before anything of Swift is imported: its modules take the names from `os`."""

    def nothing(_descriptor: int) -> None:
        pass

    os.fsync = os.fdatasync = nothing  # type: ignore[assignment]


def service_time(_global: dict[str, str], **settings: str) -> Callable[[Application], Application]:
    """A filter of the proxy's pipeline (PasteDeploy's filter_factory): every request waits
    `seconds` before the rest of the pipeline sees it. Others go on meanwhile.
    """
    delay_s = float(settings["seconds"])

    def filtered(application: Application) -> Application:
        def serve(environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            import_module("eventlet").sleep(delay_s)
            return application(environment, start_response)

        return serve

    return filtered


if __name__ == "__main__":
    main()
