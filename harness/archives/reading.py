"""Who reads an archive: this process itself, or a child that can do nothing else.

A process of the service lets all archives be read by confined children
(:mod:`harness.archives.confined_reading`); a command line reads those that its user names itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from harness.archives import archive_streams, tar, zip  # noqa: A004 - the format's name
from harness.archives.archive_streams import Meter, Stream, pieces
from harness.archives.members import ArchiveMember
from harness.errors import ArchiveError


class OpenArchive(NamedTuple):
    """An archive that is being read."""

    kind: str  # one of harness.archives.archive_streams
    members: Iterator[ArchiveMember]  # the content of each comes before the next one


Reader = Callable[[BinaryIO, Meter], OpenArchive]


def read_here(file: BinaryIO, meter: Meter) -> OpenArchive:
    """Read an archive in this process, from where the file is.

    Raises:
        ArchiveError: it is not an archive; or, while the members are read, it is refused.
    """
    kind = _kind(file)
    if kind == archive_streams.ZIP:
        return OpenArchive(kind, zip.members(file, meter))
    return OpenArchive(kind, tar.members(Stream(pieces(file, kind), meter)))


def _kind(file: BinaryIO) -> str:
    head = file.read(archive_streams.HEAD)
    file.seek(0)
    kind = archive_streams.kind(head)
    if not kind:
        is_zip = zip.is_self_extracting(file)
        what = "a self-extracting zip archive" if is_zip else archive_streams.describe_kind(head)
        raise ArchiveError(f"it is {what}, expected a .tgz, .tar.gz, .tar, .tar.xz or .zip")
    return kind


_chosen: Reader | None = None


def choose(reader: Reader | None) -> None:
    """Let all archives be read by ``reader`` in this process from now on; None: by itself."""
    global _chosen  # noqa: PLW0603 - how archives are read is a property of the process
    _chosen = reader


def is_chosen() -> bool:
    """Whether another reader than this process itself was chosen."""
    return _chosen is not None


def read(file: BinaryIO, meter: Meter) -> OpenArchive:
    """Read an archive by the chosen reader; raises as :func:`read_here`.

    Raises:
        ReadingFailedError: a confined child failed, whatever the archive is.
    """
    return (_chosen or read_here)(file, meter)
