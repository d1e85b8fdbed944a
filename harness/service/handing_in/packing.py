"""The files of a folder as the archive that an assignment wants.

What is packed goes the way of every archive: it is taken in as if its owner had packed it.
"""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from harness.errors import UsageError

MOST = 2000  # files
_LONGEST = 200  # characters of a path
_LEFT_BEHIND = ("__pycache__", "__MACOSX")  # by tools, besides what begins with a dot


class Loose(NamedTuple):
    """A file of a folder."""

    path: str  # as a browser names it: with the folder or without
    content: IO[bytes]
    size: int


def pack(files: Iterable[Loose], folder: str, target: IO[bytes]) -> None:
    """Write a .tgz with the files in a single folder; the same files give the same bytes.

    What systems and tools leave behind is not packed. A folder that all files are in is the
    submission's own: its name does not matter.

    Raises:
        UsageError: there is nothing to be packed, or a name that is not one.
    """
    found = {_path(one): one for one in files}
    kept = {path: one for path, one in found.items() if not _is_left_behind(path)}
    if not kept:
        raise UsageError("your upload has no files: choose an archive, or a folder")
    tops = {path.parts[0] for path in kept if len(path.parts) > 1}
    is_within = len(tops) == 1 and all(len(path.parts) > 1 for path in kept)
    with (
        gzip.GzipFile("", "wb", fileobj=target, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(kept):
            inside = PurePosixPath(*path.parts[1:]) if is_within else path
            _add(tar, f"{folder}/{inside}", kept[path])


def _path(one: Loose) -> PurePosixPath:
    path = PurePosixPath(one.path.replace("\\", "/"))
    parts = path.parts
    if not parts or path.is_absolute() or ".." in parts or len(one.path) > _LONGEST:
        raise UsageError(f"found {one.path[:_LONGEST]!r}, expected the name of a file in a folder")
    return path


def _is_left_behind(path: PurePosixPath) -> bool:
    return any(part.startswith(".") or part in _LEFT_BEHIND for part in path.parts)


def _add(tar: tarfile.TarFile, name: str, one: Loose) -> None:
    member = tarfile.TarInfo(name)
    member.size = one.size
    tar.addfile(member, one.content)
