"""A file's bytes, and its lines with their numbers, whatever program wrote it."""

from __future__ import annotations

from oracle.errors import FormatError

Lines = list[tuple[int, str]]

_SHOWN = 40  # characters of a faulty text that an error quotes


def read_bytes(path: str, folder: str = "") -> bytes:
    """Return a file's content (``-`` is standard input); raises :class:`FormatError`.

    ``folder``: to which a path is relative; "": the working directory.
    """
    import sys
    from pathlib import Path

    try:
        return sys.stdin.buffer.read() if path == "-" else Path(folder, path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FormatError(f"cannot read the file: {reason}", path) from None


def decode(data: bytes) -> str:
    """Return a file's text: UTF-8, with or without byte-order mark, or else Latin-1."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def lines_of(text: str) -> Lines:
    """Return the lines with their numbers from 1; they may end in LF, CRLF or CR."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return list(enumerate(unified.split("\n"), start=1))


def block(text: str, file: str | None, what: str) -> Lines:
    """Return the lines of a drawing: blank lines around it are dropped.

    Raises :class:`FormatError` when nothing is left, or when a blank line divides the drawing.
    """
    lines = lines_of(text)
    filled = [index for index, (_, line) in enumerate(lines) if line.strip()]
    if not filled:
        raise FormatError(f"the file is empty; expected {what}", file)
    lines = lines[filled[0] : filled[-1] + 1]
    for number, line in lines:
        if not line.strip():
            raise FormatError(
                f"found an empty line inside the board; expected {what}", file, number
            )
    return lines


def quote(found: str) -> str:
    """Return found text as errors quote it: printable, and not longer than a line."""
    return repr(found if len(found) <= _SHOWN else found[:_SHOWN] + "…")
