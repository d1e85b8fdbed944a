"""The teacher's program as what is right: asked once, its answers kept on disk."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise, repeat, takewhile
from pathlib import Path
from weakref import WeakSet

from harness import file_system
from harness.declared.declaration import Declaration
from harness.declared.engine import ReferenceEngine
from harness.declared.program_process import (
    Conversation,
    ConversationsUnderWay,
    ProgramProcess,
    ProgramStart,
    at_once,
    conversation,
)
from harness.errors import EngineError, HarnessError, ReferenceFailedError
from harness.records import Reply
from harness.text import one_line

_SHOWN = 80  # characters of a command in a message
_CASES = (".gtp", ".tst")  # endings of files that no program reads

_asked_programs: WeakSet[ReferenceProgram] = WeakSet()  # those that may have a process


@atexit.register
def end_processes() -> None:
    """End the processes of all references in this process; later questions start others.

    Who lives long calls it after each piece of work: a program that only waits keeps its memory,
    and is looked at twenty times a second.
    """
    for program in list(_asked_programs):
        with contextlib.suppress(HarnessError):  # it may have ended before
            program.close()


class ReferenceProgram:
    """A program that answers rightly: the truth of a declared assignment.

    See :class:`~harness.specifications.record.Truth`. A process is started when something is asked
    that was never asked before, and ended by :func:`end_processes`, at the latest with the
    harness.
    """

    def __init__(
        self,
        program: ProgramStart,
        declaration: Declaration,
        files: Sequence[str] = (),
    ) -> None:
        """Take a program; ``files``: patterns of files beside it that its answers depend on."""
        self.program = program
        self.declaration = declaration
        self._files = files
        self._digest = digest(program, files)
        self._answers = ReferenceAnswers(self._digest)
        self._asked: dict[int, ProgramProcess] = {}  # by the id of our process: none may be shared
        self._starts = 0  # of its processes, that ran the program with this digest

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        """Return the right replies to a conversation.

        ``folder``: in which the files lie that commands name; "": the working directory.

        Raises:
            ReferenceFailedError: the program broke.
        """
        said = conversation(commands, self.program.command_properties, folder)
        lasting = said.keys[: self._count_settled(commands)]
        known = self._answers.find_known(lasting)
        if len(known) == len(said.keys):
            return tuple(known)
        replies = self._hear(said)
        self._answers.keep(lasting[len(known) :], replies[len(known) : len(lasting)])
        return tuple(replies)

    def begin(
        self, conversations: Sequence[tuple[str, ...]], folder: str = ""
    ) -> ReferenceHearing:
        """Send conversations that nobody asks again, and do not wait; see :meth:`replies`."""
        return ReferenceHearing(self, conversations, folder, self._own().begin(conversations))

    def _count_settled(self, commands: tuple[str, ...]) -> int:
        """Return how many replies will be the same again: up to a choice that is played.

        The next time it may be another one, and what follows is about another board.
        """
        for place, command in enumerate(commands, 1):
            properties = self.program.command_properties[command.partition(" ")[0]]
            if properties.moves and properties.chooses:
                return place
        return len(commands)

    def engine(self) -> ReferenceEngine:
        """Return an engine that has heard nothing yet."""
        return ReferenceEngine(self.replies, self.declaration, self.program.refuses)

    def close(self) -> None:
        """End the process; a later question starts another."""
        if asked := self._asked.pop(os.getpid(), None):
            asked.close()

    def _own(self) -> ProgramProcess:
        if os.getpid() not in self._asked:
            self._asked.clear()
            self._asked[os.getpid()] = ProgramProcess(self.program)
            _asked_programs.add(self)
            self._starts = 0
        return self._asked[os.getpid()]

    def _hear(self, conversation: Conversation) -> list[Reply]:
        asked = self._own()
        replies = self._ask(asked, conversation)
        self._see_unchanged(asked)
        return replies

    def _see_unchanged(self, process: ProgramProcess) -> None:
        """See that each process has run the program whose answers are kept.

        Raises:
            ReferenceFailedError: its files have changed since.
        """
        if process.starts == self._starts:
            return
        if digest(self.program, self._files) != self._digest:
            raise ReferenceFailedError(
                "the files of the reference have changed since it was first asked: begin again"
            )
        self._starts = process.starts

    @staticmethod
    def _ask(process: ProgramProcess, conversation: Conversation) -> list[Reply]:
        with contextlib.suppress(EngineError):
            return process.replies(conversation)
        try:
            return process.replies(conversation)  # by a new process: the first one may have aged
        except EngineError as error:
            command = conversation.commands[len(process.answered)]
            raise ReferenceFailedError(
                f"the reference did not answer '{one_line(command, _SHOWN)}': {error.message}"
            ) from None


class ReferenceHearing:
    """Conversations under way to a reference; what they may not share a process with is alone."""

    def __init__(
        self,
        reference: ReferenceProgram,
        conversations: Sequence[tuple[str, ...]],
        folder: str,
        batch: ConversationsUnderWay | None,
    ) -> None:
        """``batch``: those of them that were sent; None: none was. ``folder``: of files."""
        self._reference = reference
        self._conversations = conversations
        self._folder = folder
        self._several = batch

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        if self._several:
            self._several.go_on()

    def replies(self) -> list[tuple[Reply, ...]]:
        """Return the right replies to each conversation.

        Raises:
            ReferenceFailedError: the program broke.
        """
        found = list(self._several.replies()) if self._several else repeat(())
        both = zip(self._conversations, found, strict=False)
        return [
            heard if self._are_sound(said, heard) else self._reference.replies(said, self._folder)
            for said, heard in both
        ]

    def _are_sound(self, commands: tuple[str, ...], replies: tuple[Reply, ...]) -> bool:
        """Whether all were answered, and the board was begun: else the last one would stay."""
        program = self._reference.program
        opening = replies[: len(at_once(commands, program.command_properties))]
        return len(replies) == len(commands) and not any(map(program.refuses, opening))


def digest(program: ProgramStart, files: Sequence[str] = ()) -> str:
    """Return what changes with all that a program's answers depend on, as far as it is known.

    That is its command, the program itself, its table of words, the files and folders that the
    command names with files of their kind around them, and ``files``, patterns of others in its
    folder. Where the command names none (``java Game``), it is the files beside the declaration.
    """
    found = sha256("\0".join(program.words).encode("utf-8", "surrogateescape"))
    found.update(_stamp(shutil.which(program.words[0]) or ""))
    for path in sources(program.words, program.folder, (*files, *_table(program))):
        content = path.read_bytes()
        found.update(f"\0{path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return found.hexdigest()[:32]


def state(words: Sequence[str], folder: Path, files: Sequence[str]) -> Sequence[object]:
    """Return what is the same as long as nobody writes to the files of a program.

    It is asked for again and again: the folder is not searched anew for it.
    """
    return tuple(map(_write_stamp, _sources_once(tuple(words), folder, tuple(files))))


@cache
def _sources_once(words: tuple[str, ...], folder: Path, files: tuple[str, ...]) -> Sequence[Path]:
    return sources(words, folder, files)


def _write_stamp(path: Path) -> tuple[int, ...]:
    """Return what tells that a file was written to; nothing of one that is gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


def sources(words: Sequence[str], folder: Path, files: Sequence[str]) -> list[Path]:
    """Return the files of a program, as far as they are known; see :func:`digest`."""
    found = {path for word in _beside(words) for path in _find_named_files(folder / word)}
    found = found or set(filter(_may_matter, folder.iterdir()))
    for pattern in files:
        found.update(folder.glob(pattern))
    return sorted(path for path in found if path.is_file())


def find_unlisted_files(words: Sequence[str], folder: Path, files: Sequence[str]) -> list[str]:
    """Return what lies in the folder of a program, is named in its files and is none of them.

    Its answers may depend on that, and would be kept although it changes.
    """
    known = sources(words, folder, files)
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in known)
    named = [path for path in sorted(folder.iterdir()) if _is_named(path, text)]
    return [path.name for path in named if not any(one.is_relative_to(path) for one in known)]


def _is_named(path: Path, text: str) -> bool:
    """Whether a file is named in a program, or a folder as the beginning of a path."""
    name = re.escape(path.name)
    if path.is_dir():
        return re.search(rf"[\"']{name}[\"'/]", text) is not None
    return _may_matter(path) and re.search(rf"(?<![\w.-]){name}(?![\w-])", text) is not None


def _beside(words: Sequence[str]) -> Sequence[str]:
    """Return the words that may name a file beside the declaration."""
    first, *rest = words
    modules = [one.replace(".", "/") for before, one in pairwise(words) if before == "-m"]
    own = [first] if "/" in first and not first.startswith("/") else []
    return [*own, *rest, *modules, *(f"{one}.py" for one in modules)]


def _find_named_files(path: Path) -> Iterator[Path]:
    """Yield the files that a word of a command names, and those of their kind."""
    if path.is_dir():
        yield from filter(_may_matter, path.rglob("*"))
    elif path.is_file():
        yield path
        if path.suffix:
            yield from path.parent.rglob(f"*{path.suffix}")


def _may_matter(path: Path) -> bool:
    """Whether a program may be made of a file."""
    return not path.name.startswith(".") and path.suffix not in (*_CASES, ".pyc")


def _table(program: ProgramStart) -> Sequence[str]:
    """Return its table of words as a pattern in its folder."""
    return [Path(program.translate).name] if program.translate else []


def _stamp(program: str) -> bytes:
    """Return what tells one version of a program from another."""
    if not program:
        return b""
    path = Path(program).resolve()
    status = path.stat()
    return f"\0{path}\0{status.st_size}\0{status.st_mtime_ns}".encode("utf-8", "surrogateescape")


# --- Answers of a reference, kept on disk: what was asked once is not asked again ----------------
# One SQLite file for each state of a reference, in the cache. An answer's key is a digest of the
# whole conversation up to its command, with the contents of the files that commands name.


_AT_ONCE = 500  # keys of one query
_REMEMBERED = 50_000  # answers at hand
_PATIENCE = 10.0  # seconds to wait for another process that writes


class ReferenceAnswers:
    """The answers of one reference. Where nothing can be kept, they last as long as this does."""

    def __init__(self, name: str) -> None:
        """``name``: a digest of all that the answers depend on beside what is asked."""
        self._path = Path(file_system.cache(), "references", f"{name}.sqlite")
        # A conversation is asked again with each command more: what was just read is at hand.
        self._recent: dict[bytes, Reply] = {}
        self._connections: dict[int, sqlite3.Connection] = {}  # by process: none may be shared

    def find_known(self, keys: Sequence[bytes]) -> list[Reply]:
        """Return the answers to the first commands of a conversation, up to one not known."""
        if len(self._recent) > _REMEMBERED:
            self._recent.clear()
        self._read([key for key in keys if key not in self._recent])
        return [self._recent[key] for key in takewhile(self._recent.__contains__, keys)]

    def _read(self, keys: Sequence[bytes]) -> None:
        """Remember those answers that are kept."""
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, reply FROM answer WHERE key IN ({marks})"
            for key, reply in self._connection.execute(query, some):
                self._recent[key] = Reply(*json.loads(reply))

    def keep(self, keys_: Iterable[bytes], replies: Iterable[Reply]) -> None:
        """Keep answers."""
        found = dict(zip(keys_, replies, strict=True))
        self._recent.update(found)
        rows = ((key, json.dumps(reply)) for key, reply in found.items())
        with contextlib.suppress(sqlite3.OperationalError), self._connection as connection:
            connection.executemany("INSERT OR IGNORE INTO answer VALUES (?, ?)", rows)

    @property
    def _connection(self) -> sqlite3.Connection:
        found = self._connections.get(os.getpid())
        if found is None:
            self._connections.clear()
            found = self._connections[os.getpid()] = self._open()
        return found

    def _open(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return _prepare(sqlite3.connect(self._path, timeout=_PATIENCE))
        except (OSError, sqlite3.Error):
            return _prepare(sqlite3.connect(":memory:"))


def _prepare(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # what is lost is asked again
    connection.execute(
        "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, reply TEXT) WITHOUT ROWID"
    )
    return connection
