"""The bytes of an archive, decompressed piece by piece and counted."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from harness.errors import ArchiveError
from harness.intake import kinds
from harness.intake.archive_limits import MIB, Meter

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
    if kind == kinds.TAR:
        while piece := file.read(PIECE):
            yield piece
        return
    try:
        yield from _decompress(file, _Gzip if kind == kinds.GZIP else _new_xz)
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
