"""An engine's output, cut into replies. Pure: bytes in, records out.

GTP 2, section 2.4: a reply is ``=`` or ``?``, an id if the command had one, a blank and text,
and ends with two consecutive newlines. As under gogui-regress, lines that precede the ``=`` or
``?`` belong to no reply ("invalid"), and the text begins after the first blank of the reply.
"""

from __future__ import annotations

import re
from sys import intern

from harness.records import Reply

# What Java's String.trim() takes off: everything up to the blank.
BLANKS = "".join(map(chr, range(33)))

# Engines that print CR or CR LF: the CR of a CR LF is no line of its own.
_END_WITH_CR = re.compile(rb"\n\r?\n|\n\r|\r\r")
_UNDECODED = re.compile("[\udc80-\udcff]")
_REPLY_START = re.compile(rb"^[=?]", re.MULTILINE)

_TAB = re.compile(r"[=?][0-9]*\t")
_ID = re.compile(r"[=?]([0-9]+)")

_MEMO_LENGTH = 48
_MEMO_SIZE = 4096


def end_of_last_reply(data: bytes) -> int:
    """Return the index behind the last empty line of ``data``, 0 if there is none."""
    if b"\r" not in data:
        return data.rfind(b"\n\n") + 2 if b"\n\n" in data else 0
    return max((found.end() for found in _END_WITH_CR.finditer(data)), default=0)


def decode(data: bytes) -> str:
    """Return ``data`` as text: UTF-8, with any other byte as a lone surrogate.

    So bytes match the same bytes only, whatever the encoding, and :func:`encode` restores them.
    """
    return data.decode("utf-8", "surrogateescape")


def foreign_id(raw: str, wanted: int) -> str:
    """Return the id of a reply if it is another than the command's, ``wanted``, else ``""``.

    A reply without an id has none that could be wrong, and a command without one asks for none.
    """
    found = _ID.match(raw) if wanted >= 0 else None
    # Not as a number: there are ids too long to be read as one.
    return found[1] if found and found[1].lstrip("0") != f"{wanted or ''}" else ""


def encode(text: str) -> bytes:
    """Return the bytes of which :func:`decode` made ``text``."""
    return text.encode("utf-8", "surrogateescape")


class Splitter:
    """Cuts output into replies and remembers what belonged to none.

    ``not_utf8`` counts the replies that were no UTF-8. ``tabs``: a tab after the id is a blank,
    which it is not under gogui-regress.
    """

    def __init__(self, *, tabs: bool = False) -> None:
        self.not_utf8 = 0
        self._tabs = tabs
        self._stray: list[bytes] = []  # blocks that belong to no reply, since the last one
        # Most replies are alike, an empty "= " above all: one record serves them all.
        self._memo: dict[bytes, Reply] = {}

    @property
    def invalid(self) -> bytes:
        """The output since the last reply that belongs to none."""
        return b"\n\n".join(self._stray)

    def split(self, data: bytes) -> list[Reply]:
        """Return the replies in ``data``, which ends with an empty line; ``seconds`` is 0."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        replies = []
        for block in data[:-2].split(b"\n\n"):
            reply = self._memo.get(block)
            if reply is None or self._stray:
                reply = self._reply(block)
            if reply is not None:
                replies.append(reply)
        return replies

    def _reply(self, block: bytes) -> Reply | None:
        start = _REPLY_START.search(block)
        if start is None:
            if block.strip(b"\n"):
                self._stray.append(block)
            return None
        invalid = b"\n\n".join([*self._stray, block[: start.start()]]).strip(b"\n")
        self._stray.clear()
        reply = self._record(block[start.start() :], invalid)
        if not invalid and len(block) <= _MEMO_LENGTH and len(self._memo) < _MEMO_SIZE:
            self._memo[block] = reply
        return reply

    def _record(self, block: bytes, invalid: bytes) -> Reply:
        raw = decode(block.rstrip(b"\n"))
        self.not_utf8 += not block.isascii() and _UNDECODED.search(raw) is not None
        text = raw.partition(" ")[2].strip(BLANKS)
        if self._tabs and (found := _TAB.match(raw)):
            text = raw[found.end() :].strip(BLANKS)
        if len(text) < _MEMO_LENGTH:
            text = intern(text)
        return Reply(raw[0] == "=", text, raw, 0.0, decode(invalid))
