"""Reads tar and zip archives: in this process, or by a reader that was chosen for all of them.

A process of the service lets all archives be read by confined children
(:mod:`harness.archives.confined_reading`); a command line reads those that its user names itself.

Sources: of tar, POSIX.1-2017, *pax*, "ustar Interchange Format" and "pax Extended Header", and the
GNU tar manual, "Basic Tar Format"; of zip, APPNOTE.TXT, ".ZIP File Format Specification", 4.3
(general format) and 4.4 (fields).
"""

import contextlib
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from harness.archives import archive_streams
from harness.archives.archive_streams import KIB, PIECE, ArchiveMember, Meter, Stream
from harness.core.errors import ArchiveError

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


def tar_members(stream: Stream) -> Iterator[ArchiveMember]:
    """Yield the members; the content of each must be read, or is passed over, before the next.

    Raises:
        ArchiveError: the archive is damaged, or a member is neither file nor folder.
    """
    while header := _next_header(stream):
        kind, name, size, executable = header
        if kind not in (*_FILES, _FOLDER):
            what = _REFUSED.get(kind, f"a member of an unknown kind ({kind!r})")
            raise ArchiveError(f"{what}: only files and folders are taken", name)
        if kind == _FOLDER and size:
            raise ArchiveError("a folder with content of its own", name)
        content = _tar_content(stream, size, name)
        yield ArchiveMember(name, kind == _FOLDER, executable, size, content)
        for _ in content:  # what was not read
            pass
        _exactly(stream, -size % _BLOCK, name)
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
            size = settings.get("size", str(header.size))
            if not (size.isascii() and size.isdigit() and len(size) < 20):
                raise ArchiveError("it is damaged: the size is not a number", header.name)
            name = settings.get("path", header.name)
            if name.endswith("/") and header.kind in _FILES:
                header = header._replace(kind=_FOLDER)
            return header._replace(name=name, size=int(size))
        settings |= _extension(header, stream)
    raise ArchiveError(f"more than {_EXTENSIONS} extended headers before one member")


def _parse(block: bytes) -> _TarHeader:
    if not archive_streams.is_tar_header(block):
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


def _tar_content(stream: Stream, size: int, name: str) -> Iterator[bytes]:
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


# A zip names its members twice, in a directory at its end and before each member's data. Both must
# say the same, and no two members may share data: archives that are read in one way by one program
# and in another by the next, and the best of the bombs, do not.

_END = struct.Struct("<4s4H2LH")  # end of central directory record
_ENTRY = struct.Struct("<4s6H3L5H2L")  # a central directory header
_LOCAL = struct.Struct("<4s5H3L2H")  # the header before a member's data
_LONGEST_COMMENT = 0xFFFF
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _UTF8 = 1 << 0, 1 << 11
_UNIX, _MACOS = 3, 19  # makers whose attributes have a Unix mode
_ZIP64 = 0xFFFFFFFF  # the value is in a record that we do not read
_LOCATOR = 20  # bytes that say where that is
_IS_ZIP64 = "it is in the ZIP64 format, for 2 GiB and more, which is not taken"
_BEFORE = "{:,} bytes come first, as in a self-extracting archive: pack a plain .zip instead"


class _ZipEntry(NamedTuple):
    raw_name: bytes
    name: str
    method: int
    crc: int
    packed: int
    size: int
    mode: int  # Unix mode, 0 when its maker had none
    offset: int


def zip_members(file: BinaryIO, meter: Meter) -> Iterator[ArchiveMember]:
    """Yield the members of an archive, as :func:`harness.archives.reading.tar_members` does.

    Raises:
        ArchiveError: the archive is damaged, or a member is neither file nor folder.
    """
    entries = sorted(_directory(file, meter), key=lambda entry: entry.offset)
    if entries and entries[0].offset:
        raise ArchiveError(_BEFORE.format(entries[0].offset))
    end = 0
    for entry in entries:
        if entry.offset < end:
            raise ArchiveError("its data is another member's too", entry.name)
        file.seek(entry.offset)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            reason = "it is damaged: the member is not where the directory says"
            raise ArchiveError(reason, entry.name)
        fields = _LOCAL.unpack(header)
        if (fields[3], file.read(fields[9])) != (entry.method, entry.raw_name):
            raise ArchiveError("it has another name in the archive's directory", entry.name)
        start = entry.offset + _LOCAL.size + fields[9] + fields[10]
        end = start + entry.packed
        content = _zip_content(file, entry, start, meter)
        is_folder = entry.name.endswith("/")
        if is_folder and entry.size:
            raise ArchiveError("a folder with content of its own", entry.name)
        yield ArchiveMember(entry.name, is_folder, bool(entry.mode & 0o100), entry.size, content)
        for _ in content:
            pass


def _directory(file: BinaryIO, meter: Meter) -> list[_ZipEntry]:
    count, size, offset, before, behind = _end_record(file)
    if behind > 0:
        raise ArchiveError(f"there are {behind:,} more bytes behind the end of the archive")
    if behind < 0:
        raise ArchiveError("it is cut off in the middle of the comment at its end")
    if before > 0:
        raise ArchiveError(_BEFORE.format(before))
    if before < 0:
        raise ArchiveError("it is damaged: its directory is not where it says")
    if count > meter.limits.members:
        raise ArchiveError(f"it has {count:,} members; the limit is {meter.limits.members:,}")
    if size > count * (_ENTRY.size + 4 * 1024):
        raise ArchiveError("it is damaged: its directory is longer than its members allow")
    file.seek(offset)
    data, place = file.read(size), 0
    entries = []
    for _ in range(count):
        entry, place = _entry(data, place)
        entries.append(entry)
    if place < len(data):
        raise ArchiveError("it is damaged: its directory has more members than it says")
    return entries


class _End(NamedTuple):
    members: int
    size: int  # bytes of the directory
    offset: int  # its place, as the archive says
    before: int  # bytes before the archive
    behind: int  # bytes behind it


def _end_record(file: BinaryIO) -> _End:
    total = file.seek(0, os.SEEK_END)
    file.seek(max(0, total - _LONGEST_COMMENT - _END.size))
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) - place < _END.size:
        raise ArchiveError("it is cut off: a zip archive has a directory at its end")
    _, disk, first_disk, here, count, size, offset, comment = _END.unpack_from(tail, place)
    if _ZIP64 in (size, offset) or tail[:place][-_LOCATOR:].startswith(b"PK\x06\x07"):
        raise ArchiveError(_IS_ZIP64)
    if disk or first_disk or here != count:
        raise ArchiveError("it is one part of a zip archive in several parts")
    before = total - len(tail) + place - offset - size
    return _End(count, size, offset, before, len(tail) - place - _END.size - comment)


def _entry(data: bytes, place: int) -> tuple[_ZipEntry, int]:
    """Return the member whose header is at a place of the directory, and the place behind it."""
    name_at = place + _ENTRY.size
    if len(data) < name_at or not data.startswith(b"PK\x01\x02", place):
        raise ArchiveError("it is damaged: its directory cannot be read")
    (_, maker, _, flags, method, _, _, crc, packed, size, name_size, extra, comment, _, _, how,
     offset) = _ENTRY.unpack_from(data, place)  # fmt: skip
    raw = data[name_at : name_at + name_size]
    mode = how >> 16 if maker >> 8 in (_UNIX, _MACOS) else 0
    name = _decode(raw, flags)
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "a device or the like"
        raise ArchiveError(f"{what}: only files and folders are taken", name)
    if flags & _ENCRYPTED:
        raise ArchiveError("it is encrypted", name)
    if method not in (_STORED, _DEFLATED):
        raise ArchiveError(f"it is compressed in an unusual way ({method})", name)
    if _ZIP64 in (size, packed, offset):
        raise ArchiveError(_IS_ZIP64, name)
    entry = _ZipEntry(raw, name, method, crc, packed, size, mode, offset)
    return entry, name_at + name_size + extra + comment


def _decode(raw: bytes, flags: int) -> str:
    """Return a name: UTF-8 if it is said or possible, else in the code page of the first PC."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        if flags & _UTF8:
            return raw.decode(errors="surrogateescape")
        return raw.decode("cp437")


def _zip_content(file: BinaryIO, entry: _ZipEntry, start: int, meter: Meter) -> Iterator[bytes]:
    left, crc = entry.size, 0
    for piece in _unpack(file, entry, start):
        meter.count_unpacked(len(piece))
        left -= len(piece)
        if left < 0:
            break
        crc = zlib.crc32(piece, crc)
        yield piece
    if left or crc != entry.crc:
        raise ArchiveError("it is damaged: size or CRC does not match its header", entry.name)


def _unpack(file: BinaryIO, entry: _ZipEntry, start: int) -> Iterator[bytes]:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    place, left = start, entry.packed
    while left:
        file.seek(place)
        data = file.read(min(left, PIECE))
        if not data:
            raise ArchiveError("the archive is cut off in the middle of this member", entry.name)
        place, left = place + len(data), left - len(data)
        yield from [data] if entry.method == _STORED else _inflate(stream, data, entry.name)


def _inflate(stream: "zlib._Decompress", data: bytes, name: str) -> Iterator[bytes]:
    piece = b""
    while data or len(piece) == PIECE:  # a full piece may not have been all of it
        try:
            piece = stream.decompress(data, PIECE)
        except zlib.error as error:
            raise ArchiveError(f"its compressed data is damaged ({error})", name) from None
        data = stream.unconsumed_tail
        if piece:
            yield piece


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
    head = file.read(archive_streams.HEAD)
    file.seek(0)
    kind = archive_streams.kind(head)
    if not kind:
        what = archive_streams.describe_kind(head)
        with contextlib.suppress(ArchiveError):
            if _end_record(file).before > 0:
                what = "a self-extracting zip archive"
        raise ArchiveError(f"it is {what}, expected a .tgz, .tar.gz, .tar, .tar.xz or .zip")
    if kind == archive_streams.ZIP:
        return OpenArchive(kind, zip_members(file, meter))
    return OpenArchive(kind, tar_members(Stream(archive_streams.pieces(file, kind), meter)))


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
