"""The members of a zip archive: files and folders, stored or deflated.

A zip names its members twice, in a directory at its end and before each member's data. Both must
say the same, and no two members may share data: archives that are read in one way by one program
and in another by the next, and the best of the bombs, do not.

Source: APPNOTE.TXT, ".ZIP File Format Specification", 4.3 (general format) and 4.4 (fields).
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from harness.archives.archive_streams import PIECE, Meter
from harness.archives.members import ArchiveMember
from harness.errors import ArchiveError

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
    flags: int
    crc: int
    packed: int
    size: int
    mode: int  # Unix mode, 0 when its maker had none
    offset: int


def members(file: BinaryIO, meter: Meter) -> Iterator[ArchiveMember]:
    """Yield the members of an archive, as :func:`harness.archives.tar.members` does.

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
        start = _data_start(file, entry)
        end = start + entry.packed
        content = _content(file, entry, start, meter)
        is_folder = entry.name.endswith("/")
        if is_folder and entry.size:
            raise ArchiveError("a folder with content of its own", entry.name)
        yield ArchiveMember(entry.name, is_folder, bool(entry.mode & 0o100), entry.size, content)
        for _ in content:
            pass


def _directory(file: BinaryIO, meter: Meter) -> list[_ZipEntry]:
    end = _end_record(file)
    _check_ends(end)
    count, size, offset = end[:3]
    if count > meter.limits.members:
        raise ArchiveError(f"it has {count:,} members; the limit is {meter.limits.members:,}")
    if size > count * (_ENTRY.size + 4 * 1024):
        raise ArchiveError("it is damaged: its directory is longer than its members allow")
    file.seek(offset)
    data = file.read(size)
    entries = []
    for _ in range(count):
        entry, data = _entry(data)
        entries.append(entry)
    if data:
        raise ArchiveError("it is damaged: its directory has more members than it says")
    return entries


class _End(NamedTuple):
    members: int
    size: int  # bytes of the directory
    offset: int  # its place, as the archive says
    before: int  # bytes before the archive
    behind: int  # bytes behind it


def _end_record(file: BinaryIO) -> _End:
    """Return what the record at the file's end says."""
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


def _check_ends(end: _End) -> None:
    if end.behind > 0:
        raise ArchiveError(f"there are {end.behind:,} more bytes behind the end of the archive")
    if end.behind < 0:
        raise ArchiveError("it is cut off in the middle of the comment at its end")
    if end.before > 0:
        raise ArchiveError(_BEFORE.format(end.before))
    if end.before < 0:
        raise ArchiveError("it is damaged: its directory is not where it says")


def is_self_extracting(file: BinaryIO) -> bool:
    """Whether a file that does not begin like a zip archive ends like one."""
    try:
        return _end_record(file).before > 0
    except ArchiveError:
        return False


def _entry(data: bytes) -> tuple[_ZipEntry, bytes]:
    if len(data) < _ENTRY.size or data[:4] != b"PK\x01\x02":
        raise ArchiveError("it is damaged: its directory cannot be read")
    (_, maker, _, flags, method, _, _, crc, packed, size, name_size, extra, comment, _, _, how,
     offset) = _ENTRY.unpack_from(data)  # fmt: skip
    rest = _ENTRY.size + name_size + extra + comment
    raw = data[_ENTRY.size : _ENTRY.size + name_size]
    mode = how >> 16 if maker >> 8 in (_UNIX, _MACOS) else 0
    name = _decode(raw, flags)
    entry = _ZipEntry(raw, name, method, flags, crc, packed, size, mode, offset)
    _check_entry(entry)
    return entry, data[rest:]


def _decode(raw: bytes, flags: int) -> str:
    """Return a name: UTF-8 if it is said or possible, else in the code page of the first PC."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        if flags & _UTF8:
            return raw.decode(errors="surrogateescape")
        return raw.decode("cp437")


def _check_entry(entry: _ZipEntry) -> None:
    kind = stat.S_IFMT(entry.mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "a device or the like"
        raise ArchiveError(f"{what}: only files and folders are taken", entry.name)
    if entry.flags & _ENCRYPTED:
        raise ArchiveError("it is encrypted", entry.name)
    if entry.method not in (_STORED, _DEFLATED):
        raise ArchiveError(f"it is compressed in an unusual way ({entry.method})", entry.name)
    if _ZIP64 in (entry.size, entry.packed, entry.offset):
        raise ArchiveError(_IS_ZIP64, entry.name)


def _data_start(file: BinaryIO, entry: _ZipEntry) -> int:
    file.seek(entry.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
        raise ArchiveError("it is damaged: the member is not where the directory says", entry.name)
    fields = _LOCAL.unpack(header)
    if (fields[3], file.read(fields[9])) != (entry.method, entry.raw_name):
        raise ArchiveError("it has another name in the archive's directory", entry.name)
    return int(entry.offset + _LOCAL.size + fields[9] + fields[10])


def _content(file: BinaryIO, entry: _ZipEntry, start: int, meter: Meter) -> Iterator[bytes]:
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


def _inflate(stream: zlib._Decompress, data: bytes, name: str) -> Iterator[bytes]:
    piece = b""
    while data or len(piece) == PIECE:  # a full piece may not have been all of it
        try:
            piece = stream.decompress(data, PIECE)
        except zlib.error as error:
            raise ArchiveError(f"its compressed data is damaged ({error})", name) from None
        data = stream.unconsumed_tail
        if piece:
            yield piece
