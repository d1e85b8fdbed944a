"""The table of protocols, replies that end with a status line, and commands sent ahead."""

import re
from collections import deque
from collections.abc import Sequence

from harness.core.errors import UsageError
from harness.core.options import PROTOCOLS
from harness.core.records import Reply
from harness.core.text import decode
from harness.engine.engine_session import EngineSession, groups
from harness.engine.replies import CR, GTP, Finder, Protocol, Splitter
from harness.reading.answer_files import EXPECTED, is_known, is_success, with_status

# A status line with the line end after it, and the empty lines that follow.
_END = re.compile(rb"(?:\A|(?<=[\r\n]))=(?!=)[^\r\n]*[\r\n](?:[ \t]*[\r\n])*")
_STATUS = re.compile(rb"(?m)^=(?!=).*$")
_UNDECODED = re.compile("[\udc80-\udcff]")
_MEMO_LENGTH, _MEMO_SIZE = 48, 4096  # bytes of an answer, answers
_SHOWN = 60  # characters of a status line in a message


class StatusLast(Protocol):
    """Answers that end with a status line."""

    name = PROTOCOLS[1]
    has_ids = False
    is_strict = True
    prelude = ()
    clock = ""
    farewell = "exit"

    def end(self, data: bytes) -> int:
        return max((found.end() for found in _END.finditer(data)), default=0)

    def is_whole(self, data: bytes) -> bool:
        last = data.rfind(b"\n", 0, -1) + 1
        is_status = data.startswith(b"=", last) and not data.startswith(b"==", last)
        return is_status and data[-1:] == b"\n" and CR not in data

    def finder(self) -> Finder:
        begun = b""  # the first bytes of the line that has not ended; it is all they tell

        def end(window: bytes, new_size: int) -> int:
            """Look for status lines in output that comes in pieces, however small, each once."""
            nonlocal begun
            data = begun + window[len(window) - new_size :]
            found = self.end(data)
            line = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
            begun = data[line : line + 2]
            return len(window) - len(data) + found if found else 0

        return end

    def splitter(self, *, strict: bool) -> Splitter:
        return _StatusSplitter()

    def lacking(self, output: bytes) -> str:
        if re.search(rb"(?:\A|[\r\n])=(?!=)[^\r\n]*\Z", output):
            return "a status line ends with a line end"
        if output.lstrip()[:1] == b"?":
            return f"an answer ends with {EXPECTED} (an error that begins with ? is GTP's)"
        return f"an answer ends with {EXPECTED}"

    def oddity(self, reply: Reply) -> str:
        if is_known(reply.status):
            return ""
        return f"ends with {reply.status[:_SHOWN]!r}, expected {EXPECTED}"


class _StatusSplitter(Splitter):
    """Cuts output into answers; nothing is left over between them."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[bytes, Reply] = {}  # most answers are alike: one record for all

    def split(self, data: bytes) -> list[Reply]:
        if CR in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        replies: list[Reply] = []
        start = 0
        for status in _STATUS.finditer(data):
            block = data[start : status.end()]
            start = status.end() + 1
            replies.append(self._seen.get(block) or self._answer(block))
        return replies

    def _answer(self, block: bytes) -> Reply:
        raw = decode(block.strip(b"\n"))
        self.not_utf8 += _UNDECODED.search(raw) is not None
        stripped = [line.strip() for line in raw.split("\n")]
        *answer, status = [line for line in stripped if line]
        text = with_status("\n".join(answer), status)
        reply = Reply(is_success(status), text, raw, 0.0, "", status)
        if block.isascii() and len(block) <= _MEMO_LENGTH and len(self._seen) < _MEMO_SIZE:
            self._seen[block] = reply
        return reply


STATUS_LAST = StatusLast()
_PROTOCOLS = {one.name: one for one in (GTP, STATUS_LAST)}


def find_protocol(name: str) -> Protocol:
    """Return the protocol of a name in :data:`harness.core.options.PROTOCOLS`.

    Raises:
        UsageError: there is none.
    """
    if name not in _PROTOCOLS:
        known = " and ".join(map(repr, _PROTOCOLS))
        raise UsageError(f"unknown protocol {name!r}; there are {known}")
    return _PROTOCOLS[name]


class Ahead:
    """Lines under way, group by group; callers with other work call :meth:`go_on`."""

    def __init__(
        self, session: EngineSession, lines: Sequence[bytes], alone: Sequence[bool]
    ) -> None:
        """Take what is to be sent; see :func:`~harness.engine.engine_session.groups`."""
        self.replies: list[Reply] = []  # so far
        self._session = session
        self._lines = lines
        self._groups = deque(groups(lines, alone))

    def begin(self) -> None:
        """Send the first group.

        Raises:
            EngineError: the engine failed.
        """
        self._session.sleep_at_once()
        if self._groups:
            self._send()

    def _send(self) -> None:
        start, end = self._groups.popleft()
        self._session.send(self._lines[start:end], self.replies)

    def go_on(self) -> None:
        """Send the next group, if there is one and replies to the last one are coming.

        Raises:
            EngineError: the engine failed.
        """
        if self._groups and self._session.stirs():
            self._session.receive()
            self._send()

    def finish(self) -> list[Reply]:
        """Wait for all replies, and return them.

        Raises:
            EngineError: the engine failed; :attr:`replies` has what came before.
        """
        while len(self.replies) < len(self._lines):
            self._session.receive()
            if self._groups:
                self._send()
        return self.replies
