"""The teacher's program as what is right: asked once, its answers kept on disk."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from harness.declared.answers import Answers, Said, keys
from harness.declared.declaration import Declaration
from harness.declared.engine import ReferenceEngine
from harness.declared.process import Asked, Conversation, Program
from harness.errors import EngineError, ReferenceFailedError
from harness.records import Reply
from harness.visible import one_line
from oracle.gtp.protocol import Engine, split

_SHOWN = 80  # characters of a command in a message


class Reference:
    """A program that answers rightly: the truth of a declared assignment.

    See :class:`~harness.specifications.truth.Truth`. A process is started when something is asked
    that was never asked before, and ended with the harness.
    """

    def __init__(
        self,
        program: Program,
        declaration: Declaration,
        refuses: Callable[[Reply], bool],
        files: Sequence[str] = (),
    ) -> None:
        """Take a program; ``files``: patterns of files beside it that its answers depend on."""
        self.program = program
        self._declaration = declaration
        self._refuses = refuses
        self._answers = Answers(digest(program, files))
        self._asked: dict[int, Asked] = {}  # by the id of our process: none may be shared
        atexit.register(self.close)

    def replies(self, commands: tuple[str, ...]) -> tuple[Reply, ...]:
        """Return the right replies to a conversation.

        Raises:
            ReferenceFailedError: the program broke.
        """
        until = _until_quit(commands)
        files = [self._file(command) for command in until]
        names = list(keys(map(_said, until, files)))
        known = self._answers.known(names)
        if len(known) == len(until):
            return tuple(known)
        told = (_naming(*one) for one in zip(until, files, strict=True))
        replies = self._heard(Conversation(tuple(told), tuple(names), tuple(filter(None, files))))
        self._answers.keep(names[len(known) :], replies[len(known) :])
        return tuple(replies)

    def engine(self) -> Engine:
        """Return an engine that has heard nothing yet."""
        return ReferenceEngine(self.replies, self._declaration, self._refuses)

    def close(self) -> None:
        """End the process; a later question starts another."""
        if asked := self._asked.pop(os.getpid(), None):
            asked.close()

    def _heard(self, conversation: Conversation) -> list[Reply]:
        if os.getpid() not in self._asked:
            self._asked.clear()
            self._asked[os.getpid()] = Asked(self.program)
        asked = self._asked[os.getpid()]
        with contextlib.suppress(EngineError):
            return asked.replies(conversation)
        try:
            return asked.replies(conversation)  # by a new process: the first one may have aged
        except EngineError as error:
            command = conversation.commands[len(asked.answered)]
            raise ReferenceFailedError(
                f"the reference did not answer '{one_line(command, _SHOWN)}': {error.message}"
            ) from None

    def _file(self, command: str) -> str:
        """Return the path of the file that a command names; "" if it names none that is there."""
        words = command.split()
        if len(words) < 2 or not self.program.natures[words[0]].names_file:
            return ""
        path = Path(words[1]).absolute()
        return str(path) if path.is_file() else ""


def digest(program: Program, files: Sequence[str] = ()) -> str:
    """Return what changes with all that a program's answers depend on, as far as it is known.

    That is its command, the program itself, the files that the command names with those of their
    kind around them, and ``files``, patterns of others in its folder.
    """
    found = sha256("\0".join(program.words).encode("utf-8", "surrogateescape"))
    found.update(_stamp(shutil.which(program.words[0]) or ""))
    for path in _sources(program, files):
        content = path.read_bytes()
        found.update(f"\0{path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return found.hexdigest()[:32]


def _sources(program: Program, files: Sequence[str]) -> Iterator[Path]:
    found: set[Path] = set()
    for word in program.words[1:]:
        path = program.folder / word
        if path.is_file():
            found |= {path, *path.parent.glob(f"**/*{path.suffix}" if path.suffix else path.name)}
    for pattern in files:
        found.update(program.folder.glob(pattern))
    return iter(sorted(path for path in found if path.is_file()))


def _stamp(program: str) -> bytes:
    """Return what tells one version of a program from another."""
    if not program:
        return b""
    path = Path(program).resolve()
    status = path.stat()
    return f"\0{path}\0{status.st_size}\0{status.st_mtime_ns}".encode("utf-8", "surrogateescape")


def _until_quit(commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands up to the one that ends the program."""
    ends = (i for i, one in enumerate(commands, 1) if split(one)[:1] == ["quit"])
    return commands[: next(ends, len(commands))]


def _said(command: str, file: str) -> Said:
    return command, Path(file).read_bytes() if file else b""


def _naming(command: str, file: str) -> str:
    """Return a command with the whole path of the file that it names: the program is elsewhere."""
    if not file:
        return command
    name, _, *rest = command.split()
    return " ".join([name, file, *rest])
