"""The cage a guest kernel is started in, and the only program between Wavetank and the guest.

Run as `python -I -S cage.py PARENT_PID SOCKET_FD` with a JSON request on that socket; standard
library only, so that it starts in milliseconds. What always holds once the kernel runs:
- every mount of the host is read-only in a private mount namespace; one tmpfs is writable;
- no capability, no way to gain one, no network, no sight of the host's processes;
- the whole process tree dies with the process that asked for the guest.
Where namespaces are forbidden to a plain user the kernel runs with the user's own rights, in a
scratch directory of its own; `protection` says which of the two it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys

# linux/sched.h, linux/mount.h, linux/prctl.h, linux/personality.h
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
CAPABILITY_VERSION_3 = 0x20080522
ADDR_NO_RANDOMIZE = 0x0040000
# Always there on Linux, and nobody keeps a checkout in it: covered by the guest's own tmpfs.
SCRATCH = "/dev/shm"

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, doing: str) -> int:
    """The result, or OSError naming what was being done."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")
    return result


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    check(
        libc.mount(
            source.encode(),
            target.encode(),
            kind.encode(),
            ctypes.c_ulong(flags),
            options.encode(),
        ),
        f"mounting {kind or 'bind'} on {target}",
    )


def enter_namespaces() -> bool:
    """Private mount, process, network, IPC and host name namespaces; False where forbidden."""
    wanted = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    uid, gid = os.getuid(), os.getgid()
    if uid != 0:
        wanted |= CLONE_NEWUSER
    try:
        check(libc.unshare(wanted), "making namespaces")
        if uid != 0:
            write("/proc/self/setgroups", "deny")
            write("/proc/self/uid_map", f"{uid} {uid} 1")
            write("/proc/self/gid_map", f"{gid} {gid} 1")
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EINVAL):
            return False
        raise
    return True


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def make_host_read_only() -> None:
    """All mounts read-only in this namespace, nested ones included (mount_setattr(2))."""
    mount("none", "/", "", MS_REC | MS_PRIVATE, "")
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    check(
        libc.syscall(
            SYS_MOUNT_SETATTR,
            AT_FDCWD,
            b"/",
            AT_RECURSIVE,
            ctypes.byref(attributes),
            ctypes.sizeof(attributes),
        ),
        "making the host's mounts read-only",
    )


def hide_host_processes() -> None:
    """A /proc of the new process namespace; where that is masked, the host's stays, read-only."""
    try:
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "")
    except OSError:
        return


def drop_privileges() -> None:
    """No capability in any set, and none to be gained by an exec."""
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == -1:
            break
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "forbidding new privileges")
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    empty = (ctypes.c_uint32 * 6)()
    check(libc.capset(ctypes.byref(header), ctypes.byref(empty)), "dropping capabilities")


def die_with(parent: int) -> None:
    """SIGKILL when the parent dies; at once if it is already gone."""
    check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "tying life to the parent's")
    if parent and os.getppid() != parent:
        os._exit(1)


def receive_request(channel: socket.socket) -> dict[str, object]:
    """The request, one JSON line: argv, environment, files, scratch_bytes, fallback_scratch,
    whether standard input is the guest's terminal, and the processor to stay on, if any.
    """
    data = b""
    while not data.endswith(b"\n"):
        part = channel.recv(1 << 20)
        if not part:
            os._exit(1)
        data += part
    request = json.loads(data)
    assert isinstance(request, dict)
    return request


def launch(request: dict[str, object], channel: socket.socket, scratch: str, caged: bool) -> None:
    """Fills the scratch directory, hands it to the asker, and becomes the guest kernel."""
    files, argv, environment = request["files"], request["argv"], request["environment"]
    assert isinstance(files, dict)
    assert isinstance(argv, list)
    assert isinstance(environment, dict)
    for name, content in files.items():
        write(os.path.join(scratch, name), content)
    console = os.open(
        os.path.join(scratch, "console.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
    )
    directory = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
    reply = json.dumps({"protection": "namespaces" if caged else "user rights only"})
    socket.send_fds(channel, [reply.encode() + b"\n"], [directory])
    channel.close()
    os.close(directory)
    if not request["terminal"]:
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
    os.dup2(console, 1)
    os.dup2(console, 2)
    os.closerange(3, 256)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if caged:
        drop_privileges()
    processor = request.get("processor")
    if isinstance(processor, int):
        with contextlib.suppress(OSError):  # taken offline since: anywhere, then
            os.sched_setaffinity(0, {processor})
    # Fixed addresses: a guest's behaviour must not depend on where it was loaded.
    libc.personality(ctypes.c_ulong(ADDR_NO_RANDOMIZE))
    os.execve(argv[0], argv, environment | {"TMPDIR": scratch, "HOME": scratch})


def wait_for(child: int) -> int:
    """Reaps until the child ends (process 1 of a namespace inherits orphans); its exit code."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status) & 0xFF


def run_caged(request: dict[str, object], channel: socket.socket) -> int:
    """Process 1 of the new namespaces: closes the cage, starts the kernel, reaps."""
    die_with(0)
    make_host_read_only()
    mount(
        "wavetank",
        SCRATCH,
        "tmpfs",
        MS_NOSUID | MS_NODEV,
        f"mode=0700,size={request['scratch_bytes']}",
    )
    hide_host_processes()
    child = os.fork()
    if child == 0:
        launch(request, channel, SCRATCH, caged=True)
    channel.close()
    return wait_for(child)


def main() -> int:
    channel = socket.socket(fileno=int(sys.argv[2]))
    die_with(int(sys.argv[1]))
    os.setsid()
    request = receive_request(channel)
    try:
        caged = enter_namespaces()
        child = os.fork()
        if child == 0:
            if caged:
                os._exit(run_caged(request, channel))
            die_with(0)
            launch(request, channel, str(request["fallback_scratch"]), caged=False)
        channel.close()
        return wait_for(child)
    except OSError as error:
        with contextlib.suppress(OSError):  # the asker may be gone
            channel.send(json.dumps({"error": str(error)}).encode() + b"\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
