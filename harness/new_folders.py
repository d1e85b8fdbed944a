"""Folders that a command makes for its results, and that a refused command does not leave behind.

Only what is still empty is removed: another process may have begun to use it meanwhile.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from harness.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_made: list[str] = []  # outer ones before those within


def make(folder: str | os.PathLike[str], mode: int = 0o777, what: str = "make the folder") -> None:
    """Make a folder and those above it, where they are missing.

    ``what``: what cannot be done if that fails.

    Raises:
        UsageError: it does.
    """
    try:
        _make(os.path.abspath(folder), mode)
    except OSError as error:
        raise UsageError(f"cannot {what} {folder}: {error.strerror}") from None


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
