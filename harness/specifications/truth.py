"""The source of right answers: the oracle in this process, or a program that a teacher trusts.

All rooms ask a :class:`Truth` and need not know which it is. It takes whole conversations; where
one is followed command by command, :meth:`Truth.engine` returns an engine to be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.records import Reply
from oracle.gtp.protocol import Engine


class Truth(Protocol):
    """What answers rightly."""

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        """Return the right replies to a conversation with an engine that has just been started.

        ``folder``: in which the files lie that commands name; "": the working directory. There are
        fewer replies than commands where one of them has ended the engine.
        """

    def engine(self) -> Engine:
        """Return an engine that answers rightly and has heard nothing yet."""


class InProcess:
    """The oracle: engines in this process."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        """``make``: returns a new engine."""
        self._make = make

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        """Return the right replies; see :class:`Truth`."""
        engine, found = self.engine().in_folder(folder), []
        for command in commands:
            found.append(reply_of(engine.handle(command)))
            if not engine.session.running:
                break
        return tuple(found)

    def engine(self) -> Engine:
        """Return a new engine; see :class:`Truth`."""
        return self._make()


def reply_of(raw: str) -> Reply:
    """Return an engine's answer to one command as the harness reads it off a pipe."""
    raw = raw[:-2]  # the empty line that ends it
    return Reply(raw.startswith("="), raw.partition(" ")[2].strip(), raw, 0.0)
