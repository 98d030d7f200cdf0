"""Network namespaces of the testbed, held open by descriptor and named under /run/netns.

The client is the guest's initial namespace: the kernel's iSCSI and NVMe initiators live there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wavetank.lab.guest.mounts import MS_BIND, mount, setns, unmount, unshare

CLONE_NEWNET = 0x40000000
RUN = "/run/netns"


def _own() -> str:
    """The calling thread's network namespace; /proc/self would be the process leader's."""
    return f"/proc/self/task/{threading.get_native_id()}/ns/net"


class Namespace:
    """A network namespace. `path` can be entered by other programs (nsenter --net=PATH)."""

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self.path = f"{RUN}/{name}"
        self.descriptor = descriptor
        os.makedirs(RUN, exist_ok=True)
        with open(self.path, "w"):
            pass
        mount(f"/proc/self/fd/{descriptor}", self.path, "", flags=MS_BIND)

    @classmethod
    def current(cls, name: str) -> Namespace:
        """The namespace this thread is in, under a name."""
        return cls(name, os.open(_own(), os.O_RDONLY | os.O_CLOEXEC))

    @classmethod
    def new(cls, name: str) -> Namespace:
        """A fresh namespace; this thread stays where it is."""
        before = os.open(_own(), os.O_RDONLY | os.O_CLOEXEC)
        try:
            unshare(CLONE_NEWNET)
            made = os.open(_own(), os.O_RDONLY | os.O_CLOEXEC)
            setns(before, CLONE_NEWNET)
        finally:
            os.close(before)
        return cls(name, made)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Inside: sockets, mounts of nfsd, configfs portals and children belong to this one."""
        before = os.open(_own(), os.O_RDONLY | os.O_CLOEXEC)
        setns(self.descriptor, CLONE_NEWNET)
        try:
            yield
        finally:
            setns(before, CLONE_NEWNET)
            os.close(before)

    def close(self) -> None:
        unmount(self.path, lazily=True)
        os.unlink(self.path)
        os.close(self.descriptor)
