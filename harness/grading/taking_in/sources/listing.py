"""The files and folders of a download, with a zip unpacked as if by hand."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from harness.errors import UsageError
from harness.intake import archive_streams, reading
from harness.intake.archive_streams import MIB, IntakeLimits, Meter
from harness.intake.members import mend_name

# A download of a whole class. It comes from the teacher's own platform; the names and bytes in it
# are the students'.
_DOWNLOAD = IntakeLimits(
    compressed=4096 * MIB, unpacked=8192 * MIB, members=100_000, seconds=1800.0
)
_JUNK = ("__macosx", "thumbs.db", "desktop.ini")
_OF_SYSTEMS = (".DS_Store", "._", ".Spotlight", ".Trash", ".fseventsd", ".directory")
_MOST_FILES = 2_000  # of one student


def children(folder: Path) -> list[Path]:
    """Return what lies in a folder, sorted, without what systems leave behind.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from None
    return [path for path in found if not is_junk(path.name)]


def is_junk(name: str) -> bool:
    """Whether a file or folder is nobody's: hidden, or made by Windows or macOS."""
    return name.startswith(".") or name.casefold() in _JUNK


def list_hidden(folder: Path) -> list[str]:
    """Return names that :func:`children` leaves out, and that no system makes by itself.

    A name may begin with a dot because a student wanted it so.
    """
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name.startswith(".") and not name.startswith(_OF_SYSTEMS)]


def own_files(folder: Path, *, below: bool = False) -> list[Path]:
    """Return the regular files of a student's folder, ``below``: and of the folders in it.

    No link counts: it might lead to what another student submitted. Of far too many files some
    are left out.
    """
    found: list[Path] = []
    for path in children(folder):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            found.append(path)
        elif below and stat.S_ISDIR(mode):
            found += own_files(path, below=True)
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def is_zip(path: Path) -> bool:
    """Whether a file is a zip, told by its content."""
    return path.is_file() and archive_streams.kind(head(path)) == archive_streams.ZIP


def head(path: Path) -> bytes:
    """Return the first bytes of a file, by which its kind is told.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(archive_streams.HEAD)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def unzip(path: Path, room: Path) -> None:
    """Unpack a download into an empty folder.

    Names that no file system should see are mended rather than refused: one student's file name
    must not stand in the way of a class.

    Raises:
        ArchiveError: it is damaged, or far larger than any class.
        UsageError: it cannot be read.
    """
    with path.open("rb") as file:
        meter = Meter(_DOWNLOAD, os.fstat(file.fileno()).st_size)
        taken: set[str] = set()
        for member in reading.read(file, meter).members:
            meter.member()
            if not member.is_folder:
                _write(room / _make_unique(mend_name(member.name), taken), member.content)


def _make_unique(name: str, taken: set[str]) -> str:
    """Return the name, with as many tildes as make it another than all before it."""
    while (same := unicodedata.normalize("NFC", name).casefold()) in taken:
        name += "~"
    taken.add(same)
    return name


def _write(place: Path, content: Iterator[bytes]) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            for piece in content:
                file.write(piece)
    except OSError as error:
        raise UsageError(f"cannot write {place}: {error.strerror}") from None
