"""The members of a tar archive: files and folders, with the long names of GNU and POSIX.

Source: POSIX.1-2017, *pax*, "ustar Interchange Format" and "pax Extended Header"; the GNU tar
manual, "Basic Tar Format".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.archives.archive_streams import KIB, PIECE, Stream, is_tar_header
from harness.archives.members import ArchiveMember
from harness.errors import ArchiveError

_BLOCK = 512
_LONGEST_EXTENSION = 64 * KIB
_EXTENSIONS = 4  # before one member
_FILES, _FOLDER = (b"0", b"\0", b"7"), b"5"
_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL_PAX = b"L", b"K", b"x", b"g"
_REFUSED = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a named pipe",
    b"S": "a sparse file",
}


class _TarHeader(NamedTuple):
    kind: bytes
    name: str
    size: int
    executable: bool


def members(stream: Stream) -> Iterator[ArchiveMember]:
    """Yield the members; the content of each must be read, or is passed over, before the next.

    Raises:
        ArchiveError: the archive is damaged, or a member is neither file nor folder.
    """
    while header := _next_header(stream):
        yield from _member(header, stream)
    while piece := stream.some(PIECE):  # to the end, so that checksums are compared
        if piece.strip(b"\0"):
            raise ArchiveError("there is more data behind the end of the archive")


def _next_header(stream: Stream) -> _TarHeader | None:
    """Return the next member's header, with what extensions before it say; None at the end."""
    settings: dict[str, str] = {}
    for _ in range(_EXTENSIONS + 1):
        block = stream.exactly(_BLOCK)
        if not block.strip(b"\0"):
            if settings:
                raise ArchiveError("a long name that no member follows")
            return None
        header = _parse(block)
        if header.kind not in (_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL_PAX):
            return _with(settings, header)
        settings |= _extension(header, stream)
    raise ArchiveError(f"more than {_EXTENSIONS} extended headers before one member")


def _parse(block: bytes) -> _TarHeader:
    if not is_tar_header(block):
        raise ArchiveError("it is damaged: the header of a member cannot be read")
    name = _text(block[:100])
    if block[257:263] == b"ustar\0" and block[345]:  # GNU's own has other things there
        name = f"{_text(block[345:500])}/{name}"
    kind = block[156:157]
    size = _number(block[124:136], name)
    folder = kind in (_FILES[:2]) and name.endswith("/")  # as tar wrote before POSIX
    mode = _number(block[100:108], name)
    return _TarHeader(_FOLDER if folder else kind, name, size, bool(mode & 0o100))


def _number(field: bytes, name: str) -> int:
    """Read a number: octal digits, or in GNU's way binary after a set first bit."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:])
    try:
        value = int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        value = -1
    if value < 0:
        raise ArchiveError("it is damaged: a number in a header cannot be read", name)
    return value


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode(errors="surrogateescape")


def _extension(header: _TarHeader, stream: Stream) -> dict[str, str]:
    """Return what an extended header says of the member after it."""
    if header.size > _LONGEST_EXTENSION:
        raise ArchiveError(f"an extended header of {header.size:,} bytes", header.name)
    content = _exactly(stream, header.size, header.name)
    _exactly(stream, -header.size % _BLOCK, header.name)
    if header.kind == _LONG_NAME:
        return {"path": _text(content)}
    if header.kind == _LONG_LINK:
        return {}
    said = dict(_pax_records(content))
    if any(key.startswith("GNU.sparse") for key in said):
        raise ArchiveError("a sparse file", header.name)
    if header.kind == _GLOBAL_PAX and {"path", "size"} & said.keys():
        raise ArchiveError("a header that gives all members one name or size", header.name)
    return {key: value for key, value in said.items() if key in ("path", "size")}


def _pax_records(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the records of a pax header: ``LENGTH KEY=VALUE`` and a line end."""
    while content:
        length, blank, _ = content[:20].partition(b" ")
        size = int(length) if blank and length.isdigit() else 0
        key, equals, value = content[len(length) + 1 : size].partition(b"=")
        if not equals or size > len(content) or not value.endswith(b"\n"):
            raise ArchiveError("it is damaged: an extended header cannot be read")
        yield key.decode(errors="replace"), value[:-1].decode(errors="surrogateescape")
        content = content[size:]


def _with(settings: dict[str, str], header: _TarHeader) -> _TarHeader:
    size = settings.get("size", str(header.size))
    if not (size.isascii() and size.isdigit() and len(size) < 20):
        raise ArchiveError("it is damaged: the size is not a number", header.name)
    name = settings.get("path", header.name)
    if name.endswith("/") and header.kind in _FILES:
        header = header._replace(kind=_FOLDER)
    return header._replace(name=name, size=int(size))


def _member(header: _TarHeader, stream: Stream) -> Iterator[ArchiveMember]:
    kind, name, size, executable = header
    if kind not in (*_FILES, _FOLDER):
        what = _REFUSED.get(kind, f"a member of an unknown kind ({kind!r})")
        raise ArchiveError(f"{what}: only files and folders are taken", name)
    if kind == _FOLDER and size:
        raise ArchiveError("a folder with content of its own", name)
    content = _content(stream, size, name)
    yield ArchiveMember(name, kind == _FOLDER, executable, size, content)
    for _ in content:  # what was not read
        pass
    _exactly(stream, -size % _BLOCK, name)


def _content(stream: Stream, size: int, name: str) -> Iterator[bytes]:
    while size:
        piece = stream.some(min(size, PIECE))
        if not piece:
            raise ArchiveError("the archive is cut off in the middle of this member", name)
        size -= len(piece)
        yield piece


def _exactly(stream: Stream, size: int, name: str) -> bytes:
    content = stream.exactly(size)
    if len(content) < size:
        raise ArchiveError("the archive is cut off in the middle of this member", name)
    return content
