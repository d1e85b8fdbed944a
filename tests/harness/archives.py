"""Archives that are the same bytes whenever they are made: they have no time of it in them."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

Content = bytes | str


def write_zip(
    target: Path | BinaryIO,
    entries: Iterable[tuple[str | zipfile.ZipInfo, Content]],
    compression: int = zipfile.ZIP_STORED,
) -> None:
    """Write a ``.zip``; a name with ``ZipInfo`` of its own is written as that says."""
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(_entry(name, compression), content)


def make_zip(
    entries: Iterable[tuple[str | zipfile.ZipInfo, Content]],
    compression: int = zipfile.ZIP_STORED,
) -> bytes:
    """Return a ``.zip``."""
    buffer = io.BytesIO()
    write_zip(buffer, entries, compression)
    return buffer.getvalue()


def _entry(name: str | zipfile.ZipInfo, compression: int) -> zipfile.ZipInfo:
    """Return what ``writestr`` makes of a name, but with a time that is always the same."""
    if isinstance(name, zipfile.ZipInfo):
        return name
    found = zipfile.ZipInfo(name)
    found.compress_type = compression
    is_folder = name.endswith("/")
    found.external_attr = (0o40775 << 16) | 0x10 if is_folder else 0o600 << 16
    return found


def gzip_bytes(data: bytes, level: int = 9) -> bytes:
    """Return what gzip makes of bytes."""
    return gzip.compress(data, level, mtime=0)
