"""Writing reports, which may be large: never the whole of one in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import islice

from harness.errors import UsageError
from harness.visible import visible

_BATCH = 1_000  # parts written at once; a part is a line or a few


def write(path: str, parts: Iterable[str], clean: Callable[[str], str] = visible) -> None:
    """Write a text given in parts, as UTF-8.

    ``clean`` makes what comes from engines fit to be written; it is called with whole batches.

    Raises :class:`UsageError` when the file cannot be written. (It is opened by hand because a
    run may write hundreds, and pathlib's way takes twice the time.)
    """
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        with os.fdopen(opened, "wb") as file:
            rest = iter(parts)
            while batch := list(islice(rest, _BATCH)):
                file.write(clean("".join(batch)).encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def try_to_write(path: str) -> None:
    """Find out before a long run, not after it, that a report cannot be written.

    Raises :class:`UsageError`.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
