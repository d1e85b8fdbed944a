"""The users that grading meets: root, an ordinary user, one within a chroot.

``command(NAME, words, room)`` returns the words that run ``words`` so. The code must lie where
every user can read it: :func:`open_room` copies it there, with what it imports.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A user id that needs no entry anywhere, and of this process of the tests alone: at level 1 an
# ordinary user's engines share one count of processes with all others of that user, so that a
# bomb in one test would stop the engines of another.
SOMEBODY = 100_000 + os.getpid()
_IMPORTED = (
    "pexpect",
    "ptyprocess",
    "rich",
    "markdown_it",
    "mdurl",
    "pygments",
    "sgfmill",
    "numpy",
    "sqlalchemy",
    "typing_extensions",
)
_BECOME = ("setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups")
# All of the machine, but not at the root of its file tree: there the kernel refuses namespaces.
_CHROOT = 'mount --rbind / "$0" && exec chroot "$0" "$@"'

USERS = ("root", "ordinary user", "chroot")


def command(name: str, words: list[str], room: Path) -> list[str]:
    """Return the words that run ``words`` in the circumstances of that name."""
    if name == "root" or os.geteuid() != 0:
        return words
    if name == "ordinary user":
        return [*_BECOME, *words]
    there = room / "chroot"
    there.mkdir(exist_ok=True)
    return ["unshare", "--mount", "sh", "-c", _CHROOT, str(there), *_BECOME, *words]


def why_not(name: str) -> str:
    """Return why there are no circumstances of that name here, or ""."""
    with tempfile.TemporaryDirectory() as room:
        words = command(name, ["true"], Path(room))
        tried = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
        return f"{name}: {tried.stderr.strip()}" if tried.returncode else ""


def open_room(folder: Path) -> Path:
    """Copy the code and its imports to ``folder``, where every user may read them."""
    folder.chmod(0o755)
    # What Python has compiled is copied, or each start would compile anew; but not its halves.
    ignore = shutil.ignore_patterns("*.pyc.*", "tests", "golden", "include", "*.pyi")
    for name in ("harness", "oracle", "cases"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in _IMPORTED:
        found = importlib.util.find_spec(name)
        if found and found.origin and not found.submodule_search_locations:
            shutil.copy(found.origin, folder / "imports")
        elif found and found.origin:
            place = Path(found.origin).parent
            shutil.copytree(place, folder / "imports" / name, ignore=ignore)
            beside = place.parent / f"{name}.libs"
            if beside.is_dir():
                shutil.copytree(beside, folder / "imports" / beside.name)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    return folder


def environment(room: Path) -> dict[str, str]:
    """Return the environment in which the code of :func:`open_room` runs."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "PYTHONPATH": f"{room}:{room / 'imports'}",
        "HOME": str(room),
        "LANG": "C.UTF-8",
    }


def python() -> str:
    """Return a Python of this version that every user may execute."""
    version = f"/usr/bin/python3.{sys.version_info.minor}"
    return version if os.path.exists(version) else sys.executable
