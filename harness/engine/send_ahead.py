"""Much that is sent to an engine, while the harness does something else."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from harness.engine.engine_session import EngineSession, groups
from harness.records import Reply


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
