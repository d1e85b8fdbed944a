"""Archives as bytes: how much they may hold, their kind, a metered stream, names of members."""

import lzma
import re
import time
import unicodedata
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from harness.core.errors import ArchiveError

KIB = 1024
MIB = 1024 * KIB
_SLACK = MIB  # unpacked bytes that are never too many for the ratio: a file of blanks is one
_HINT = ": hand in your own files, without virtual environments and what tools have made"


class IntakeLimits(NamedTuple):
    """Limits of intake. Bytes, seconds and counts; submissions are far below all of them."""

    compressed: int = 32 * MIB
    unpacked: int = 128 * MIB
    members: int = 10_000  # a virtual environment has thousands, and is left out
    ratio: int = 100  # unpacked to compressed
    depth: int = 16  # folders within one another
    name: int = 512  # bytes of a whole name; 255 of each part, as file systems have it
    seconds: float = 20.0  # of CPU time: a busy machine is not the archive's fault


class Meter:
    """Counts what an archive of so many bytes unpacks to, and stops it in time.

    Every method raises :class:`ArchiveError` when a limit is passed.
    """

    def __init__(self, limits: IntakeLimits, compressed: int) -> None:
        self.limits = limits
        self._compressed = compressed
        self._unpacked = 0
        self._members = 0
        self._deadline = time.thread_time() + limits.seconds
        if compressed > limits.compressed:
            raise ArchiveError(
                f"the archive has {compressed:,} bytes; the limit is {limits.compressed:,}"
            )

    def count_unpacked(self, count: int) -> None:
        """Count unpacked bytes.

        Raises:
            ArchiveError: they are more than a limit allows, or reading takes too long.
        """
        self._unpacked += count
        limits = self.limits
        if self._unpacked > limits.unpacked:
            raise ArchiveError(
                f"it unpacks to more than the limit of {limits.unpacked:,} bytes{_HINT}"
            )
        if self._unpacked > limits.ratio * self._compressed + _SLACK:
            raise ArchiveError(
                f"it unpacks to more than {limits.ratio} times its size, as a zip bomb does"
            )
        if time.thread_time() > self._deadline:
            raise ArchiveError(f"reading it takes more than {limits.seconds:g} s of CPU time")

    def member(self) -> None:
        """Count a member."""
        self._members += 1
        if self._members > self.limits.members:
            raise ArchiveError(
                f"it has more members than the limit of {self.limits.members:,}{_HINT}"
            )


# The kind of a submitted file is detected from its first bytes and not from its name.
TAR, GZIP, XZ, ZIP = "tar", "gzip", "xz", "zip"
HEAD = 512  # bytes that are needed
_OCTAL = frozenset(b"01234567")

_SIGNS = ((b"\x1f\x8b", GZIP), (b"\xfd7zXZ\0", XZ), (b"PK\x03\x04", ZIP), (b"PK\x05\x06", ZIP))
# What else students hand in, in words.
_OTHERS = (
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xd0\xcf\x11\xe0", "a Word document"),
)
_SUFFIXES = {GZIP: (".tgz", ".tar.gz"), XZ: (".tar.xz", ".txz"), TAR: (".tar",), ZIP: (".zip",)}
WORDS = {
    GZIP: "a tar archive compressed with gzip",
    XZ: "a tar archive compressed with xz",
    TAR: "a tar archive, not compressed",
    ZIP: "a zip archive",
}


def kind(head: bytes) -> str:
    """Return the kind of archive that begins with ``head``, empty for anything else."""
    for sign, found in _SIGNS:
        if head.startswith(sign):
            return found
    return TAR if is_tar_header(head) else ""


def is_tar_header(block: bytes) -> bool:
    """Whether a block of 512 bytes is the header of a tar member, as its checksum says."""
    digits = block[148:156].strip(b" \0")
    if len(block) != HEAD or not digits or not set(digits) <= _OCTAL:
        return False
    rest = block[:148] + b" " * 8 + block[156:]
    signed = (byte - 256 if byte > 127 else byte for byte in rest)  # as some old programs add up
    return int(digits, 8) in (sum(rest), sum(signed))


def describe_kind(head: bytes) -> str:
    """Return what a file that is not an archive seems to be, in words."""
    if not head:
        return "an empty file"
    for sign, words in _OTHERS:
        if head.startswith(sign):
            return words
    if head.lstrip()[:1] == b"<":
        return "a web page"
    printable = all(byte >= 32 or byte in b"\t\n\r" for byte in head)
    return "a text file" if printable else "a file of an unknown kind"


def describe_mismatch(name: str, kind: str) -> str:
    """Return a sentence when a file's name promises another kind of archive, else ``""``."""
    low = name.lower()
    if low.endswith(_SUFFIXES[kind]):
        return ""
    promised = next((k for k, ends in _SUFFIXES.items() if low.endswith(ends)), "")
    if not promised:
        return f"It is {WORDS[kind]}, though its name does not say so."
    return f"It is {WORDS[kind]}, though its name says {WORDS[promised]}."


PIECE = 1 << 16
_XZ_MEMORY = 96 * MIB  # xz -9 needs 65; a file may ask for gigabytes


class _Gzip:
    """zlib's decompressor with the manners of lzma's: it keeps its own unread input."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        """Whether all that was given to it has been used."""
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        """Return up to ``most`` bytes more."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)


def pieces(file: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the unpacked bytes of a tar archive, compressed or not, in small pieces."""
    if kind == TAR:
        while piece := file.read(PIECE):
            yield piece
        return
    try:
        yield from _decompress(file, kind)
    except (zlib.error, lzma.LZMAError) as error:
        if "Memory" in str(error):
            most = f"{_XZ_MEMORY:,} bytes"
            raise ArchiveError(f"it needs more than the limit of {most} to unpack") from None
        raise ArchiveError(f"its compressed data is damaged ({error})") from None


def _decompress(file: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield what one compressed stream after the other holds; zeros may fill up the end."""
    data = file.read(PIECE)
    while data:
        is_gzip = kind == GZIP
        stream = _Gzip() if is_gzip else lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)
        while not stream.eof:
            is_empty = stream.needs_input  # else it may have more, or just the piece that it gave
            data = data or (file.read(PIECE) if is_empty else b"")
            piece = stream.decompress(data, PIECE)
            if piece:
                yield piece
            elif is_empty and not (data or stream.eof):
                raise ArchiveError("it is cut off in the middle of its compressed data")
            data = b""
        data = stream.unused_data.lstrip(b"\0")
        while not data and (padding := file.read(PIECE)):
            data = padding.lstrip(b"\0")


class Stream:
    """Unpacked bytes, read in the amounts that are wanted; the meter counts them."""

    def __init__(self, parts: Iterator[bytes], meter: Meter) -> None:
        self._parts = parts
        self._meter = meter
        self._rest = b""

    def some(self, most: int) -> bytes:
        """Return up to ``most`` bytes, none at the end only."""
        if not self._rest:
            self._rest = next(self._parts, b"")
            self._meter.count_unpacked(len(self._rest))
        piece, self._rest = self._rest[:most], self._rest[most:]
        return piece

    def exactly(self, size: int) -> bytes:
        """Return ``size`` bytes, which must be few, or what is left before the end."""
        found = []
        while size and (piece := self.some(size)):
            found.append(piece)
            size -= len(piece)
        return b"".join(found)


class ArchiveMember(NamedTuple):
    """A file or a folder, its name not yet looked at."""

    name: str
    is_folder: bool
    executable: bool
    size: int  # as the archive says; content is cut off or refused where it says otherwise
    content: Iterator[bytes]  # in small pieces


_LONGEST_PART = 255  # bytes: no file system of today takes more
_ROOM = 15  # bytes of these that a mended name leaves, to tell it from others like it
# Controls, marks that are not seen or turn the direction of writing, halves of characters,
# separators of lines and paragraphs: none of them is in an honest name.
_UNFIT = {
    "Cc": "a control character",
    "Cf": "an invisible or bidirectional character",
    "Cs": "a byte that is not UTF-8",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}


def check_name(name: str, limits: IntakeLimits) -> tuple[str, ...]:
    """Return the parts of a member's name, without those that are ``.``; empty for ``./`` itself.

    Raises:
        ArchiveError: it leads elsewhere, or cannot be a file's name.
    """
    parts = name.split("/")
    unfit = next((c for c in name if unicodedata.category(c) in _UNFIT), "")
    kind = _UNFIT[unicodedata.category(unfit)] if unfit else ""
    size = len(name.encode(errors="surrogatepass"))
    longest = max(len(part.encode(errors="surrogatepass")) for part in parts)
    faults = (
        (not name, "a member without a name"),
        (unfit, f"the name has {kind} in it (U+{ord(unfit or ' '):04X})"),
        (name.startswith("/") or re.match("[A-Za-z]:", name), "the name is absolute"),
        (".." in parts, "the name leads out of the folder"),
        ("\\" in name, "the name has a backslash in it"),
        (size > limits.name, f"the name has {size:,} bytes; the limit is {limits.name}"),
        (
            longest > _LONGEST_PART,
            f"a part of the name has {longest} bytes; the limit is {_LONGEST_PART}",
        ),
        (len(parts) > limits.depth + 1, f"the folders are more than {limits.depth} deep"),
    )
    for is_fault, reason in faults:
        if is_fault:
            raise ArchiveError(reason, name)
    return tuple(part for part in parts if part not in ("", "."))


def mend_name(name: str, limits: IntakeLimits = IntakeLimits()) -> str:  # noqa: B008
    """Return a name as one that can be written below a folder, whatever it is made of.

    For a download, in which a student's file name must not stand in the way of the whole class.
    """
    parts = [_mend_part(part) for part in name.split("/") if part not in ("", ".")]
    deepest = "_".join(parts[limits.depth - 1 :])
    return "/".join([*parts[: limits.depth - 1], _mend_part(deepest)] if deepest else parts) or "_"


def _mend_part(part: str) -> str:
    fit = "".join("_" if unicodedata.category(c) in _UNFIT or c == "\\" else c for c in part)
    short = fit.encode()[: _LONGEST_PART - _ROOM].decode(errors="ignore")
    return "__" if short == ".." else short


class MemberNames:
    """The names met so far. No two may be one and the same on some file system."""

    def __init__(self) -> None:
        self._spelled: dict[str, str] = {}  # by what file systems may compare
        self._files: set[str] = set()

    def add(self, parts: tuple[str, ...], is_folder: bool) -> None:
        """Take in a member's name.

        Raises:
            ArchiveError: it is there already; it differs from another in case or Unicode form
                only; or one is a file and the other a folder.
        """
        name = "/".join(parts)
        for depth in range(1, len(parts)):
            self._add_folder("/".join(parts[:depth]), name)
        if is_folder:
            self._add_folder(name, name)
            return
        self._compare(name, name)
        if _fold(name) in self._spelled:
            twice = "occurs twice" if name in self._files else "is both a file and a folder"
            raise ArchiveError(f"the name {twice}", name)
        self._spelled[_fold(name)] = name
        self._files.add(name)

    def _add_folder(self, folder: str, member: str) -> None:
        self._compare(folder, member)
        if folder in self._files:
            raise ArchiveError(f"{folder!r} is both a file and a folder", member)
        self._spelled[_fold(folder)] = folder

    def _compare(self, name: str, member: str) -> None:
        other = self._spelled.get(_fold(name), name)
        if other != name:
            raise ArchiveError(
                f"the name differs from {other!r} in case or Unicode form only", member
            )


def _fold(name: str) -> str:
    """Return what is the same for names that some file system holds to be the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
