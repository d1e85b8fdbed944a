"""Folders and files that other users may read, whatever the umask of this process says.

As root, engines run as users without rights. A root whose umask is 077 would else make folders for
them that they cannot enter.
"""

from __future__ import annotations

from pathlib import Path

FOLDER, FILE, _PROGRAM = 0o755, 0o644, 0o755  # permissions


def file_mode(*, is_program: bool) -> int:
    """Return the permissions of a file that all may read; ``is_program``: and execute."""
    return _PROGRAM if is_program else FILE


def make_new(folder: Path) -> None:
    """Make a folder; raises OSError, FileExistsError if it is there."""
    folder.mkdir()
    folder.chmod(FOLDER)


def make(folder: Path) -> None:
    """Make a folder, and those above it that are not there.

    Raises:
        OSError: that cannot be done.
    """
    if folder.is_dir():
        return
    make(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(FOLDER)


def write(path: Path, data: bytes) -> None:
    """Write a file, and make its folder; raises as :func:`make`."""
    make(path.parent)
    path.write_bytes(data)
    path.chmod(FILE)


def open_all(folder: Path) -> None:
    """Let other users read a folder and all that is in it; raises OSError."""
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        own = FOLDER if path.is_dir() else file_mode(is_program=bool(mode & 0o100))
        path.chmod(mode | own)
