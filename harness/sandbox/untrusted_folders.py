"""Folders that a hostile program has filled: read, counted, given away and removed to the last.

Such a tree may be deeper than Python recurses, than a path can be long and than there are
descriptors; its names are any bytes; folders in it may be shut to their owner, and change while
they are read. So nothing here recurses, follows a link, or names anything by a whole path.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterator

from harness.core.typed import NamedTuple

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READABLE = 0o500
_CHANGEABLE = 0o700
_HAS_MARKS = hasattr(os, "O_PATH")  # descriptors of what may be shut, on Linux alone


class TreeEntry(NamedTuple):
    """One name in a tree."""

    descriptor: int  # of the folder that it is in, open until the next entry is asked for
    name: str
    path: str  # from the top of the tree
    status: os.stat_result  # of itself, not of what a link leads to


def walk(top: str, mode: int = _READABLE) -> Iterator[TreeEntry]:
    """Yield what lies below ``top``, folders before what is in them; nothing if it is not a
    folder.

    ``mode``: what their owner may do with all folders afterwards: those that are shut are opened.
    What is moved away in the meantime is left out.
    """
    folder = _enter_top(top, mode)
    if folder < 0:
        return
    path = ""
    above: list[tuple[tuple[int, int], list[str], str]] = []  # the way back
    try:
        while True:
            waiting = []  # folders in this one that have not been entered
            for name in names(folder):
                try:
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    waiting.append(name)
                yield TreeEntry(folder, name, path + name, found)
            child = -1
            while child < 0:
                if waiting:
                    name = waiting.pop()
                    child = _enter(folder, name, mode)
                elif above:
                    identity, waiting, path = above.pop()
                    parent = os.open("..", _FOLDER, dir_fd=folder)
                    os.close(folder)
                    folder = parent
                    if _identity(folder) != identity:  # it was moved elsewhere
                        return
                else:
                    return
            above.append((_identity(folder), waiting, path))
            path = f"{path}{name}/"
            os.close(folder)
            folder = child
    except OSError:
        return
    finally:
        os.close(folder)


def names(folder: int) -> list[str]:
    """Return the names in an open folder; none if it is gone or cannot be read."""
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


def _enter(folder: int, name: str, mode: int) -> int:
    """Return a descriptor of the folder ``name``, opened to us first; -1 if it is not there."""
    return (_enter_marked if _HAS_MARKS else _enter_named)(folder, name, mode)


def _enter_named(folder: int, name: str, mode: int) -> int:
    """Enter a folder where what has its name may be another one by now: there is no sandbox."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(found) and found & mode != mode:
            os.chmod(name, stat.S_IMODE(found) | mode, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return -1


def _enter_marked(folder: int, name: str, mode: int) -> int:
    try:
        marked = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return -1
    try:
        found = os.fstat(marked).st_mode
        if not stat.S_ISDIR(found):
            return -1
        if found & mode != mode:
            with contextlib.suppress(OSError):  # it is somebody else's
                os.chmod(f"/proc/self/fd/{marked}", stat.S_IMODE(found) | mode)
        return os.open(".", _FOLDER, dir_fd=marked)
    except OSError:
        return -1
    finally:
        os.close(marked)


def _enter_top(top: str, mode: int) -> int:
    parent, name = os.path.split(os.path.abspath(top))
    try:
        above = os.open(parent, _FOLDER)
    except OSError:
        return -1
    try:
        return _enter(above, name or ".", mode)
    finally:
        os.close(above)


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def use(top: str) -> tuple[int, int]:
    """Return the bytes that a tree takes on disk, and how many files and folders are in it."""
    used = count = 0
    seen = set()  # files of several names
    for entry in walk(top):
        count += 1
        found = entry.status
        if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
            if (found.st_dev, found.st_ino) in seen:
                continue
            seen.add((found.st_dev, found.st_ino))
        used += found.st_blocks * 512
    return used, count


def give(top: str, identity: int) -> None:
    """Give a tree to a user and its group."""
    os.chown(top, identity, identity, follow_symlinks=False)
    for entry in walk(top):
        os.chown(entry.name, identity, identity, dir_fd=entry.descriptor, follow_symlinks=False)


def remove(top: str) -> None:
    """Remove a tree; of what cannot be removed, as much as can.

    Folders within folders are moved up to the top, emptied and removed there: so none is deep.
    """
    here = _enter_top(top, _CHANGEABLE)
    with contextlib.suppress(OSError):
        if here < 0:
            os.unlink(top)
            return
        # Remove all that is in an open folder.
        prefix, number = f".{os.urandom(8).hex()}", 0
        waiting = _clear(here, here, prefix)
        while waiting:
            name = waiting.pop()
            child = _enter(here, name, _CHANGEABLE)
            if child < 0:
                continue
            number += 1
            waiting += _clear(child, here, f"{prefix}-{number}")
            os.close(child)
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=here)
        os.close(here)
        os.rmdir(top)


def _clear(folder: int, top: int, prefix: str) -> list[str]:
    """Remove the files of an open folder, and move its folders to ``top``; return their names."""
    moved = []
    for count, name in enumerate(names(folder)):
        with contextlib.suppress(OSError):
            with contextlib.suppress(IsADirectoryError):
                os.unlink(name, dir_fd=folder)
                continue
            if folder != top:
                child = _enter(folder, name, _CHANGEABLE)
                if child >= 0:
                    os.close(child)
                fresh = f"{prefix}-{count}"
                os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=top)
                name = fresh  # noqa: PLW2901
            moved.append(name)
    return moved


# Copies of folders, in which engines may write: a new one for each start, gone with its box. A
# submission may hold anything. Links are copied, never followed; what is neither a file nor a
# folder nor a link is left out, and so is what cannot be read.
MOST_BYTES = 256 << 20  # a folder with more is shown as it is, and cannot be written
MOST_FILES = 50_000
_PAGE = 4096
_TO_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Size(NamedTuple):
    """Size of a copy: bytes, rounded up as a file system does, and files of every kind."""

    used: int = 0
    files: int = 0


def measure(folder: str) -> Size | None:
    """Return what a copy of ``folder`` will take, None if that is too much."""
    used = files = 0
    for _, entry in _copied_entries(folder):
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
        for path, entry in _copied_entries(source, left_out, bool(owner)):
            yield
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                name, mode = path[begin:], found.st_mode
                if stat.S_ISREG(mode):
                    if not owner or mode & 0o004:
                        _copy_file(path, name, top, found, owner)
                    continue
                if stat.S_ISDIR(mode):
                    os.mkdir(name, stat.S_IMODE(mode) | 0o700, dir_fd=top)
                elif stat.S_ISLNK(mode):
                    os.symlink(os.readlink(path), name, dir_fd=top)
                else:
                    continue
                if owner:
                    os.chown(name, owner, owner, dir_fd=top, follow_symlinks=False)
    finally:
        os.close(top)


def _copied_entries(
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
