"""Archives: examined and unpacked, which is the same reading twice, and packed.

:func:`examine` reads all of it and writes nothing. :func:`unpack` takes the names that
:func:`examine` found harmless to the places that the caller gives them.
"""

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from harness.archives import archive_streams, reading
from harness.archives.archive_streams import ArchiveMember, IntakeLimits, Meter
from harness.core import file_system
from harness.core.errors import ArchiveError, UsageError


class ExaminedFile(NamedTuple):
    """A file as :func:`examine` found it."""

    name: str  # parts joined by "/", without "."
    size: int


class Contents(NamedTuple):
    """Files of an archive."""

    kind: str  # one of harness.archives.archive_streams
    sha256: str  # of its original bytes
    size: int
    files: tuple[ExaminedFile, ...]  # in the archive's order
    remarks: tuple[str, ...]  # sentences about what is odd and taken all the same


def examine(
    path: str,
    limits: IntakeLimits = IntakeLimits(),  # noqa: B008
    name: str = "",
) -> Contents:
    """Read an archive from beginning to end and return what is in it.

    ``name``: what it was called when it was submitted, if not what it is called now.

    Raises:
        UsageError: it cannot be opened.
        ArchiveError: it is refused; says what in it, and why.
        ReadingFailedError: a confined child that was to read it failed.
    """
    with open_regular(path) as file:
        meter = Meter(limits, os.fstat(file.fileno()).st_size)
        digest = hashlib.sha256()  # before it is read: a child reads the very same open file
        while piece := file.read(archive_streams.PIECE):
            digest.update(piece)
        file.seek(0)
        found = reading.read(file, meter)
        listed = tuple(
            ExaminedFile("/".join(parts), member.size)
            for parts, member in _members(found, meter)
            if not member.is_folder
        )
        size = os.fstat(file.fileno()).st_size
    if not listed:
        raise ArchiveError("the archive has no files in it")
    remark = archive_streams.describe_mismatch(name or path, found.kind)
    return Contents(found.kind, digest.hexdigest(), size, listed, (remark,) if remark else ())


def unpack(
    path: str,
    folder: Path,
    places: Mapping[str, str],
    limits: IntakeLimits = IntakeLimits(),  # noqa: B008
) -> None:
    """Write files of an archive below ``folder``, which is there and empty.

    ``places``: for each file that is wanted, by its name in :class:`Contents`, its name below
    the folder. All others are passed over.

    Raises as :func:`examine`.
    """
    for member in files(path, limits):
        if member.name not in places:
            continue
        place = folder / places[member.name]
        file_system.make_open(place.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(place, flags), "wb") as file:
            os.fchmod(file.fileno(), file_system.file_mode(is_program=member.executable))
            for piece in member.content:
                file.write(piece)


def files(path: str, limits: IntakeLimits = IntakeLimits()) -> Iterator[ArchiveMember]:  # noqa: B008
    """Yield the files of an archive, called as in :class:`Contents`.

    The content of each is there to be read before the next, in small pieces, or to be left.

    Raises as :func:`examine`.
    """
    with open_regular(path) as file:
        meter = Meter(limits, os.fstat(file.fileno()).st_size)
        for parts, member in _members(reading.read(file, meter), meter):
            if not member.is_folder:
                yield member._replace(name="/".join(parts))


@contextmanager
def open_regular(path: str) -> Iterator[BinaryIO]:
    """Open a regular file; anything else, such as a pipe, might never end.

    Raises:
        UsageError: it cannot be opened, or is something else.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{path} is not a regular file")
        yield file


def _members(
    source: reading.OpenArchive, meter: Meter
) -> Iterator[tuple[tuple[str, ...], ArchiveMember]]:
    """Yield each member with the parts of its name, which leads nowhere else."""
    names = archive_streams.MemberNames()
    for member in source.members:
        meter.member()
        parts = archive_streams.check_name(member.name, meter.limits)
        if parts:
            names.add(parts, member.is_folder)
            yield parts, member
        elif not member.is_folder:  # "./" is the folder that tar was told to pack
            raise ArchiveError("a file without a name", member.name)
        for _ in member.content:  # looked at, at least, if nobody has read it
            pass


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
        member = tarfile.TarInfo(folder)
        member.type, member.mode = tarfile.DIRTYPE, file_system.FOLDER
        archive.addfile(member)
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


def _member(name: str, path: Path) -> tuple[tarfile.TarInfo, io.BytesIO]:
    content = path.read_bytes()
    status = path.stat()
    member = tarfile.TarInfo(name)
    member.size, member.mtime = len(content), int(status.st_mtime)
    member.mode = file_system.file_mode(is_program=bool(status.st_mode & 0o100))
    return member, io.BytesIO(content)
