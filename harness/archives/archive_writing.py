"""Packs a folder into an archive, as it should be submitted."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from harness import shared_files
from harness.archives.archive_streams import IntakeLimits
from harness.errors import UsageError


class TooManyFilesError(UsageError):
    """A folder with far too many files for a submission."""


def files_in(folder: Path, limits: IntakeLimits = IntakeLimits()) -> tuple[list[str], list[str]]:  # noqa: B008
    """Return the names of a folder's files, and of what is neither file nor folder.

    Links are not followed. Names are relative, with ``/``, sorted.

    Raises:
        TooManyFilesError: there are far too many for a submission.
        UsageError: it cannot be read.
    """
    files: list[str] = []
    others: list[str] = []
    for above, subfolders, names in os.walk(folder, onerror=_raise):
        linked = [name for name in subfolders if (Path(above) / name).is_symlink()]
        for name in (*names, *linked):
            path = Path(above, name)
            regular = stat.S_ISREG(path.lstat().st_mode)
            (files if regular else others).append(path.relative_to(folder).as_posix())
        if len(files) + len(others) > limits.members:
            raise TooManyFilesError(
                f"{folder} has more than {limits.members:,} files: the wrong folder?"
            )
    return sorted(files), sorted(others)


def _raise(error: OSError) -> None:
    raise UsageError(f"cannot read {error.filename}: {error.strerror}")


def pack(target: Path, folder: str, source: Path, names: Iterable[str]) -> None:
    """Write ``target``, a ``.tgz`` of one folder, with these files of ``source``.

    The archive appears whole or not at all. Owners are left out: they are nobody's business.

    Raises:
        UsageError: a file cannot be read, or the archive not be written.
    """
    with _open_target(target, "w:gz") as archive:
        archive.addfile(_folder(folder))
        for name in names:
            archive.addfile(*_member(f"{folder}/{name}", source / name))


def pack_alike(target: Path, source: Path, names: Mapping[str, str]) -> None:
    """Write ``target``, a tar of files of ``source``, with the names that they have in the tar.

    It has the same bytes whenever the files have the same names and contents. So it is not
    compressed, which no two compressors do alike, and has no times in it.

    Raises as :func:`pack`.
    """
    with _open_target(target, "w") as archive:
        for name, called in sorted(names.items()):
            member, content = _member(called, source / name)
            member.mtime = 0
            archive.addfile(member, content)


@contextmanager
def _open_target(target: Path, mode: Literal["w", "w:gz"]) -> Iterator[tarfile.TarFile]:
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with tarfile.open(unfinished, mode, format=tarfile.PAX_FORMAT) as archive:
            yield archive
        unfinished.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.filename}: {error.strerror}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _folder(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode = tarfile.DIRTYPE, shared_files.FOLDER
    return member


def _member(name: str, path: Path) -> tuple[tarfile.TarInfo, io.BytesIO]:
    content = path.read_bytes()
    status = path.stat()
    member = tarfile.TarInfo(name)
    member.size, member.mtime = len(content), int(status.st_mtime)
    member.mode = shared_files.file_mode(is_program=bool(status.st_mode & 0o100))
    return member, io.BytesIO(content)
