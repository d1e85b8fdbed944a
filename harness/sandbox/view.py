"""What an engine may see: its own program, an interpreter, the system's libraries, nothing else.

The view is the same at every level; only who enforces it differs. It is worked out from the
command alone, the way a teacher would put it: the folder of the submission, the interpreter it
names, ``/usr``. What lies in there and must not be seen (case files, the harness, the oracle) is
*hidden*.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError

# What a program needs of a Debian, an Alpine or a Fedora. The first six may be links into /usr.
SYSTEM = (
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/nix/store",
    "/gnu/store",
)
SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
# Java's /usr/lib/jvm/…/conf leads into /etc/java-17-openjdk or the like.
SETTINGS_PATTERNS = ("java-*", "python3*", "mono", "localtime", "timezone")
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
GAMES = "/usr/games:/usr/local/games"  # Debian keeps gnugo there, where root's PATH does not look
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:" + GAMES


_SHARED = (
    *("/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/run", "/mnt", "/media", "/srv"),
    *("/proc", "/sys", "/dev", "/dev/shm"),
)


class View(NamedTuple):
    """What is shown, at the same places as outside. Only what is ``writable`` can be changed."""

    shown: tuple[str, ...]  # absolute paths, as they are spelled
    hidden: tuple[str, ...]  # absolute paths beneath shown ones, without links
    links: tuple[tuple[str, str], ...]  # (place, what it says)
    folder: str  # the working directory
    program: str  # absolute path
    writable: tuple[str, ...] = ()  # folders in which a build step leaves its results


def own_folders() -> tuple[str, ...]:
    """Return where the harness and the oracle lie: no engine may look up the answers there."""
    room = Path(__file__).resolve().parents[2]
    return tuple(str(room / name) for name in ("harness", "oracle", "cases"))


def of_program(
    words: list[str], folder: str, also: Iterable[str] = (), hidden: Iterable[str] = ()
) -> View:
    """Return what the engine started by ``words`` in ``folder`` is shown.

    Shown are the program with the interpreter in its first line, and every program, file or folder
    that a word names; of a file the whole folder. ``also``: more paths to show. ``hidden``: what
    is never shown, wherever it lies, the case files for instance.

    Raises:
        UsageError: there is no such program.
    """
    program = find(words[0], folder)
    named = [path for word in words[1:] for path in _named(word, folder)]
    shown = [*_program_paths(program, folder), *named, *map(os.path.abspath, also)]
    system, links = _system()
    # What a link of the system leads to, /bin to /usr/bin, is shown already.
    fresh = [path for path in shown if not any(is_within(path, link) for link, _ in links)]
    lasting = _outermost([*system, *fresh])
    return View(lasting, _within(hidden, lasting), links, os.path.abspath(folder), program)


def find(name: str, folder: str) -> str:
    """Return the absolute path of a program: from ``folder`` if it has a slash, else from PATH."""
    if "/" in name:
        path: str | None = os.path.abspath(os.path.join(folder, name))
    else:
        path = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{GAMES}")
    if path is None or not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise UsageError(f"there is no program {name!r} that could be executed")
    return _without_shim(path)


def _without_shim(path: str) -> str:
    """Pyenv's programs are scripts that look for the real one all over the home directory."""
    if Path(path).parent.name != "shims":
        return path
    real = shutil.which(Path(path).name, path=f"{Path(sys.executable).parent}:{SEARCH_PATH}")
    return real or path


def _named(word: str, folder: str) -> list[str]:
    """Return the paths that a word of the command names: ``x.py``, ``-Dx=y.jar``, ``a:b.jar``."""
    parts = word.rpartition("=")[2].split(":")
    paths = [os.path.abspath(os.path.join(folder, part)) for part in parts if part]
    programs = [path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)]
    found = [_submission(path) for path in paths if os.path.exists(path)]
    found += [needed for path in programs for needed in _program_paths(path, folder)]
    return [path for path in found if not (os.path.isdir(path) and _is_too_much(path))]


def _submission(path: str) -> str:
    """Return the folder of a file, unless that would show far more than a submission."""
    if os.path.isdir(path):
        return path
    parent = os.path.dirname(path)
    return path if _is_too_much(parent) else parent


def _is_too_much(folder: str) -> bool:
    """Whether somebody's home or what is above it, or a folder of many people's things."""
    return is_within(os.path.expanduser("~"), folder) or folder in _SHARED


def _program_paths(program: str, folder: str) -> list[str]:
    """Return what a program needs: where it is installed, and its interpreter."""
    paths: list[str] = []
    for step in _steps(program):
        paths.append(_installation(step))
        paths += [_installation(home) for home in _base_python(step)]
    return paths + _interpreter_paths(program, folder)


def _steps(path: str) -> list[str]:
    """Follow a path's links one by one: a virtual environment's python is one into another's."""
    steps = [path]
    while os.path.islink(steps[-1]) and len(steps) < 40:
        parent = os.path.dirname(steps[-1])
        steps.append(os.path.abspath(os.path.join(parent, os.readlink(steps[-1]))))
    return steps


def _installation(program: str) -> str:
    """Return the folder above ``bin`` for an installed program, else the program's folder."""
    parent = os.path.dirname(program)
    if os.path.basename(parent) == "bin" and not _is_too_much(os.path.dirname(parent)):
        return os.path.dirname(parent)
    return _submission(program)


def _base_python(program: str) -> list[str]:
    """Return the program that a virtual environment was made from, if it says one."""
    settings = Path(program).parent.parent / "pyvenv.cfg"
    if not settings.is_file():
        return []
    lines = (line.partition("=") for line in settings.read_text().splitlines())
    return [f"{value.strip()}/python3" for key, _, value in lines if key.strip() == "home"]


def _interpreter_paths(program: str, folder: str) -> list[str]:
    """Return the paths of the interpreter in the first line of a script."""
    with open(program, "rb") as file:
        first = file.readline(256)
    if not first.startswith(b"#!"):
        return []
    words = shlex.split(os.fsdecode(first[2:]))
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return _program_paths(find(words[0], folder), folder) if words else []


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


def is_within(path: str, outer: str) -> bool:
    """Whether ``path`` is ``outer`` or lies beneath it, by their spelling."""
    return path == outer or path.startswith(outer.rstrip("/") + "/")


def _within(hidden: Iterable[str], shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return where hidden files are to be seen in shown folders, by whatever name."""
    wanted = [path for path in map(os.path.abspath, hidden) if os.path.exists(path)]
    # What lies within a hidden folder is gone with it: there is nothing left to put a mask on.
    real = set(_outermost(os.path.realpath(path) for path in wanted))
    found = {
        outer + path[len(os.path.realpath(outer)) :]
        for path in real
        for outer in shown
        if is_within(path, os.path.realpath(outer))
    }
    return tuple(sorted(found | _other_names(real, shown)))


def _other_names(files: set[str], shown: tuple[str, ...]) -> set[str]:
    """Return hard links, in what is shown outside /usr, to files that have several names."""
    several = {
        (path.stat().st_dev, path.stat().st_ino)
        for path in map(Path, files)
        if path.is_file() and path.stat().st_nlink > 1
    }
    folders = [path for path in shown if several and not path.startswith(("/usr", "/etc", "/nix"))]
    return {
        str(path)
        for folder in folders
        for path in Path(folder).rglob("*")
        if not path.is_symlink()
        and path.is_file()
        and (path.stat().st_dev, path.stat().st_ino) in several
    }
