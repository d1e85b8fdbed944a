"""The command line of bubblewrap (level 3), built here and nowhere else.

Debian's ``bubblewrap`` makes the namespaces and the file tree. What its defaults leave open is
shut by naming everything: its ``/dev`` and ``/dev/shm`` are not used at all, every writable folder
has a size, ``/`` ends up read-only. The options go through a pipe, and it is started with an empty
environment, because the engine can read both of its first process, ``/proc/1``.

What an engine may change is a folder in memory. Bubblewrap cannot copy: it shows the original at
another place, and the shell that connects the engine copies it with ``cp`` before.

Bubblewrap's own two processes live as long as the engine and would hold its pipes open, so that an
engine that closes them could not be told from one that hangs. They close every descriptor but the
first three when the engine has been started: so the engine's input and output come as two others,
and a shell puts them in place, the last thing before the engine.

As root there is no user namespace: root mapped to any user is still root for the files of
``/proc/sys``. ``setpriv`` becomes a real user without rights instead, before that shell; the file
tree has been made by then, from folders that only root may enter, too.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from harness.sandbox import seccomp
from harness.sandbox.plan import (
    BIND,
    COPY,
    DEVICE,
    LINK,
    MASK_FILE,
    MASK_FOLDER,
    PROC,
    SCRATCH,
    WRITABLE,
    Mount,
    Plan,
    Room,
)

SETPRIV = "/usr/bin/setpriv"
_STDIN, _STDOUT = 8, 9  # as they come; a shell knows numbers of one digit only
_CONNECT = f'exec "$@" <&{_STDIN} >&{_STDOUT} {_STDIN}<&- {_STDOUT}>&-'
# What cannot be copied is left out: devices (what is hidden), files that the engine may not read.
_COPY = 'cp -RPp "$1/." "$2/" 2>/dev/null; shift 2; '
_GIVEN = "/.given"  # with a number: the original of a copy
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
    tree: Iterable[Mount], room: Room, folder: str, environment: Mapping[str, str]
) -> bytes:
    """Return the options that make the box, each ended by a NUL as ``--args`` wants them."""
    tree = tuple(tree)
    copies = [mount for mount in tree if mount.kind == COPY]
    words = [
        *_ISOLATION,
        *(_AS_ROOT if room.owner else ("--unshare-user",)),
        *chain.from_iterable(_parent_and_mount(mount, room) for mount in tree),
        *chain.from_iterable(_given(*numbered) for numbered in enumerate(copies)),
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
    """Return bubblewrap's command for ``words``, those of :func:`connected`."""
    return [
        program,
        *("--args", str(pipes.options)),
        *("--json-status-fd", str(pipes.status)),
        *("--block-fd", str(pipes.block)),
        *("--seccomp", str(pipes.filter)),
        "--",
        *words,
    ]


def connected(tree: Iterable[Mount], identity: int, words: Iterable[str]) -> tuple[str, ...]:
    """Return the command that executes ``words`` in the box, on their streams, with their copies.

    ``identity``: the user to become for good before; 0: none.
    """
    places = [mount.place for mount in tree if mount.kind == COPY]
    given = chain.from_iterable((f"{_GIVEN}{n}", place) for n, place in enumerate(places))
    script = _COPY * len(places) + _CONNECT
    become = _as_user(identity) if identity else ()
    return (*become, "/bin/sh", "-c", script, "sh", *given, *words)


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


def _as_user(identity: int) -> tuple[str, ...]:
    """Return the words that become the user ``identity`` for good and execute what follows."""
    become = (f"--reuid={identity}", f"--regid={identity}", "--clear-groups", "--inh-caps=-all")
    return (SETPRIV, *become, "--")


def _given(number: int, mount: Mount) -> Iterator[str]:
    """Yield the options that show the original of a copy, without what is left out."""
    place = f"{_GIVEN}{number}"
    yield from ("--ro-bind", mount.source, place)
    for path in mount.left_out:
        kind = MASK_FOLDER if os.path.isdir(path) else MASK_FILE
        yield from _mount(Mount(kind, place + path[len(mount.source) :]), Room(0, 0))


def _parent_and_mount(mount: Mount, room: Room) -> tuple[str, ...]:
    """Name the folder above as well: by itself, bubblewrap makes it for its own user alone."""
    return ("--dir", os.path.dirname(mount.place), *_mount(mount, room))


def _mount(mount: Mount, room: Room) -> tuple[str, ...]:
    place = mount.place
    limit = ("--size", str(room.size)) if room.size else ()
    larger = ("--size", str(room.size + room.own[0])) if room.size else ()
    return {
        BIND: ("--ro-bind", mount.source, place),
        WRITABLE: ("--bind", mount.source, place),
        DEVICE: ("--dev-bind", mount.source, place),
        LINK: ("--symlink", mount.source, place),
        SCRATCH: ("--perms", "1777", *limit, "--tmpfs", place),
        COPY: ("--perms", "1777", *larger, "--tmpfs", place),
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
