"""Bytes by their SHA-256: where a unit says they lie, or else in a store."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness import file_system
from harness.errors import HarnessError
from harness.work.records import Folder, Name, Sha256, UnitCase, UnitFile, UnitSubmission


class MissingBytesError(HarnessError):
    """What a unit names is nowhere, or is something else by now: the harness's own trouble."""


class FileFinder:
    """Finds files; ``stores``: folders of files that are named by their SHA-256."""

    def __init__(self, stores: Sequence[Path] = ()) -> None:
        self._stores = tuple(stores)

    def archive(self, submission: UnitSubmission) -> Path:
        """Return where the bytes of a submission are.

        Raises:
            MissingBytesError: nowhere.
        """
        return self._find(
            submission.sha256, submission.path, f"the submission of {submission.key}"
        )

    def case(self, case: UnitCase, room: Path) -> tuple[bytes, Path]:
        """Return a case file's bytes, and its path with all that it names beside it.

        It is laid out in a new folder of ``room`` where it does not lie as the unit says.

        Raises:
            MissingBytesError: as :meth:`archive`.
        """
        place = Path(case.place)
        own = self._find(case.sha256, str(place / case.name), f"the case file {case.name}")
        if not case.place or not _can_engines_read(case.beside, place):
            place = self._lay(case.beside, place, room / case.basis[:16])
        return own.read_bytes(), place / case.name

    def folder(self, folder: Folder, room: Path) -> Path:
        """Return where a folder lies as the unit says, or is laid out below ``room``.

        Raises:
            MissingBytesError: as :meth:`archive`.
        """
        place = Path(folder.place)
        if folder.place and _can_engines_read(folder.files, place):
            return place
        return self._lay(folder.files, place, room / folder.name)

    def _lay(self, files: Iterable[UnitFile], source: Path, target: Path) -> Path:
        """Copy files into a new folder ``target`` that all may read; return it."""
        file_system.make_open(target)
        for one in files:
            found = self._find(one.sha256, str(source / one.name), one.name)
            file_system.write_open(target / one.name, found.read_bytes())
        return target

    def _find(self, sha256: Sha256, path: str, called: str) -> Path:
        places = [*([Path(path)] if path else []), *(store / sha256 for store in self._stores)]
        for place in places:
            if _has(place, sha256):
                return place
        raise MissingBytesError(f"{called} is nowhere with the SHA-256 {sha256}: has it changed?")


def file_of(path: Path, name: str) -> UnitFile:
    """Return a file that lies on this machine, by a name of its own."""
    return UnitFile(Name(name), Sha256(hashlib.sha256(path.read_bytes()).hexdigest()))


def folder_of(place: Path, names: Iterable[str]) -> Folder:
    """Return a folder of this machine with some of its files."""
    return Folder(place.name, tuple(file_of(place / name, name) for name in names), str(place))


def _can_engines_read(files: Iterable[UnitFile], place: Path) -> bool:
    """Whether all are there, and open to other users, which engines of root are.

    A service keeps what it writes to its own user; so do teachers whose umask is 077.
    """
    return all(_has(place / one.name, one.sha256) and _is_open(place / one.name) for one in files)


def _is_open(path: Path) -> bool:
    return os.geteuid() != 0 or bool(path.stat().st_mode & stat.S_IROTH)


def _has(path: Path, sha256: str) -> bool:
    """Whether these bytes are there, and whole."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False
