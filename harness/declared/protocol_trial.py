"""A program that nobody has declared yet, asked what it knows: answers, and nothing guessed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from harness.declared.program_process import ProgramProcess, ProgramStart, conversation
from harness.errors import EngineError
from harness.options import GTP, PROTOCOLS
from harness.records import FailureKind, Reply
from oracle.natures import STANDARD

_PATIENCE = 5.0  # seconds for a reply: longer, and the program speaks something else
_NOTHING = Reply(False, "", "", 0.0)


class ProtocolTrial:
    """A program under one protocol."""

    def __init__(self, asked: ProgramProcess, protocol: str) -> None:
        self.protocol = protocol
        self._asked = asked

    def replies(self, *commands: str) -> tuple[Reply, ...]:
        """Return the replies of a new process; where it breaks, refusals that say nothing.

        Raises:
            EngineError: it cannot be started.
        """
        try:
            found = tuple(self._asked.replies(conversation(commands, STANDARD)))
        except EngineError as error:
            if error.kind is FailureKind.NOT_STARTED:
                raise
            found = self._asked.answered
        return (*found, *[_NOTHING] * (len(commands) - len(found)))

    def last(self, *commands: str) -> Reply:
        """Return the reply to the last of some commands."""
        return self.replies(*commands)[-1]

    @property
    def speaks(self) -> bool:
        """Whether it answers at all under this protocol."""
        return bool(self.last("list_commands").raw)

    def list_commands(self) -> tuple[str, ...]:
        """Return the commands that it says it has; none if it does not say."""
        reply = self.last("list_commands")
        return tuple(reply.text.split()) if reply.ok else ()

    def knows(self, name: str) -> bool:
        """Whether it says that it knows a command."""
        return self.last(f"known_command {name}").text.lower() == "true"


@contextlib.contextmanager
def try_protocols(
    words: tuple[str, ...], folder: Path, sandbox: str
) -> Iterator[ProtocolTrial | None]:
    """Give a program under the first protocol that it speaks; None if it speaks none."""
    program = ProgramStart(words, folder, STANDARD, sandbox, _PATIENCE, fresh=True)
    for protocol in (GTP, *(one for one in PROTOCOLS if one != GTP)):
        with contextlib.closing(ProgramProcess(program._replace(protocol=protocol))) as asked:
            trial = ProtocolTrial(asked, protocol)
            if trial.speaks:
                yield trial
                return
    yield None
