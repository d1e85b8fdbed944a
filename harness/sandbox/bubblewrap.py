"""The command line of bubblewrap (level 3), built here and nowhere else.

Debian's ``bubblewrap`` makes the namespaces and the file tree. What its defaults leave open is
shut by naming everything: its ``/dev`` and ``/dev/shm`` are not used at all, every writable folder
has a size, ``/`` ends up read-only. The options go through a pipe, and it is started with an empty
environment, because the engine can read both of its first process, ``/proc/1``.

Bubblewrap's own two processes live as long as the engine and would hold its pipes open, so that an
engine that closes them could not be told from one that hangs. They close every descriptor but the
first three when the engine has been started: so the engine's input and output come as two others,
and a shell puts them in place, the last thing before the engine.

As root there is no user namespace: root mapped to any user is still root for the files of
``/proc/sys``. ``setpriv`` becomes a real user without rights instead, the last thing before the
engine; the file tree has been made by then, from folders that only root may enter, too.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from harness.sandbox import seccomp
from harness.sandbox.plan import (
    BIND,
    DEVICE,
    LINK,
    MASK_FILE,
    MASK_FOLDER,
    PROC,
    SCRATCH,
    WRITABLE,
    Mount,
    Plan,
)

SETPRIV = "/usr/bin/setpriv"
_STDIN, _STDOUT = 8, 9  # as they come; a shell knows numbers of one digit only
_CONNECT = f'exec "$@" <&{_STDIN} >&{_STDOUT} {_STDIN}<&- {_STDOUT}>&-'
_HIGH = 10  # the least of the numbers that are in nobody's way
_ISOLATION = (
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
)
_AS_ROOT = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")


def options(
    tree: Iterable[Mount], size: int, folder: str, environment: Mapping[str, str], root: bool
) -> bytes:
    """Return the options that make the box, each ended by a NUL as ``--args`` wants them.

    ``size``: bytes that each SCRATCH folder may hold, 0 for no limit.
    """
    words = [
        *_ISOLATION,
        *(_AS_ROOT if root else ("--unshare-user",)),
        *chain.from_iterable(_parent_and_mount(mount, size) for mount in tree),
        *("--remount-ro", "/", "--chdir", folder),
        *chain.from_iterable(("--setenv", *pair) for pair in environment.items()),
    ]
    return b"".join(word.encode() + b"\0" for word in words)


class Pipes(NamedTuple):
    """The descriptors by which bubblewrap and we talk."""

    options: int  # to read :func:`options` from
    status: int  # where it says whether it could start, and how the engine ended
    block: int  # it starts the engine when there is a byte to read
    filter: int  # the seccomp program


def command(program: str, words: Iterable[str], pipes: Pipes) -> list[str]:
    """Return bubblewrap's command for the engine's command ``words``."""
    return [
        program,
        *("--args", str(pipes.options)),
        *("--json-status-fd", str(pipes.status)),
        *("--block-fd", str(pipes.block)),
        *("--seccomp", str(pipes.filter)),
        "--",
        *("/bin/sh", "-c", _CONNECT, "sh"),
        *words,
    ]


def start(plan: Plan, streams: tuple[int, int, int], status: int, block: int) -> int:
    """Start bubblewrap in a session of its own; return its process id.

    Its environment is empty: the engine could read it.
    """
    program = seccomp.for_this_machine(False)
    sources = (_pipe_with(plan.options), status, block, _pipe_with(program))
    pipes = Pipes(*(fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH) for number in sources))
    places = (_STDIN, _STDOUT, 2)
    ours = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _HIGH) for number in streams]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    connect = [(os.POSIX_SPAWN_DUP2, *pair) for pair in zip(ours, places, strict=True)]
    keep = [(os.POSIX_SPAWN_DUP2, number, number) for number in pipes]
    try:
        return os.posix_spawn(
            plan.bubblewrap,
            command(plan.bubblewrap, plan.arguments, pipes),
            {},
            file_actions=[*nothing, *connect, *keep],
            setsid=True,
            setsigdef=[signal.SIGPIPE],  # the only one that the server ignores
        )
    finally:
        for number in (sources[0], sources[3], *pipes, *ours):
            os.close(number)


def as_user(identity: int, words: Iterable[str]) -> tuple[str, ...]:
    """Return the command that becomes the user ``identity`` for good and executes ``words``."""
    become = (f"--reuid={identity}", f"--regid={identity}", "--clear-groups", "--inh-caps=-all")
    return (SETPRIV, *become, "--", *words)


def _parent_and_mount(mount: Mount, size: int) -> tuple[str, ...]:
    """Name the folder above as well: by itself, bubblewrap makes it for its own user alone."""
    return ("--dir", os.path.dirname(mount.place), *_mount(mount, size))


def _mount(mount: Mount, size: int) -> tuple[str, ...]:
    place = mount.place
    limit = ("--size", str(size)) if size else ()
    return {
        BIND: ("--ro-bind", mount.source, place),
        WRITABLE: ("--bind", mount.source, place),
        DEVICE: ("--dev-bind", mount.source, place),
        LINK: ("--symlink", mount.source, place),
        SCRATCH: ("--perms", "1777", *limit, "--tmpfs", place),
        PROC: ("--proc", place, "--ro-bind", "/proc/sys", "/proc/sys"),
        MASK_FILE: ("--ro-bind", "/dev/null", place),
        MASK_FOLDER: ("--perms", "0000", "--tmpfs", place, "--remount-ro", place),
    }[mount.kind]


def _pipe_with(data: bytes) -> int:
    """Return the end to read ``data`` from, which is less than a pipe holds."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading
