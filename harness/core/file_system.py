"""Paths, folders for results, and open files; without :mod:`pathlib`, which takes long to load."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from harness.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def join_path(folder: str, path: str) -> str:
    """Return a path from a folder; ``..`` stays, for what is before it may be a link."""
    whole = os.path.join(folder, path)
    parts = [part for part in whole.split("/") if part not in ("", ".")]
    return ("/" if whole.startswith("/") else "") + "/".join(parts) or "."


def digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal; raises OSError."""
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache() -> str:
    """Return the folder in which the harness keeps what can be made again.

    As root, engines run as another user, who cannot look into root's home.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    if not named.startswith("/"):
        named = "/var/cache" if os.geteuid() == 0 else os.path.join(home(), ".cache")
    return os.path.join(named, "gtp-harness")


def user_data() -> str:
    """Return the folder in which the harness keeps data of the user that must not be lost."""
    named = os.environ.get("XDG_DATA_HOME", "")
    if not named.startswith("/"):
        named = os.path.join(home(), ".local", "share")
    return os.path.join(named, "gtp-harness")


def home() -> str:
    """Return the user's home folder; raises UsageError if there is none, as in some containers."""
    found = os.path.expanduser("~")
    if found == "~":
        raise UsageError(f"the user {os.geteuid()} has no home folder: set the variable HOME")
    return found


# Folders for results, which a refused command does not leave behind: outer ones before those
# within. Only what is still empty is removed: another process may have begun to use it meanwhile.
_made: list[str] = []


def make(
    folder: str | os.PathLike[str], mode: int = 0o777, action: str = "make the folder"
) -> None:
    """Make a folder and those above it, where they are missing.

    ``action``: what cannot be done if that fails, as the UsageError says.
    """
    try:
        _make(os.path.abspath(folder), mode)
    except OSError as error:
        raise UsageError(f"cannot {action} {folder}: {error.strerror}") from None


def _make(path: str, mode: int) -> None:
    if os.path.isdir(path):
        return
    if not os.path.exists(above := os.path.dirname(path)):
        _make(above, mode)
    try:
        os.mkdir(path, mode)
    except FileExistsError:  # another process made it meanwhile, or it is a file
        if not os.path.isdir(path):
            raise
    else:
        _made.append(path)


@contextmanager
def removed_if_empty() -> Iterator[None]:
    """Remove at the end those of the folders made inside in which there is nothing."""
    _made.clear()
    try:
        yield
    finally:
        while _made:
            with suppress(OSError):
                os.rmdir(_made.pop())


FOLDER, FILE, _PROGRAM = 0o755, 0o644, 0o755  # permissions


def file_mode(*, is_program: bool) -> int:
    """Return the permissions of a file that all may read; ``is_program``: and execute."""
    return _PROGRAM if is_program else FILE


def make_new(folder: Path) -> None:
    """Make a folder; raises OSError, FileExistsError if it is there."""
    folder.mkdir()
    folder.chmod(FOLDER)


def make_open(folder: Path) -> None:
    """Make a folder, and those above it that are not there; raises OSError."""
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


def write_whole(path: Path, text: str) -> None:
    """Write a file of UTF-8 in the place of another one, or of none: others find either whole.

    One writer at a time. A process that is killed leaves ``NAME.new`` beside it, which the next
    writer writes anew.

    Raises:
        OSError: that cannot be done; what was there is there still.
    """
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
