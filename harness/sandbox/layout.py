"""Turns what an engine may see into layers: mounts for namespaces, rules for Landlock.

Nothing here changes the machine; it is only asked what lies in a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from harness.sandbox import landlock
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
)
from harness.sandbox.programs import SEARCH_PATH, is_in_one, is_within
from harness.sandbox.view import DEVICES, HOME, View

_LINKS = {
    "/dev/shm": HOME,
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}
# What a box's own /proc shows of the whole machine's: keys, names of files, and counters that an
# engine can set to what it likes, for the next one to read. (The rest: docs/threat-model.md.)
_MACHINE_WIDE = (
    *("/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/vmstat"),
    *("/proc/cmdline", "/proc/swaps"),
)
# The only process of a box that is not the engine's. Its command line names paths of the harness.
_LAUNCHER = "/proc/1"
# Without a /proc of its own an engine sees itself and the machine, but no other process; and not
# the machine's mounts and network, which are there for each process and each of its threads.
_MACHINE = ("cpuinfo", "meminfo", "stat", "loadavg")
_ITSELF = (
    *("auxv", "cmdline", "comm", "environ", "exe", "fd", "fdinfo", "limits", "maps", "oom_score"),
    *("oom_score_adj", "personality", "smaps", "smaps_rollup", "stat", "statm", "status", "wchan"),
)


def environment(level: int, writable: tuple[str, ...] = ()) -> dict[str, str]:
    """Return all the environment an engine has. One thread each: cores are shared with others.

    ``writable``: folders outside; the last of them is for temporary files, and level 1's home.
    """
    home = HOME if level >= 2 else "/nonexistent"
    found = {
        "PATH": SEARCH_PATH,
        "HOME": writable[-1] if writable and level == 1 else home,
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return found | ({"TMPDIR": writable[-1]} if writable else {})


def scratch_places(view: View) -> tuple[str, ...]:
    """Return the folders in memory that may be written to."""
    return (HOME, *view.places_to_write)


def mounts(view: View) -> tuple[Mount, ...]:
    """Return the file tree of a box, outer places before those within."""
    tree = [Mount(BIND, p, os.path.realpath(p)) for p in view.shown if p not in view.copied]
    tree += [_copy(path, view.hidden) for path in view.copied]
    tree += [Mount(WRITABLE, path, os.path.realpath(path)) for path in view.writable]
    tree += [Mount(LINK, place, target) for place, target in (*view.links, *_LINKS.items())]
    masked = [path for path in view.hidden if not is_in_one(path, view.copied)]
    tree += [Mount(MASK_FOLDER if os.path.isdir(p) else MASK_FILE, p) for p in masked]
    tree += [Mount(DEVICE, path, path) for path in DEVICES if os.path.exists(path)]
    places = [place for place in scratch_places(view) if place not in view.copied]
    tree += [Mount(SCRATCH, place) for place in places]
    tree += [Mount(PROC, "/proc"), Mount(MASK_FOLDER, _LAUNCHER)]
    tree += [Mount(MASK_FILE, path) for path in _MACHINE_WIDE if os.path.exists(path)]
    found = (mount._replace(place=_follow_links(mount.place)) for mount in tree)
    return tuple(sorted(found, key=lambda mount: mount.place))


def _follow_links(place: str) -> str:
    """Return where a place lies for an engine: nothing can be mounted through a link.

    A worker of a cluster keeps case files in ``/dev/shm``, a link to the engine's own memory.
    """
    for link, target in _LINKS.items():
        if place.startswith(f"{link}/"):
            return target + place[len(link) :]
    return place


def _copy(path: str, hidden: tuple[str, ...]) -> Mount:
    source = os.path.realpath(path)
    left_out = (source + p[len(path) :] for p in hidden if is_within(p, path))
    return Mount(COPY, path, source, tuple(left_out))


def reach(view: View, level: int) -> tuple[landlock.Rule, ...]:
    """Return what Landlock is to allow.

    Level 2 has a file tree with nothing else in it: there it is a second lock, that of reading and
    writing. At level 1 it is the only one.
    """
    devices = [(path, landlock.DEVICE) for path in DEVICES]
    if level >= 2:
        writable = [(place, landlock.WRITE) for place in _changeable(view)]
        return (("/", landlock.READ), *writable, *devices)
    shown = [rule for path in view.shown for rule in _around(path, view.hidden)]
    own = [(f"/proc/{name}", landlock.READ) for name in _MACHINE]
    own += [(f"/proc/self/{name}", landlock.READ) for name in _ITSELF]
    own += [("/proc/self", landlock.READ_DIR)]
    results = [(path, landlock.WRITE) for path in view.writable]
    return (*shown, *own, *results, *devices)


def _changeable(view: View) -> tuple[str, ...]:
    return (*scratch_places(view), *view.writable, "/proc")


def _around(path: str, hidden: tuple[str, ...]) -> Iterator[landlock.Rule]:
    """Yield rules for ``path`` without what is hidden: Landlock can allow, but not take away.

    A folder with something hidden may be listed, and what else is in it be read. A link gets no
    rule: that would be one for what it leads to.
    """
    inner = [place for place in hidden if is_within(place, path)]
    if not inner:
        yield path, landlock.READ
    elif path not in inner:
        yield path, landlock.READ_DIR
        for entry in os.scandir(path):
            if not entry.is_symlink():
                yield from _around(entry.path, hidden)
