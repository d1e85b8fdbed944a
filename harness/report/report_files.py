"""Writing reports, which may be large: never the whole of one in memory.

A report is written beside its place and then renamed, so that a whole report exists or none: never
half of one, nor an empty file where the last one was.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import groupby, islice

from harness.core import file_system
from harness.core.errors import ReportError, UsageError
from harness.core.text import encode_visible, encode_without_surrogates

STDOUT = ("-", "/dev/stdout")  # what names standard output
_BATCH = 1_000  # parts written at once; a part is a line or a few
# What Windows has, or has not, of flags.
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
_NEW_FILE = _WRITE | getattr(os, "O_NOFOLLOW", 0)
_NEW = 0o666  # the mode of a new file, less the umask


class SharedText(str):
    """A text that many files have: it is made fit for a file once."""

    __slots__ = ()


def write(
    path: str,
    parts: Iterable[str],
    encode: Callable[[str], bytes] = encode_visible,
    *,
    lasting: bool = True,
) -> None:
    """Write a text given in parts, as UTF-8.

    ``path``: ``-`` is standard output. ``encode`` makes what comes from engines fit to be written;
    it is called with whole batches. ``lasting``: whether the text should be there even after a
    power failure right now; if not, it is written in half the time.

    Raises :class:`ReportError` when the file cannot be written.
    """
    rest = iter(parts)
    batches = iter(lambda: list(islice(rest, _BATCH)), [])
    _write(path, (_encode(batch, encode) for batch in batches), lasting=lasting)


def _encode(parts: list[str], encode: Callable[[str], bytes]) -> bytes:
    if SharedText not in map(type, parts):
        return encode("".join(parts))
    data: list[bytes] = []
    for kind, some in groupby(parts, type):
        if kind is SharedText:
            data += [_encode_known(one, encode) for one in some]
        else:
            data.append(encode("".join(some)))
    return b"".join(data)


@lru_cache(16)
def _encode_known(text: str, encode: Callable[[str], bytes]) -> bytes:
    """Return what many files have, as it is written."""
    return encode(text)


def write_bytes(path: str, data: bytes) -> None:
    """Write a file as it is.

    Raises :class:`ReportError` when it cannot be written.
    """
    _write(path, [data])


def write_json(path: str, schema: str, members: Mapping[str, object]) -> None:
    """Write a document as JSON, in version 1 of a schema; raises as :func:`write`."""
    from json import dumps

    document = {"schema": schema, "version": 1, **members}
    write(path, [dumps(document, ensure_ascii=False, indent=1), "\n"], encode_without_surrogates)


def _write(path: str, pieces: Iterable[bytes], *, lasting: bool = True) -> None:
    try:
        if path in STDOUT:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(pieces)
            sys.stdout.buffer.flush()
        else:
            _write_file(path, pieces, lasting)
    except OSError as error:
        where = "to standard output" if path in STDOUT else path
        raise ReportError(f"cannot write {where}: {error.strerror}") from error


def _write_file(path: str, pieces: Iterable[bytes], lasting: bool) -> None:
    place, mode = _place(path)
    beside, opened = _beside(place), None
    with suppress(OSError):  # the folder takes no new file, but the old one may be written
        opened = None if mode is None else os.open(beside, _NEW_FILE, mode)
    if opened is None:
        _fill(os.open(place, _WRITE, _NEW), pieces)
        return
    try:
        _fill(opened, pieces)
        if not lasting:  # ext4 writes what is renamed onto a file to the disk at once
            with suppress(FileNotFoundError):
                os.unlink(place)
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _fill(descriptor: int, pieces: Iterable[bytes]) -> None:
    """Write a file and close it. (By hand: a run may write hundreds, and a stream of Python's own
    costs as much as the writing.)
    """
    try:
        for piece in pieces:
            rest = piece
            while rest:  # a disk that is nearly full takes a part first
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def _place(path: str) -> tuple[str, int | None]:
    """Return the real path and the mode of a file; None for a pipe, a device or a folder."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return path, _NEW
    if stat.S_ISLNK(mode):
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:  # a link to what is to be made
            return os.path.realpath(path), _NEW
        path = os.path.realpath(path) if stat.S_ISREG(mode) else path
    return path, stat.S_IMODE(mode) if stat.S_ISREG(mode) else None


def _beside(place: str) -> str:
    return os.path.join(os.path.dirname(place), f".gtp-harness-{os.getpid()}.part")


def try_to_write(path: str | None) -> None:
    """Find out before a long run, not after it, that a report cannot be written.

    ``path``: None or "" if none is asked for. Nothing is left behind. Raises :class:`UsageError`.
    """
    if not path or path in STDOUT:
        return
    try:
        place, mode = _place(path)
        if os.path.isdir(place) or not os.path.basename(place):
            raise IsADirectoryError(0, "Is a directory")
        if mode is None:  # to open a pipe and close it would be its reader's end
            if not os.access(place, os.W_OK):
                raise PermissionError(0, "Permission denied")
        elif os.path.exists(place):
            os.close(os.open(place, os.O_WRONLY))
        else:
            _try_beside(place)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def try_to_write_into(folder: str) -> None:
    """Find out before a long run that no files can be written in a folder; it is made.

    Raises :class:`UsageError`.
    """
    file_system.make(folder, action="write into")
    try:
        _try_beside(os.path.join(folder, ""))
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from error


def _try_beside(place: str) -> None:
    beside = _beside(place)
    os.close(os.open(beside, _NEW_FILE, _NEW))
    os.unlink(beside)
