"""Files and folders that other users and processes may read: open, or found whole."""

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


def make_open(folder: Path) -> None:
    """Make a folder, and those above it that are not there.

    Raises:
        OSError: that cannot be done.
    """
    if folder.is_dir():
        return
    make_open(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(FOLDER)


def write_open(path: Path, data: bytes) -> None:
    """Write a file, and make its folder; raises as :func:`make_open`."""
    make_open(path.parent)
    path.write_bytes(data)
    path.chmod(FILE)


def open_all(folder: Path) -> None:
    """Let other users read a folder and all that is in it; raises OSError."""
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        own = FOLDER if path.is_dir() else file_mode(is_program=bool(mode & 0o100))
        path.chmod(mode | own)


# --- Files that others find whole: what was there before, or what is written now -----------------


def write_whole(path: Path, text: str) -> None:
    """Write a file of UTF-8 in the place of another one, or of none.

    One writer at a time. A process that is killed leaves ``NAME.new`` beside it, which the next
    writer writes anew.

    Raises:
        OSError: that cannot be done; what was there is there still.
    """
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
