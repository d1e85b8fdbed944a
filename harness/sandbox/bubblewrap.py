"""The command line of bubblewrap (level 3), built here and nowhere else.

Debian's ``bubblewrap`` makes the namespaces and the file tree. What its defaults leave open is
shut by naming everything: its ``/dev`` and ``/dev/shm`` are not used at all, every writable folder
has a size, ``/`` ends up read-only. The options go through a pipe, and it is started with an empty
environment, because the engine can read both of its first process, ``/proc/1``.

What an engine may change is a folder in memory. Bubblewrap cannot copy, so the box server does.
The last thing that bubblewrap makes is a file in that folder, of what comes through a pipe. When
it has read from the pipe, all folders are there. It waits for more while the server fills them.

Bubblewrap's own two processes live as long as the engine and would hold its pipes open, so that an
engine that closes them could not be told from one that hangs. When the engine has been started
they close every descriptor except the first three. So the engine's input and output come as two
others, and a shell puts them in place, the last thing before the engine.

As root there is no user namespace: root mapped to any user is still root for the files of
``/proc/sys``. ``setpriv`` becomes a real user without rights instead, before that shell; the file
tree has been made by then, from folders that only root may enter, too.
"""

from __future__ import annotations

import fcntl
import os
from _signal import SIGPIPE  # type: ignore[import-not-found]
from collections.abc import Iterable, Mapping
from itertools import chain

from harness.sandbox import seccomp
from harness.sandbox.plan import LaunchPlan, Mount, MountKind, WritableSpace

SETPRIV = "/usr/bin/setpriv"
_STDIN, _STDOUT = 8, 9  # as they come; a shell knows numbers of one digit only
_CONNECT = f'exec "$@" <&{_STDIN} >&{_STDOUT} {_STDIN}<&- {_STDOUT}>&-'
_MARK = ".gtp-harness-waits"  # the file, removed before the folder is filled
_NEW_ROOT = "/newroot"  # where bubblewrap has its tree while it makes it
_HIGH = 10  # the least of the numbers that are in nobody's way
_ISOLATION = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
)
_AS_ROOT = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")


def options(
    tree: Iterable[Mount], room: WritableSpace, folder: str, environment: Mapping[str, str]
) -> bytes:
    """Return the options that make the box, each ended by a NUL as ``--args`` wants them."""
    words = [
        *_ISOLATION,
        *(_AS_ROOT if room.owner else ("--unshare-user",)),
        # Name the folder above as well: by itself, bubblewrap makes it for its own user alone.
        *chain.from_iterable(
            ("--dir", os.path.dirname(mount.place), *_mount(mount, room)) for mount in tree
        ),
        *("--remount-ro", "/", "--chdir", folder),
        *chain.from_iterable(("--setenv", *pair) for pair in environment.items()),
    ]
    return b"".join(word.encode() + b"\0" for word in words)


def connect_command(identity: int, words: Iterable[str]) -> tuple[str, ...]:
    """Return the command that executes ``words`` in the box, on their streams.

    ``identity``: the user to become for good before; 0: none.
    """
    user = (f"--reuid={identity}", f"--regid={identity}", "--clear-groups", "--inh-caps=-all")
    become = (SETPRIV, *user, "--") if identity else ()
    return (*become, "/bin/sh", "-c", _CONNECT, "sh", *words)


def mark(plan: LaunchPlan, process: int = 0) -> str:
    """Return the path of the file: in the box, or with a ``process`` as :func:`place_of` does."""
    place = plan.mounts[0].place
    return f"{place_of(process, place) if process else place}/{_MARK}"


def place_of(process: int, place: str) -> str:
    """Return where a place of the box is to be found while bubblewrap, a process, makes it."""
    return f"/proc/{process}/root{_NEW_ROOT}{place}"


def start(
    plan: LaunchPlan, streams: tuple[int, int, int], status: int, block: int
) -> tuple[int, int]:
    """Start bubblewrap in a session of its own; return its process id, and a descriptor.

    That can be written to when folders are to be filled, and is to be closed then; -1: never.
    The environment is empty: the engine could read it.
    """
    filter_ = seccomp.for_this_machine(False, bool(plan.writable))
    own = [_pipe_with(plan.options), _pipe_with(filter_)]
    sources = {
        "--args": own[0],
        "--json-status-fd": status,  # it tells here how it starts, and how the engine ends
        "--block-fd": block,  # it starts the engine when there is a byte to read
        "--seccomp": own[1],
    }
    hold = -1
    if plan.mounts:
        # A pipe that takes no more: who can write to it knows that it was read.
        reading, hold = os.pipe()
        fcntl.fcntl(hold, fcntl.F_SETPIPE_SZ, 1)  # rounded up to a page
        os.write(hold, bytes(fcntl.fcntl(hold, fcntl.F_GETPIPE_SZ)))
        own.append(reading)
        sources["--file"] = reading  # it waits for the end of this one while folders are filled
    pipes = {
        option: fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        for option, number in sources.items()
    }
    words = [str(word) for pair in pipes.items() for word in pair]
    words += [mark(plan)] if plan.mounts else []
    places = (_STDIN, _STDOUT, 2)
    ours = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH) for number in streams]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    connect = [(os.POSIX_SPAWN_DUP2, *pair) for pair in zip(ours, places, strict=True)]
    keep = [(os.POSIX_SPAWN_DUP2, number, number) for number in pipes.values()]
    try:
        pid = os.posix_spawn(
            plan.bubblewrap,
            [plan.bubblewrap, *words, "--", *plan.arguments],
            {},
            file_actions=[*nothing, *connect, *keep],
            setsid=True,
            setsigdef=[SIGPIPE],  # the only one that the server ignores
        )
    finally:
        for number in (*own, *pipes.values(), *ours):
            os.close(number)
    return pid, hold


def _mount(mount: Mount, room: WritableSpace) -> tuple[str, ...]:
    place = mount.place
    limit = ("--size", str(room.size)) if room.size else ()
    larger = ("--size", str(room.size + room.own[0])) if room.size else ()
    return {
        MountKind.BIND: ("--ro-bind", mount.source, place),
        MountKind.WRITABLE: ("--bind", mount.source, place),
        MountKind.DEVICE: ("--dev-bind", mount.source, place),
        MountKind.LINK: ("--symlink", mount.source, place),
        MountKind.SCRATCH: ("--perms", "1777", *limit, "--tmpfs", place),
        MountKind.COPY: ("--perms", "1777", *larger, "--tmpfs", place),
        MountKind.PROC: ("--proc", place, "--ro-bind", "/proc/sys", "/proc/sys"),
        MountKind.MASK_FILE: ("--ro-bind", "/dev/null", place),
        MountKind.MASK_FOLDER: ("--perms", "0000", "--tmpfs", place, "--remount-ro", place),
    }[mount.kind]


def _pipe_with(data: bytes) -> int:
    """Return the end to read ``data`` from, which is less than a pipe holds."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading
