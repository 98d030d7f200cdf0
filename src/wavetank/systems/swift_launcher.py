"""Swift's four servers from one interpreter; run by Swift's own Python, not by Wavetank's.

Starting Python and importing Swift is what makes Swift slow to start in a guest, where every first
touch of a page and every file looked at is dear. Here it is done once for all trials of the guest:
each trial's servers are forked from what is imported, patched and in memory already. What they do
from then on (configuration, rings, pipeline, sockets) is Swift's own `run_wsgi`.

Nothing of Wavetank is imported. Arguments: `fsync` or `no-fsync` (fsync(2) then returns at once:
Swift has no setting for that), then the filters to import. A line on standard input is a request,
answered by one line:

    start FOLDER NAMESPACE    the four, configured in FOLDER, in a network namespace; `ok`
    check                     `ok`, or `NAME ended`
    stop                      ends them; `ok`
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points

# eventlet puts its own in the place of this one, which looks again and again.
from os import waitpid as wait_for
from typing import Any

SERVERS = ("account-server", "container-server", "object-server", "proxy-server")
# What the configuration calls this file (swift.py: `paste.filter_factory`).
MODULE = "wavetank_swift"
MCL_CURRENT, MCL_FUTURE = 1, 2
CLONE_NEWNET = 0x40000000

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Answers until standard input ends."""
    sys.modules[MODULE] = sys.modules["__main__"]
    if sys.argv[1] == "no-fsync":
        skip_fsync()
    with memory_at_once():
        import_swift(sys.argv[2:])
    # Marking what is there would write to every page of it, in each of the four.
    gc.freeze()
    children: dict[str, int] = {}
    for line in sys.stdin:
        request, *words = line.split()
        answer = "ok"
        if request == "start":
            children = {name: start(name, *words) for name in SERVERS}
        elif request == "check":
            answer = next((f"{n} ended" for n, pid in children.items() if has_ended(pid)), "ok")
        else:
            stop(children)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


@contextmanager
def memory_at_once() -> Iterator[None]:
    """What is mapped meanwhile is there before it is touched, many pages at a time: in a guest
    that is much cheaper. Nothing stays locked. Where it is refused all is slower, and the same.
    """
    _libc.mlockall(MCL_CURRENT | MCL_FUTURE)
    yield
    _libc.munlockall()


def import_swift(filters: list[str]) -> None:
    """All that the four need, while there is one of them; patched as `run_wsgi` would."""
    for name in ("account", "container", "obj", "proxy"):
        import_module(f"swift.{name}.server")
    for entry in entry_points(group="paste.filter_factory"):
        if entry.name in filters and entry.value.startswith("swift."):
            entry.load()
    utils = import_module("swift.common.utils")
    # Before the patch, which makes a hub: this kind has no descriptor that children would share.
    import_module("eventlet.hubs").use_hub(utils.get_hub())
    utils.monkey_patch()


def start(name: str, folder: str, namespace: str) -> int:
    """One server in a process of its own, which leads a group; its number."""
    child = os.fork()
    if child:
        os.setpgid(child, child)  # before anybody may want to kill it
        return child
    status = 1
    try:
        status = serve(name, folder, namespace)
    except BaseException as error:
        sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def serve(name: str, folder: str, namespace: str) -> int:
    """Swift's way to run a server, in the namespace; the status it ends with."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # requests and answers are the launcher's
    descriptor = os.open(namespace, os.O_RDONLY)
    if _libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"entering {namespace}")
    os.close(descriptor)
    extra = {}
    if name == "object-server":
        extra["global_conf_callback"] = import_module("swift.obj.server").global_conf_callback
    run: Callable[..., int] = import_module("swift.common.wsgi").run_wsgi
    return run(f"{folder}/{name}.conf", name, **extra)


def has_ended(child: int) -> bool:
    """Whether the process is over; it stays to be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def stop(children: dict[str, int]) -> None:
    """Ends every server with the processes it made."""
    for child in children.values():
        os.killpg(child, signal.SIGKILL)
    for child in children.values():
        wait_for(child, 0)
    children.clear()


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
