"""What the confined reader of an archive says, and how much of that is believed: nothing.

A frame is a letter, a length of four bytes and so many bytes: JSON, or of DATA the bytes of a
file. In this order, or it is nonsense::

    KIND    of harness.archives.archive_streams
    MEMBER  [name, is_folder, executable, size], then DATA, as many bytes as its size
    END     null; or REFUSED [message, member]: the archive is; or FAULT, a sentence: we are

A reader that an archive has taken over can say what it likes. So names are checked by who hears
them, bytes are counted, and all that is not of this form is an error of ours.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from harness.archives import archive_streams
from harness.archives.members import ArchiveMember
from harness.archives.reading import OpenArchive
from harness.errors import ArchiveError, ReadingFailedError
from harness.escaping import one_line

KIND, MEMBER, DATA, END, REFUSED, FAULT = b"K", b"M", b"D", b"E", b"R", b"F"

_HEAD = struct.Struct("!cI")

_LONGEST = 1 << 20  # bytes of a frame

_MOST_SAID = 500  # characters of a message

Take = Callable[[int], bytes]  # so many bytes, from the reader


def write(sink: BinaryIO, kind: bytes, payload: bytes) -> None:
    """Write a frame."""
    sink.write(_HEAD.pack(kind, len(payload)))
    sink.write(payload)


def say(sink: BinaryIO, kind: bytes, value: object) -> None:
    """Write a frame of JSON."""
    write(sink, kind, json.dumps(value).encode())


def write_reading(sink: BinaryIO, found: OpenArchive) -> None:
    """Write an archive that is being read, to its end; raises as its members do."""
    say(sink, KIND, found.kind)
    for member in found.members:
        say(sink, MEMBER, [member.name, member.is_folder, member.executable, member.size])
        for piece in member.content:
            write(sink, DATA, piece)
    say(sink, END, None)


def read_kind(take: Take) -> str:
    """Return the kind of the archive, which comes first.

    Raises:
        ArchiveError: it is refused.
        ReadingFailedError: the reader failed, or says something else.
    """
    kind, payload = _read(take)
    found = _json(payload) if kind == KIND else None
    if not isinstance(found, str) or found not in archive_streams.WORDS:
        raise ReadingFailedError("the reader of an archive did not say what it is")
    return found


def read_members(take: Take, most: int) -> Iterator[ArchiveMember]:
    """Yield the members, which have ``most`` bytes together; raises as :func:`read_kind`."""
    heard = _Heard(take, most)
    heard.next()
    while heard.kind == MEMBER:
        name, is_folder, executable, size = _check_member(_json(heard.payload))
        content = heard.content(size)
        yield ArchiveMember(name, is_folder, executable, size, content)
        for _ in content:
            pass
    if heard.kind != END:
        raise ReadingFailedError("the reader of an archive talks nonsense")


class _Heard:
    """The frame that was heard last."""

    def __init__(self, take: Take, most: int) -> None:
        self._take = take
        self._left = most
        self.kind, self.payload = b"", b""

    def next(self) -> None:
        self.kind, self.payload = _read(self._take)

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of a member, and hear what comes after them."""
        self.next()
        while self.kind == DATA:
            size -= len(self.payload)
            self._left -= len(self.payload)
            if min(size, self._left) < 0:
                break
            yield self.payload
            self.next()
        if size or self._left < 0:
            raise ReadingFailedError("the reader of an archive miscounts its bytes")


def _read(take: Take) -> tuple[bytes, bytes]:
    """Return the kind and payload of the next frame; raise what it reports."""
    kind, length = _HEAD.unpack(take(_HEAD.size))
    if length > _LONGEST:
        raise ReadingFailedError("the reader of an archive says too much")
    payload = take(length)
    if kind == REFUSED:
        raise _refusal(_json(payload))
    if kind == FAULT:
        raise ReadingFailedError(f"the reader of an archive failed: {_text(_json(payload))}")
    return kind, payload


def _json(payload: bytes) -> object:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        raise ReadingFailedError("the reader of an archive says what is not JSON") from None


def _refusal(value: object) -> ArchiveError:
    match value:
        case [str(message), str(member)]:
            return ArchiveError(_text(message), member)
    raise ReadingFailedError("the reader of an archive does not say why it is refused")


def _text(value: object) -> str:
    return one_line(str(value), _MOST_SAID)


def _check_member(value: object) -> tuple[str, bool, bool, int]:
    match value:
        case [str(name), bool(is_folder), bool(executable), int(size)] if size >= 0:
            return name, is_folder, executable, size
    raise ReadingFailedError("the reader of an archive does not say what a member is")
