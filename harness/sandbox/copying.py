"""Copies of folders, in which engines may write: a new one for each start, gone with its box.

A submission may hold anything. Links are copied, never followed; what is neither a file nor a
folder nor a link is left out, and so is what cannot be read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterator
from typing import NamedTuple

MOST_BYTES = 256 << 20  # a folder with more is shown as it is, and cannot be written
MOST_FILES = 50_000
_PAGE = 4096
_PIECE = 1 << 20


class Size(NamedTuple):
    """What a copy takes: bytes, rounded up as a file system does, and files of every kind."""

    used: int = 0
    files: int = 0
    largest: int = 0  # bytes of one file

    def __add__(self, other: object) -> Size:
        """Return what two copies take."""
        assert isinstance(other, Size)
        largest = max(self.largest, other.largest)
        return Size(self.used + other.used, self.files + other.files, largest)


def measure(folder: str) -> Size | None:
    """Return what a copy of ``folder`` will take, None if that is too much."""
    used = files = largest = 0
    for _, entry in _entries(folder):
        found = entry.stat(follow_symlinks=False)
        used += -(-found.st_size // _PAGE) * _PAGE if stat.S_ISREG(found.st_mode) else _PAGE
        files += 1
        largest = max(largest, found.st_size)
        if used > MOST_BYTES or files > MOST_FILES:
            return None
    return Size(used, files, largest)


def copy(source: str, target: str, owner: int = 0, left_out: Collection[str] = ()) -> None:
    """Copy what is in the folder ``source`` into the folder ``target``, which is there and empty.

    ``owner``: the user and group that all of it is given to; 0: ours. ``left_out``: paths in
    ``source`` that are not copied.
    """
    for path, entry in _entries(source, left_out):
        place = target + path[len(source) :]
        with contextlib.suppress(OSError):
            _copy_one(path, place, entry.stat(follow_symlinks=False))
            if owner:
                os.chown(place, owner, owner, follow_symlinks=False)


def _entries(
    folder: str, left_out: Collection[str] = ()
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what lies in a folder and its folders, with its path, outer ones first."""
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.path in left_out:
                    continue
                yield entry.path, entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def _copy_one(source: str, target: str, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        os.mkdir(target, stat.S_IMODE(found.st_mode) | 0o700)
    elif stat.S_ISLNK(found.st_mode):
        os.symlink(os.readlink(source), target)
    elif stat.S_ISREG(found.st_mode):
        _copy_file(source, target, found)


def _copy_file(source: str, target: str, found: os.stat_result) -> None:
    flags = os.O_CLOEXEC | os.O_NOFOLLOW
    reading = os.open(source, os.O_RDONLY | flags)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | flags, 0o600)
        try:
            while os.sendfile(writing, reading, None, _PIECE):
                pass
            os.fchmod(writing, stat.S_IMODE(found.st_mode) & 0o777)
            os.utime(writing, ns=(found.st_atime_ns, found.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)
