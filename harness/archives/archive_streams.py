"""Archives as bytes: their kind, how much they may hold, and a metered stream of them."""

from __future__ import annotations

import lzma
import time
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from harness.errors import ArchiveError

KIB = 1024
MIB = 1024 * KIB
_SLACK = MIB  # unpacked bytes that are never too many for the ratio: a file of blanks is one
_HINT = ": hand in your own files, without virtual environments and what tools have made"


class IntakeLimits(NamedTuple):
    """What is taken in. Bytes, seconds and counts; submissions are far below all of them."""

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


# --- The kind of a submitted file, detected from its first bytes and not from its name -----------


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
_SUFFIXES = {
    GZIP: (".tgz", ".tar.gz"),
    XZ: (".tar.xz", ".txz"),
    TAR: (".tar",),
    ZIP: (".zip",),
}
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
    return len(block) == HEAD and _sum_in(block) in _sums(block)


def _sum_in(block: bytes) -> int | None:
    """Return the checksum that a header has; None if it has no number."""
    digits = block[148:156].strip(b" \0")
    return int(digits, 8) if digits and set(digits) <= _OCTAL else None


def _sums(block: bytes) -> tuple[int, int]:
    """Return the checksum of a header, and as some old programs have it, of signed bytes."""
    rest = block[:148] + b" " * 8 + block[156:]
    return sum(rest), sum(byte - 256 if byte > 127 else byte for byte in rest)


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


def describe_mismatch(name: str, found: str) -> str:
    """Return a sentence when a file's name promises another kind of archive, else ``""``."""
    low = name.lower()
    if low.endswith(_SUFFIXES[found]):
        return ""
    promised = next((k for k, ends in _SUFFIXES.items() if low.endswith(ends)), "")
    if not promised:
        return f"It is {WORDS[found]}, though its name does not say so."
    return f"It is {WORDS[found]}, though its name says {WORDS[promised]}."


# --- The bytes of an archive, decompressed piece by piece and counted ----------------------------


PIECE = 1 << 16
_XZ_MEMORY = 96 * MIB  # xz -9 needs 65; a file may ask for gigabytes


class _Gzip:
    """zlib's decompressor with the manners of lzma's: it keeps its own unread input."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        """Whether its stream has ended."""
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """What was given to it behind the end."""
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        """Whether all that was given to it has been used."""
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        """Return up to ``most`` bytes more."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, most)


def _new_xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)


def pieces(file: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the unpacked bytes of a tar archive, compressed or not, in small pieces."""
    if kind == TAR:
        while piece := file.read(PIECE):
            yield piece
        return
    try:
        yield from _decompress(file, _Gzip if kind == GZIP else _new_xz)
    except (zlib.error, lzma.LZMAError) as error:
        if "Memory" in str(error):
            most = f"{_XZ_MEMORY:,} bytes"
            raise ArchiveError(f"it needs more than the limit of {most} to unpack") from None
        raise ArchiveError(f"its compressed data is damaged ({error})") from None


def _decompress(
    file: BinaryIO, new: Callable[[], _Gzip | lzma.LZMADecompressor]
) -> Iterator[bytes]:
    """Yield what one compressed stream after the other holds; zeros may fill up the end."""
    data = file.read(PIECE)
    while data:
        stream = new()
        while not stream.eof:
            is_empty = stream.needs_input  # else it may have more, or just the piece that it gave
            data = data or (file.read(PIECE) if is_empty else b"")
            piece = stream.decompress(data, PIECE)
            if piece:
                yield piece
            elif is_empty and not (data or stream.eof):
                raise ArchiveError("it is cut off in the middle of its compressed data")
            data = b""
        data = _without_padding(stream.unused_data, file)


def _without_padding(data: bytes, file: BinaryIO) -> bytes:
    while not (data := data.lstrip(b"\0")):
        if not (data := file.read(PIECE)):
            return b""
    return data


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
