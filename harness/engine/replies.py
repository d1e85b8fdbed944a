"""Protocols of engines, and their output cut into replies. Pure: bytes in, records out.

A :class:`Protocol` says how a command is written, where its reply ends and what a refusal is. GTP
is the first one; :mod:`harness.engine.protocols` has the others.

GTP 2, section 2.4: a reply is ``=`` or ``?``, an id if the command had one, a blank and text,
and ends with two consecutive newlines. As under gogui-regress, lines that precede the ``=`` or
``?`` belong to no reply ("invalid"), and the text begins after the first blank of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import intern

from harness.core.options import PROTOCOLS
from harness.core.records import Reply
from harness.core.text import BLANKS, decode

Finder = Callable[[bytes, int], int]
CR = ord("\r")  # a number is looked for in bytes ten times as fast as bytes are
# Engines that print CR or CR LF: the CR of a CR LF is not a line of its own.
_END_WITH_CR = rb"\n\r?\n|\n\r|\r\r"
_UNDECODED = "[\udc80-\udcff]"
_REPLY_START = rb"(?m)^[=?]"
_TAB = r"[=?][0-9]*\t"
_ID = r"[=?]([0-9]+)"
_MEMO_LENGTH = 48
_MEMO_SIZE = 4096
_new = tuple.__new__


def end_of_last_reply(data: bytes) -> int:
    """Return the index behind the last empty line of ``data``, 0 if there is none."""
    if CR not in data:
        end = data.rfind(b"\n\n")
        return end + 2 if end >= 0 else 0
    return max((found.end() for found in re.finditer(_END_WITH_CR, data)), default=0)


def foreign_id(raw: str, command_id: int) -> str:
    """Return the id of a reply if it is another than the command's, ``command_id``, else ``""``.

    A reply without an id has none that could be wrong, and a command without one asks for none.
    """
    found = re.match(_ID, raw) if command_id >= 0 else None
    # Not as a number: there are ids too long to be read as one.
    return found[1] if found and found[1].lstrip("0") != f"{command_id or ''}" else ""


class _Memo(dict[bytes, Reply]):
    """The reply that each block makes which begins as one. Most are alike: one record for all.

    Raises :class:`KeyError` for any other block.
    """

    def __init__(self, record: Callable[[bytes, bytes], Reply]) -> None:
        super().__init__()
        self._record = record

    def __missing__(self, block: bytes) -> Reply:
        if not block.startswith((b"=", b"?")):
            raise KeyError(block)
        reply = self._record(block, b"")
        if len(block) <= _MEMO_LENGTH and len(self) < _MEMO_SIZE:
            self[block] = reply
        return reply


class Splitter:
    """Cuts output into replies and remembers what belonged to none.

    ``not_utf8`` counts the replies that were not UTF-8. ``tabs``: a tab after the id is a blank,
    which it is not under gogui-regress.
    """

    def __init__(self, *, tabs: bool = False) -> None:
        self.not_utf8 = 0
        self._tabs = tabs
        self._stray: list[bytes] = []  # blocks that belong to no reply, since the last one
        self._memo = _Memo(self._record)

    @property
    def invalid(self) -> bytes:
        """The output since the last reply that belongs to none."""
        return b"\n\n".join(self._stray)

    def split(self, data: bytes) -> list[Reply]:
        """Return the replies in ``data``, which ends with an empty line; ``seconds`` is 0."""
        if CR in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        blocks = data[:-2].split(b"\n\n")
        if not self._stray:
            try:
                return list(map(self._memo.__getitem__, blocks))
            except KeyError:
                pass  # a block does not begin as a reply
        return [reply for reply in map(self._reply, blocks) if reply is not None]

    def _reply(self, block: bytes) -> Reply | None:
        start = re.search(_REPLY_START, block)
        if start is None:
            if block.strip(b"\n"):
                self._stray.append(block)
            return None
        invalid = b"\n\n".join([*self._stray, block[: start.start()]]).strip(b"\n")
        self._stray.clear()
        return self._record(block[start.start() :], invalid)

    def _record(self, block: bytes, invalid: bytes) -> Reply:
        raw = block.rstrip(b"\n").decode("utf-8", "surrogateescape")
        if not block.isascii() and re.search(_UNDECODED, raw):
            self.not_utf8 += 1
        text = raw.partition(" ")[2].strip(BLANKS)
        if self._tabs and (found := re.match(_TAB, raw)):
            text = raw[found.end() :].strip(BLANKS)
        if len(text) < _MEMO_LENGTH:
            text = intern(text)
        before = decode(invalid) if invalid else ""
        return _new(Reply, (raw[0] == "=", text, raw, 0.0, before, ""))


class Protocol:
    """The Go Text Protocol."""

    name = PROTOCOLS[0]
    has_ids = True  # a command may begin with a number, which its reply repeats
    is_strict = False  # a reply always answers the command that was sent before it came
    prelude: tuple[str, ...] = ("name", "version", "cputime")  # the harness's own, before a file
    clock = "cputime"  # what it asks again at the end, to compare; "" if nothing
    farewell = "quit"

    def end(self, data: bytes) -> int:
        """Return the index behind the last reply in ``data``, which begins with one; or 0."""
        return end_of_last_reply(data)

    def is_whole(self, data: bytes) -> bool:
        """Whether ``data``, which begins with a reply, ends with one; False if in doubt.

        It is asked of all that is read, which nearly always is whole.
        """
        return data[-2:] == b"\n\n" and CR not in data

    def finder(self) -> Finder:
        """Return what looks for the end of the reply that begins now, as it comes in."""
        return lambda window, _: end_of_last_reply(window)

    def splitter(self, *, strict: bool) -> Splitter:
        """Return what cuts output into replies; ``strict``: as grading listens."""
        return Splitter(tabs=strict)

    def lacking(self, output: bytes) -> str:
        """Return why output is not a reply yet: a clause that follows "but"."""
        has_status = output.rstrip().rpartition(b"\n")[2] in {b"= 1", b"= -1"}
        hint = " (is the engine's --protocol 'status last'?)" if has_status else ""
        if output[:1] not in b"=?":
            return f"a reply begins with = or ?{hint}"
        return f"a reply ends with an empty line{hint}"

    def oddity(self, reply: Reply) -> str:
        """Return what is wrong with how a reply ends: words that follow it; "" if nothing."""
        return ""


GTP = Protocol()


class BothEnds:
    """Keeps the first and the last bytes of a stream, no more than ``size`` together."""

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._head = b""
        self._tail = b""
        self.total = 0  # bytes seen

    @property
    def overflows(self) -> bool:
        """Whether something had to be left out."""
        return self.total > 2 * self._half

    def add(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :]

    def text(self) -> str:
        """Return what was kept, with a note where something is left out."""
        dropped = self.total - len(self._head) - len(self._tail)
        gap = f"\n[… {dropped:,} bytes left out …]\n".encode() if dropped else b""
        return (self._head + gap + self._tail).decode(errors="replace")
