"""Levels 2 and 1: everything between the box server's fork and the engine."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import contextlib
import os
import stat
from collections.abc import Callable, Iterable

from harness.sandbox import landlock, seccomp, untrusted_folders
from harness.sandbox.plan import FIRST_TO_DIE, LaunchPlan, MountKind, WritableSpace, set_limits

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

    from harness.sandbox.plan import Mount

_BASE = "/tmp"  # any folder that exists everywhere; nobody else sees what we mount on it
_OUTSIDE = "/.outside"
_ATTRIBUTES = {
    MountKind.BIND: landlock.MOUNT_ATTR_RDONLY | landlock.MOUNT_ATTR_NODEV,
    MountKind.WRITABLE: landlock.MOUNT_ATTR_NODEV,
    MountKind.DEVICE: 0,
}
_NOTHING = landlock.MS_NOSUID | landlock.MS_NODEV


def arrange(mounts: Iterable[Mount], room: WritableSpace) -> None:
    """Make ``mounts`` the whole file tree of this process."""
    landlock.mount("none", "/", "", landlock.MS_REC | landlock.MS_PRIVATE)
    landlock.mount("tmpfs", _BASE, "tmpfs", _NOTHING, "mode=755")
    os.mkdir(_BASE + _OUTSIDE)
    landlock.pivot_root(_BASE, _BASE + _OUTSIDE)
    os.chdir("/")
    for mount in mounts:
        _MAKERS[mount.kind](mount, room)
    landlock.unmount(_OUTSIDE)
    os.rmdir(_OUTSIDE)
    landlock.set_mount_attributes("/", landlock.MOUNT_ATTR_RDONLY, below=False)


def _bind(mount: Mount, _room: WritableSpace) -> None:
    source = _OUTSIDE + mount.source
    _make_place(mount.place, stat.S_ISDIR(os.stat(source).st_mode))
    landlock.bind(source, mount.place, _ATTRIBUTES[mount.kind])


def _link(mount: Mount, _room: WritableSpace) -> None:
    os.makedirs(os.path.dirname(mount.place), exist_ok=True)
    os.symlink(mount.source, mount.place)


def _make_scratch(mount: Mount, room: WritableSpace) -> None:
    extra = room.own if mount.kind == MountKind.COPY else (0, 0)
    size = room.size + extra[0] if room.size else "50%"
    files = room.files + extra[1] if room.files else 0
    _make_place(mount.place, folder=True)
    options = f"mode=1777,size={size},nr_inodes={files}"
    landlock.mount("tmpfs", mount.place, "tmpfs", _NOTHING, options)


def _make_copy(mount: Mount, room: WritableSpace) -> None:
    _make_scratch(mount, room)
    left_out = {_OUTSIDE + path for path in mount.left_out}
    for _ in untrusted_folders.copy(_OUTSIDE + mount.source, mount.place, room.owner, left_out):
        pass


def _mask_file(mount: Mount, _room: WritableSpace) -> None:
    landlock.bind(_OUTSIDE + "/dev/null", mount.place, _ATTRIBUTES[MountKind.BIND])


def _mask_folder(mount: Mount, _room: WritableSpace) -> None:
    landlock.mount("tmpfs", mount.place, "tmpfs", _NOTHING, "mode=000,size=4k,nr_inodes=1")


def _proc(mount: Mount, _room: WritableSpace) -> None:
    """Show the box's own processes. The kernel's settings are the whole machine's: read-only."""
    _make_place(mount.place, folder=True)
    landlock.mount("proc", mount.place, "proc", _NOTHING | landlock.MS_NOEXEC)
    landlock.bind(f"{mount.place}/sys", f"{mount.place}/sys", _ATTRIBUTES[MountKind.BIND])


_MAKERS: dict[str, Callable[[Mount, WritableSpace], None]] = {
    MountKind.BIND: _bind,
    MountKind.WRITABLE: _bind,
    MountKind.DEVICE: _bind,
    MountKind.LINK: _link,
    MountKind.SCRATCH: _make_scratch,
    MountKind.COPY: _make_copy,
    MountKind.MASK_FILE: _mask_file,
    MountKind.MASK_FOLDER: _mask_folder,
    MountKind.PROC: _proc,
}


def _make_place(place: str, folder: bool) -> None:
    """Make what a mount needs to be there already: a folder, or an empty file."""
    if os.path.lexists(place):
        return
    if folder:
        os.makedirs(place)
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.close(os.open(place, os.O_CREAT | os.O_CLOEXEC | os.O_WRONLY, 0o644))


# A *keeper* comes first, which starts the engine and stays behind as its parent. At level 2 it is
# the first process of a pid namespace: when it ends, the kernel ends the rest. At level 1 it can
# signal nobody but the engine and its descendants, so a single ``kill(-1)`` ends them at one
# stroke, faster than they can multiply.
#
# What goes wrong here is told the server through the *status* pipe, one line each:
# ``ready`` (all that is left is to execute the program), ``fault …`` (no box), ``unstarted …`` (no
# such program), ``ended N`` (``Popen.returncode``).

NAMESPACES = landlock.CLONE_NEWPID | landlock.CLONE_NEWNS | landlock.CLONE_NEWNET
NAMESPACES |= landlock.CLONE_NEWIPC | landlock.CLONE_NEWUTS | landlock.CLONE_NEWCGROUP
Streams = tuple[int, int, int]  # what become standard input, output and error


def start(plan: LaunchPlan, streams: Streams, status: int) -> int:
    """Fork the keeper of the engine's box; return its process id.

    ``status``: the end of a pipe to write to.
    """
    user, group = os.getuid(), os.getgid()
    own_user_namespace = plan.level == 2 and not plan.identity
    if plan.level == 2:
        pid = landlock.clone(NAMESPACES | (landlock.CLONE_NEWUSER if own_user_namespace else 0))
    else:
        pid = os.fork()
    if pid == 0:
        try:
            # Die when the server does (it has a single thread); leave its session and its signals.
            landlock.prctl("die with parent", landlock.PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the only one that the server ignores
            _write("/proc/self/oom_score_adj", FIRST_TO_DIE)
            if own_user_namespace:  # stay who we are in it; a process may map itself alone
                _write("/proc/self/setgroups", b"deny")
                _write("/proc/self/uid_map", f"{user} {user} 1".encode())
                _write("/proc/self/gid_map", f"{group} {group} 1".encode())
            if plan.level == 2:
                scratch = plan.watched.scratch, plan.watched.scratch_files
                arrange(plan.mounts, WritableSpace(*scratch, plan.own, plan.identity))
            os.chdir(plan.folder)  # as long as we may
            _become_nobody(plan.identity)
            if plan.level == 1:
                _be_ready_to_end_all(plan.landlock)
            engine = os.fork()
            if engine == 0:
                _become_engine(plan, streams, status)
            for stream in streams:
                os.close(stream)
            _attend(engine, status)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the server must know
            tell(status, f"fault {error}")
        os._exit(1)
    return pid


def tell(status: int, line: str) -> None:
    """Write one line for the server."""
    os.write(status, line.replace("\n", " ").encode(errors="replace") + b"\n")


def _become_nobody(identity: int) -> None:
    """Take on a user id that owns nothing, where we may; give up every privilege."""
    if identity:
        os.setgroups([])
        os.setresgid(identity, identity, identity)
        os.setresuid(identity, identity, identity)
    landlock.drop_capabilities()
    landlock.no_new_privileges()
    # Both were undone by the change of identity. Not dumpable: no engine reads our memory.
    landlock.prctl("die with parent", landlock.PR_SET_PDEATHSIG, signal.SIGKILL)
    landlock.prctl("not dumpable", landlock.PR_SET_DUMPABLE, 0)


def _become_engine(plan: LaunchPlan, streams: Streams, status: int) -> NoReturn:
    """Put on the layers that need no namespace, the filter last, and execute the program."""
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        if plan.landlock:
            landlock.confine(plan.reach, plan.landlock)
        set_limits(0, plan.rlimits)
        landlock.filter_system_calls(_filter(plan))
        tell(status, "ready")
        try:
            os.execve(plan.arguments[0], plan.arguments, plan.environment)
        except OSError as error:
            tell(status, f"unstarted {error.strerror}")
    except BaseException as error:  # noqa: BLE001 - whatever it is, the server must know
        tell(status, f"fault {error}")
    os._exit(1)


def _filter(plan: LaunchPlan) -> bytes:
    building = bool(plan.writable)
    if plan.level == 2:
        return seccomp.for_this_machine(False, building)
    if plan.landlock >= landlock.ABI_WITH_SCOPES:
        return seccomp.for_this_machine(True, building)
    return seccomp.for_this_machine(True, building, os.getpid())


def _attend(engine: int, status: int) -> NoReturn:
    while True:
        try:
            pid, result = os.wait()
        except ChildProcessError:
            os._exit(0)
        if pid == engine:
            tell(status, f"ended {os.waitstatus_to_exitcode(result)}")


def _be_ready_to_end_all(abi: int) -> None:
    """Let SIGTERM, or the server's death, end the engine and all its descendants at one stroke.

    ``kill(-1)`` signals every process that we may signal. So it is used only where the kernel
    refuses us the server, our parent: then only processes of this box are left to be hit, for
    they alone are in our Landlock domain, or have our user id.
    """
    landlock.keep_signals_in(abi)
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        signal.signal(signal.SIGTERM, _end_all)
        landlock.prctl("die with parent", landlock.PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_all(*_: object) -> NoReturn:
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    os._exit(0)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
