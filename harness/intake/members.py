"""One member of an archive while it is being read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class ArchiveMember(NamedTuple):
    """A file or a folder, its name not yet looked at."""

    name: str
    is_folder: bool
    executable: bool
    size: int  # as the archive says; content is cut off or refused where it says otherwise
    content: Iterator[bytes]  # in small pieces
