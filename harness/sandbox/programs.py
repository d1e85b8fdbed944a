"""Programs of the system and of the teacher: where they lie, and what of the machine they need.

Only these are looked into: their first line, the links to them, ``pyvenv.cfg`` beside them. What a
submission holds decides nothing: a box shows the same whatever a student has put there.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from harness.engine.launch import GAME_FOLDERS, search_path
from harness.errors import UsageError

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
    return _without_shim(path)


def _without_shim(path: str) -> str:
    """Pyenv's programs are scripts that look for the real one all over the home directory."""
    if Path(path).parent.name != "shims":
        return path
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
        paths += [installation(home) for home in _base_python(step)]
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


def _base_python(program: str) -> list[str]:
    """Return the program that a virtual environment was made from, if it says one."""
    settings = Path(program).parent.parent / "pyvenv.cfg"
    if not settings.is_file():
        return []
    text = settings.read_text(encoding="utf-8", errors="replace")
    lines = (line.partition("=") for line in text.splitlines())
    return [f"{value.strip()}/python3" for key, _, value in lines if key.strip() == "home"]


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
