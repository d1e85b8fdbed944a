"""Copies of folders, in which engines may write: a new one for each start, gone with its box.

A submission may hold anything. Links are copied, never followed; what is neither a file nor a
folder nor a link is left out, and so is what cannot be read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterator

from harness.typed import NamedTuple

MOST_BYTES = 256 << 20  # a folder with more is shown as it is, and cannot be written
MOST_FILES = 50_000
_PAGE = 4096
_TO_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Size(NamedTuple):
    """What a copy takes: bytes, rounded up as a file system does, and files of every kind."""

    used: int = 0
    files: int = 0

    def __add__(self, other: object) -> Size:
        """Return what two copies take."""
        assert isinstance(other, Size)
        return Size(self.used + other.used, self.files + other.files)


def measure(folder: str) -> Size | None:
    """Return what a copy of ``folder`` will take, None if that is too much."""
    used = files = 0
    for _, entry in _entries(folder):
        found = entry.stat(follow_symlinks=False)
        used += -(-found.st_size // _PAGE) * _PAGE if stat.S_ISREG(found.st_mode) else _PAGE
        files += 1
        if used > MOST_BYTES or files > MOST_FILES:
            return None
    return Size(used, files)


def copy(
    source: str, target: str, owner: int = 0, left_out: Collection[str] = ()
) -> Iterator[None]:
    """Copy what is in the folder ``source`` into the folder ``target``, which is there and empty.

    Yields before each file, for anyone who wants to stop. ``owner``: the user and group that all
    of it is given to; what only others may read is left out. 0: ours. ``left_out``: paths in
    ``source`` that are not copied.
    """
    top = os.open(target, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    begin = len(source) + 1
    try:
        for path, entry in _entries(source, left_out, bool(owner)):
            yield
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                _copy_one(path, path[begin:], top, found, owner)
    finally:
        os.close(top)


def _entries(
    folder: str, left_out: Collection[str] = (), for_all: bool = False
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what lies in a folder and its folders, with its path, outer ones first.

    ``for_all``: enter only folders that every user may enter and read.
    """
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.path in left_out:
                    continue
                yield entry.path, entry
                if entry.is_dir(follow_symlinks=False) and (
                    not for_all or entry.stat(follow_symlinks=False).st_mode & 0o005 == 0o005
                ):
                    waiting.append(entry.path)


def _copy_one(source: str, name: str, top: int, status: os.stat_result, owner: int) -> None:
    """Copy ``source`` to ``name`` in the open folder ``top``."""
    if stat.S_ISDIR(status.st_mode):
        os.mkdir(name, stat.S_IMODE(status.st_mode) | 0o700, dir_fd=top)
    elif stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), name, dir_fd=top)
    elif stat.S_ISREG(status.st_mode) and (not owner or status.st_mode & 0o004):
        _copy_file(source, name, top, status, owner)
        return
    else:
        return
    if owner:
        os.chown(name, owner, owner, dir_fd=top, follow_symlinks=False)


def _copy_file(source: str, name: str, top: int, status: os.stat_result, owner: int) -> None:
    reading = os.open(source, _TO_READ)
    try:
        writing = os.open(name, _TO_WRITE, 0o600, dir_fd=top)
        try:
            left = status.st_size
            while left > 0 and (sent := os.sendfile(writing, reading, None, left)):
                left -= sent
            if owner:
                os.fchown(writing, owner, owner)
            os.fchmod(writing, stat.S_IMODE(status.st_mode) & 0o777)
            os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)
