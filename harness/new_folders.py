"""Folders that a command makes for its results, and that a refused command does not leave behind.

Only what is still empty is removed: another process may have begun to use it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import UsageError

_made: list[Path] = []  # outer ones before those within


def make(folder: str | Path, mode: int = 0o777, what: str = "make the folder") -> None:
    """Make a folder and those above it, where they are missing.

    ``what``: what cannot be done if that fails.

    Raises:
        UsageError: it does.
    """
    try:
        _make(Path(folder).absolute(), mode)
    except OSError as error:
        raise UsageError(f"cannot {what} {folder}: {error.strerror}") from None


def _make(path: Path, mode: int) -> None:
    if path.is_dir():
        return
    if not path.parent.exists():
        _make(path.parent, mode)
    try:
        path.mkdir(mode)
    except FileExistsError:  # another process made it meanwhile, or it is a file
        if not path.is_dir():
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
                _made.pop().rmdir()
