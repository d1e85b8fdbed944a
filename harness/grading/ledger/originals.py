"""The store of originals: every submitted file under the SHA-256 of its bytes.

A mark can be defended only with the bytes it was given for. A folder is packed first, alike each
time, so that it has one digest too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from harness.errors import ArchiveError, UsageError
from harness.intake.archive import open_regular
from harness.intake.archive_streams import PIECE, IntakeLimits, Meter
from harness.intake.archive_writing import pack_alike

_UNFINISHED = ".unfinished-"
_FORGOTTEN = 3600.0  # seconds after which an unfinished file is a killed process's


class Store:
    """A folder of originals."""

    def __init__(self, folder: Path) -> None:
        """Open it, or make it.

        Raises:
            UsageError: that cannot be done.
        """
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob(f"{_UNFINISHED}*"):
                _remove_if_forgotten(path)
        except OSError as error:
            raise UsageError(f"cannot use {folder} as a store: {error.strerror}") from None

    def path(self, sha256: str) -> Path:
        """Return where bytes are kept, by their SHA-256."""
        return self._folder / sha256

    def keep(self, source: Path, limits: IntakeLimits = IntakeLimits()) -> str:  # noqa: B008
        """Keep a file's bytes, whatever they are, and return their SHA-256.

        Raises:
            ArchiveError: they are more than intake takes.
            UsageError: the file cannot be read, or not be written.
        """
        with open_regular(str(source)) as file:
            Meter(limits, os.fstat(file.fileno()).st_size)
            sha256 = hashlib.sha256()
            unfinished = self._open_unfinished()
            try:
                with unfinished.open("wb") as copy:
                    while piece := file.read(PIECE):
                        sha256.update(piece)
                        copy.write(piece)
                    if not self._has(sha256.hexdigest()):
                        copy.flush()
                        os.fsync(copy.fileno())
                        unfinished.chmod(0o444)
                        unfinished.replace(self.path(sha256.hexdigest()))
            except OSError as error:
                raise UsageError(f"cannot keep {source}: {error.strerror}") from error
            finally:
                unfinished.unlink(missing_ok=True)
        return sha256.hexdigest()

    def keep_folder(
        self,
        source: Path,
        names: Mapping[str, str],
        limits: IntakeLimits = IntakeLimits(),  # noqa: B008
    ) -> str:
        """Keep files of a folder as a tar, with the names they have in it; return its SHA-256.

        Raises as :meth:`keep`.
        """
        size = sum((source / name).stat().st_size for name in names)
        if size > limits.compressed:
            raise ArchiveError(
                f"its files have {size:,} bytes; the limit is {limits.compressed:,}"
            )
        packed = self._open_unfinished()
        try:
            pack_alike(packed, source, names)
            return self.keep(packed, limits)
        finally:
            packed.unlink(missing_ok=True)

    def _has(self, sha256: str) -> bool:
        """Whether these bytes are kept, and whole."""
        try:
            with self.path(sha256).open("rb") as kept:
                return hashlib.file_digest(kept, "sha256").hexdigest() == sha256
        except FileNotFoundError:
            return False

    def _open_unfinished(self) -> Path:
        try:
            handle, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=self._folder)
        except OSError as error:
            raise UsageError(f"cannot write into {self._folder}: {error.strerror}") from error
        os.close(handle)
        return Path(name)


def _remove_if_forgotten(unfinished: Path) -> None:
    """Remove what a killed process left; a file that is gone was finished by another one."""
    with contextlib.suppress(FileNotFoundError):
        if unfinished.stat().st_mtime < time.time() - _FORGOTTEN:
            unfinished.unlink()
