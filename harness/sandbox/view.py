"""The files that an engine may see, as mounts and rules for Landlock; what programs need of them.

Only programs of the system and of the teacher are looked into: their first line, the links to
them, ``pyvenv.cfg`` beside them. What a submission holds decides nothing: a box shows the same
whatever a student has put there.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.engine.launch import GAME_FOLDERS, search_path
from harness.sandbox import landlock, untrusted_folders
from harness.sandbox.plan import Mount, MountKind

SEARCH_PATH = ":".join(("/usr/local/bin", "/usr/bin", "/bin", *GAME_FOLDERS))
_SHARED = (
    *("/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/run", "/mnt", "/media", "/srv"),
    *("/proc", "/sys", "/dev", "/dev/shm"),
)
_MOST_LINKS = 40


def find(name: str, folder: str, submission: str = "") -> str:
    """Return the absolute path of a program: from ``folder`` if it has a slash, else from PATH.

    Of one in ``submission`` nothing is looked at: that it is not there shows when it is started.

    Raises:
        UsageError: there is no such program.
    """
    if "/" in name:
        path: str | None = os.path.abspath(os.path.join(folder, name))
    else:
        path = shutil.which(name, path=search_path(name))
    if path and submission and is_within(path, submission):
        return path
    if path is None or not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise UsageError(f"there is no program {name!r} that could be executed")
    if Path(path).parent.name != "shims":
        return path
    # Pyenv's programs are scripts that look for the real one all over the home directory.
    real = shutil.which(Path(path).name, path=f"{Path(sys.executable).parent}:{SEARCH_PATH}")
    return real or path


def is_given(path: str, submission: str = "") -> bool:
    """Whether a program is the system's or the teacher's, so that it may be looked into.

    With an assignment, that is all outside the ``submission``. Without (""), whatever a path names
    may be somebody's submission: only what lies in a folder of PATH, or beside our own Python, is
    given.
    """
    if submission:
        return not is_within(path, submission)
    own = (sys.executable, os.path.realpath(sys.executable))
    found = f"{os.environ.get('PATH', os.defpath)}:{SEARCH_PATH}".split(":")
    return os.path.dirname(path) in (*map(os.path.dirname, own), *found)


def paths_of(program: str, submission: str = "") -> list[str]:
    """Return what a given program needs: where it is installed, and its interpreter."""
    if submission and is_within(program, submission):
        return []
    paths: list[str] = []
    # Follow a path's links one by one: a virtual environment's python is one into another's.
    steps = [program]
    while os.path.islink(steps[-1]) and len(steps) < _MOST_LINKS:
        parent = os.path.dirname(steps[-1])
        steps.append(os.path.abspath(os.path.join(parent, os.readlink(steps[-1]))))
    for step in steps:
        paths.append(installation(step))
        settings = Path(step).parent.parent / "pyvenv.cfg"
        if settings.is_file():  # it says from which program a virtual environment was made
            text = settings.read_text(encoding="utf-8", errors="replace")
            lines = (line.partition("=") for line in text.splitlines())
            homes = [value.strip() for key, _, value in lines if key.strip() == "home"]
            paths += [installation(f"{home}/python3") for home in homes]
    return paths + _interpreter_paths(program, submission)


def installation(program: str) -> str:
    """Return the folder above ``bin`` for an installed program, else the program's folder.

    This is told by the spelling of the path alone.
    """
    parent = os.path.dirname(program)
    if os.path.basename(parent) == "bin" and not is_too_much(os.path.dirname(parent)):
        return os.path.dirname(parent)
    return program if is_too_much(parent) else parent


def is_too_much(folder: str) -> bool:
    """Whether somebody's home or what is above it, or a folder of many people's things."""
    return is_within(os.path.expanduser("~"), folder) or folder in _SHARED


def is_within(path: str, outer: str) -> bool:
    """Whether ``path`` is ``outer`` or lies beneath it, by their spelling."""
    return path == outer or path.startswith(outer.rstrip("/") + "/")


def is_in_one(path: str, folders: Iterable[str]) -> bool:
    """Whether ``path`` lies in one of the folders, or is one of them."""
    return any(is_within(path, folder) for folder in folders)


def _interpreter_paths(program: str, submission: str) -> list[str]:
    """Return the paths of the interpreter in the first line of a script, if it is there."""
    with open(program, "rb") as file:
        first = file.readline(256)
    if not first.startswith(b"#!"):
        return []
    words = os.fsdecode(first[2:]).split()  # as the kernel does: a quote means nothing to it
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    try:
        return paths_of(find(words[0], "/"), submission) if words else []
    except UsageError:
        return []


# What a program needs of a Debian, an Alpine or a Fedora. The first six may be links into /usr.
SYSTEM = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/usr", "/nix/store", "/gnu/store"),
)
SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
# Java's /usr/lib/jvm/…/conf leads into /etc/java-17-openjdk or the like.
SETTINGS_PATTERNS = ("java-*", "python3*", "mono", "localtime", "timezone")
HOME = "/tmp"  # in a box: all that may be written is in here, except for a few places
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")


class View(NamedTuple):
    """Paths shown, at the same places as outside. Only what is ``writable`` can be changed."""

    shown: tuple[str, ...]  # absolute paths, as they are spelled
    hidden: tuple[str, ...]  # absolute paths beneath shown ones, without links
    links: tuple[tuple[str, str], ...]  # (place, what it says)
    folder: str  # the working directory
    program: str  # absolute path
    writable: tuple[str, ...] = ()  # folders in which a build step leaves its results
    copied: tuple[str, ...] = ()  # folders that each engine gets a copy of, to change
    near: tuple[str, ...] = ()  # the shown paths that are named, perhaps relatively
    stage: str = ""  # the harness's own folder in which a submission's lies

    @property
    def places_to_write(self) -> tuple[str, ...]:
        """Paths to be written besides the home: copies, and its folder if that is empty."""
        there = self.folder in ("/", HOME) or is_in_one(
            self.folder, (*self.shown, *self.writable, *self.copied)
        )
        return self.copied if there else (*self.copied, self.folder)


def own_folders() -> tuple[str, ...]:
    """Return where the harness and the oracle lie: no engine may look up the answers there."""
    room = Path(__file__).resolve().parents[2]
    return tuple(str(room / name) for name in ("harness", "oracle", "cases"))


def of_program(
    words: Sequence[str],
    folder: str,
    also: Iterable[str] = (),
    hidden: Iterable[str] = (),
    submission: str = "",
) -> View:
    """Return what the engine started by ``words`` in ``folder`` is shown.

    Shown are the program, and every program, file or folder that a word names; of a file the whole
    folder. Of programs that are given (:func:`is_given`), what they need is shown, too.
    ``also``: more paths to show. ``hidden``: what is never shown, wherever it lies, the case files
    for instance. ``submission``: a folder that is shown and in which nothing is looked at; the
    folder above it is the harness's own.

    Of the submission, and of the folder where the engine starts, it has a copy to write into.

    Raises:
        UsageError: there is no such program.
    """
    program = find(words[0], folder, submission)
    near = [path for word in words[1:] for path in _find_named_paths(word, folder, submission)]
    near += map(os.path.abspath, also)
    if is_given(program, submission):
        own = paths_of(program, submission)
    else:
        own = [] if submission else [installation(program)]
    system, links = _system()
    # What a link of the system leads to, /bin to /usr/bin, is shown already.
    fresh = [path for path in (*own, *near) if not any(is_within(path, link) for link, _ in links)]
    copied = (submission,) if submission else ()
    lasting = _outermost([*system, *fresh, *copied])
    start = os.path.abspath(folder)
    masked = _within(_around(hidden, start, near), lasting, submission)
    # The folder of the start is copied, too, if it is shown and not the system's.
    if is_in_one(start, lasting) and not is_in_one(start, (*SYSTEM, *copied)):
        copied = (*copied, start)
    stage = os.path.dirname(submission)
    return View(lasting, masked, links, start, program, (), copied, tuple(near), stage)


def _find_named_paths(word: str, folder: str, submission: str) -> Iterator[str]:
    """Yield the paths that a word of the command names: ``x.py``, ``-Dx=y.jar``, ``a:b.jar``."""
    parts = word.rpartition("=")[2].split(":")
    for path in (os.path.abspath(os.path.join(folder, part)) for part in parts if part):
        if submission and is_within(path, submission):
            continue  # the folder is shown anyway
        if os.path.lexists(path):
            yield from _files_of(path)
        if is_given(path, submission) and os.path.isfile(path) and os.access(path, os.X_OK):
            yield from paths_of(path, submission)


def _files_of(path: str) -> list[str]:
    """Return a folder that a word names, or the folder of a file, unless that is too much.

    A link is not followed out of the folder in which it lies: a student may have made it.
    """
    parent = os.path.dirname(path)
    if os.path.isdir(path):
        inside = is_within(os.path.realpath(path), os.path.realpath(parent))
        return [path] if inside and not is_too_much(path) else []
    return [path if is_too_much(parent) else parent]


def _system() -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Return the system's paths, and those that are links into another."""
    there = [path for path in SYSTEM if os.path.exists(path)]
    links = tuple((path, os.readlink(path)) for path in there if os.path.islink(path))
    settings = [
        *SETTINGS,
        *(str(path) for p in SETTINGS_PATTERNS for path in Path("/etc").glob(p)),
    ]
    found = [path for path in settings if os.path.exists(path)]
    return [path for path in there if not os.path.islink(path)] + found, links


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths without those that lie within another, in order."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(is_within(path, outer) for outer in kept):
            kept.append(path)
    return tuple(kept)


def _around(hidden: Iterable[str], start: str, near: Iterable[str]) -> Iterator[str]:
    """Yield what is hidden so that an engine can be started in a hidden folder.

    Cases that ship lie within the harness where it is installed. If the start lies in a hidden
    folder, all of that is hidden except the way there and the paths in ``near`` beyond it.
    """
    seen = (start, *(path for path in near if path != start and is_within(path, start)))
    for path in map(os.path.abspath, hidden):
        yield from _all_but(seen, path) if is_within(start, path) else (path,)


def _all_but(paths: tuple[str, ...], folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if any(is_within(path, entry.path) for path in paths):
            yield from () if entry.path in paths[1:] else _all_but(paths, entry.path)
        else:
            yield entry.path


def _within(
    hidden: Iterable[str], shown_paths: tuple[str, ...], submission: str
) -> tuple[str, ...]:
    """Return where hidden files are to be seen in shown folders, by whatever name.

    A submission is not searched: it was unpacked, and has no file that is also something else.
    """
    wanted = [path for path in map(os.path.abspath, hidden) if os.path.exists(path)]
    # What lies within a hidden folder is gone with it: there is nothing left to put a mask on.
    real = set(_outermost(os.path.realpath(path) for path in wanted))
    found = {
        outer + path[len(os.path.realpath(outer)) :]
        for path in real
        for outer in shown_paths
        if is_within(path, os.path.realpath(outer))
    }
    several = {
        (path.stat().st_dev, path.stat().st_ino)
        for path in map(Path, real)
        if path.is_file() and path.stat().st_nlink > 1
    }
    # Search what is shown outside /usr for hard links to files that have several names.
    for folder in shown_paths if several else ():
        if folder != submission and not folder.startswith(("/usr", "/etc", "/nix")):
            found |= {
                f"{folder}/{entry.path}"
                for entry in untrusted_folders.walk(folder, mode=0)
                if stat.S_ISREG(entry.status.st_mode)
                and (entry.status.st_dev, entry.status.st_ino) in several
            }
    return tuple(sorted(found))


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
    real = os.path.realpath
    tree = [Mount(MountKind.BIND, p, real(p)) for p in view.shown if p not in view.copied]
    for path in view.copied:
        left_out = (real(path) + p[len(path) :] for p in view.hidden if is_within(p, path))
        tree.append(Mount(MountKind.COPY, path, real(path), tuple(left_out)))
    tree += [Mount(MountKind.WRITABLE, path, real(path)) for path in view.writable]
    tree += [Mount(MountKind.LINK, *link) for link in (*view.links, *_LINKS.items())]
    masked = [path for path in view.hidden if not is_in_one(path, view.copied)]
    for path in masked:
        kind = MountKind.MASK_FOLDER if os.path.isdir(path) else MountKind.MASK_FILE
        tree.append(Mount(kind, path))
    tree += [Mount(MountKind.DEVICE, path, path) for path in DEVICES if os.path.exists(path)]
    places = [place for place in scratch_places(view) if place not in view.copied]
    tree += [Mount(MountKind.SCRATCH, place) for place in places]
    tree += [Mount(MountKind.PROC, "/proc"), Mount(MountKind.MASK_FOLDER, _LAUNCHER)]
    tree += [Mount(MountKind.MASK_FILE, path) for path in _MACHINE_WIDE if os.path.exists(path)]
    # Nothing can be mounted through a link: a worker of a cluster keeps case files in /dev/shm,
    # which is one to the engine's own memory.
    for number, mount in enumerate(tree):
        for link, target in _LINKS.items():
            if mount.place.startswith(f"{link}/"):
                tree[number] = mount._replace(place=target + mount.place[len(link) :])
    return tuple(sorted(tree, key=lambda mount: mount.place))


def reach(view: View, level: int) -> tuple[landlock.Rule, ...]:
    """Return what Landlock is to allow.

    Level 2 has a file tree with nothing else in it: there it is a second lock, that of reading and
    writing. At level 1 it is the only one.
    """
    devices = [(path, landlock.DEVICE) for path in DEVICES]
    if level >= 2:
        places = (*scratch_places(view), *view.writable, "/proc")
        return (("/", landlock.READ), *((place, landlock.WRITE) for place in places), *devices)
    shown = [rule for path in view.shown for rule in _folders_around(path, view.hidden)]
    own = [(f"/proc/{name}", landlock.READ) for name in _MACHINE]
    own += [(f"/proc/self/{name}", landlock.READ) for name in _ITSELF]
    own += [("/proc/self", landlock.READ_DIR)]
    results = [(path, landlock.WRITE) for path in view.writable]
    return (*shown, *own, *results, *devices)


def _folders_around(path: str, hidden: tuple[str, ...]) -> Iterator[landlock.Rule]:
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
                yield from _folders_around(entry.path, hidden)
