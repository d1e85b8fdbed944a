"""The teacher's program as what is right: asked once, its answers kept on disk."""

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

from harness.core import file_system
from harness.core.errors import EngineError, HarnessError, ReferenceFailedError
from harness.core.records import Reply
from harness.core.text import one_line
from harness.declared.declaration import Declaration
from harness.declared.engine import ReferenceEngine
from harness.declared.program_process import ProgramProcess, ProgramStart, at_once, conversation

_SHOWN = 80  # characters of a command in a message
_CASES = (".gtp", ".tst")  # endings of files that no program reads

_asked_programs: "WeakSet[ReferenceProgram]" = WeakSet()  # those that may have a process


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
        self, program: ProgramStart, declaration: Declaration, files: Sequence[str] = ()
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
        properties = self.program.command_properties
        said = conversation(commands, properties, folder)
        # Kept are the replies up to a choice that is played: the next time it may be another one,
        # and what follows is about another board.
        ways = [properties[command.partition(" ")[0]] for command in commands]
        choices = (place for place, way in enumerate(ways, 1) if way.moves and way.chooses)
        lasting = said.keys[: next(choices, len(commands))]
        known = self._answers.find_known(lasting)
        if len(known) == len(said.keys):
            return tuple(known)
        process = self.process()
        try:
            replies = process.replies(said)
        except EngineError:
            try:
                replies = process.replies(said)  # by a new one: it may have aged
            except EngineError as error:
                command = one_line(said.commands[len(process.answered)], _SHOWN)
                raise ReferenceFailedError(
                    f"the reference did not answer '{command}': {error.message}"
                ) from None
        if process.starts != self._starts:  # has it run the program whose answers are kept?
            if digest(self.program, self._files) != self._digest:
                raise ReferenceFailedError(
                    "the files of the reference have changed since it was first asked: begin again"
                )
            self._starts = process.starts
        self._answers.keep(lasting[len(known) :], replies[len(known) : len(lasting)])
        return tuple(replies)

    def begin(
        self, conversations: Sequence[tuple[str, ...]], folder: str = ""
    ) -> "ReferenceHearing":
        """Send conversations that nobody asks again, and do not wait; see :meth:`replies`."""
        return ReferenceHearing(self, conversations, folder)

    def engine(self) -> ReferenceEngine:
        """Return an engine that has heard nothing yet."""
        return ReferenceEngine(self.replies, self.declaration, self.program.refuses)

    def close(self) -> None:
        """End the process; a later question starts another."""
        if asked := self._asked.pop(os.getpid(), None):
            asked.close()

    def process(self) -> ProgramProcess:
        """Return the process that is asked; it starts a program when there is a question."""
        if os.getpid() not in self._asked:
            self._asked.clear()
            self._asked[os.getpid()] = ProgramProcess(self.program)
            _asked_programs.add(self)
            self._starts = 0
        return self._asked[os.getpid()]


class ReferenceHearing:
    """Conversations under way to a reference; what they may not share a process with is alone."""

    def __init__(
        self, reference: ReferenceProgram, conversations: Sequence[tuple[str, ...]], folder: str
    ) -> None:
        """Send conversations; ``folder``: in which the files lie that commands name."""
        self._reference = reference
        self._conversations = conversations
        self._folder = folder
        self._several = reference.process().begin(conversations)

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        if self._several:
            self._several.go_on()

    def replies(self) -> list[tuple[Reply, ...]]:
        """Return the right replies to each conversation.

        Raises:
            ReferenceFailedError: the program broke.
        """
        program = self._reference.program
        heard = list(self._several.replies()) if self._several else repeat(())
        found = []
        for commands, replies in zip(self._conversations, heard, strict=False):
            # All must have been answered, and the board begun: else the last one would stay.
            opening = replies[: len(at_once(commands, program.command_properties))]
            if len(replies) < len(commands) or any(map(program.refuses, opening)):
                found.append(self._reference.replies(commands, self._folder))
            else:
                found.append(replies)
        return found


def digest(program: ProgramStart, files: Sequence[str] = ()) -> str:
    """Return what changes with all that a program's answers depend on, as far as it is known.

    That is its command, the program itself, its table of words, the files and folders that the
    command names with files of their kind around them, and ``files``, patterns of others in its
    folder. Where the command names none (``java Game``), it is the files beside the declaration.
    """
    found = sha256("\0".join(program.words).encode("utf-8", "surrogateescape"))
    if place := shutil.which(program.words[0]):
        path = Path(place).resolve()
        status = path.stat()
        stamp = f"\0{path}\0{status.st_size}\0{status.st_mtime_ns}"
        found.update(stamp.encode("utf-8", "surrogateescape"))
    table = [Path(program.translate).name] if program.translate else []
    for path in sources(program.words, program.folder, (*files, *table)):
        content = path.read_bytes()
        found.update(f"\0{path}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return found.hexdigest()[:32]


def state(words: Sequence[str], folder: Path, files: Sequence[str]) -> Sequence[object]:
    """Return what is the same as long as nobody writes to the files of a program.

    It is asked for again and again: the folder is not searched anew for it.
    """
    found: list[tuple[int, ...]] = []
    for path in _sources_once(tuple(words), folder, tuple(files)):
        try:
            status = path.stat()
            found.append((status.st_size, status.st_mtime_ns, status.st_ino))
        except FileNotFoundError:
            found.append(())
    return tuple(found)


def sources(words: Sequence[str], folder: Path, files: Sequence[str]) -> list[Path]:
    """Return the files of a program, as far as they are known; see :func:`digest`."""
    first, *rest = words
    modules = [one.replace(".", "/") for before, one in pairwise(words) if before == "-m"]
    own = [first] if "/" in first and not first.startswith("/") else []
    named = [*own, *rest, *modules, *(f"{one}.py" for one in modules)]
    found = {path for word in named for path in _find_named_files(folder / word)}
    found = found or set(filter(_may_matter, folder.iterdir()))
    for pattern in files:
        found.update(folder.glob(pattern))
    return sorted(path for path in found if path.is_file())


_sources_once = cache(sources)


def find_unlisted_files(words: Sequence[str], folder: Path, files: Sequence[str]) -> list[str]:
    """Return what lies in the folder of a program, is named in its files and is none of them.

    Its answers may depend on that, and would be kept although it changes.
    """
    known = sources(words, folder, files)
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in known)

    def is_named(path: Path) -> bool:
        name = re.escape(path.name)
        if path.is_dir():  # as the beginning of a path
            return re.search(rf"[\"']{name}[\"'/]", text) is not None
        return _may_matter(path) and re.search(rf"(?<![\w.-]){name}(?![\w-])", text) is not None

    named = filter(is_named, sorted(folder.iterdir()))
    return [path.name for path in named if not any(one.is_relative_to(path) for one in known)]


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
        unknown = [key for key in keys if key not in self._recent]
        for start in range(0, len(unknown), _AT_ONCE):
            some = unknown[start : start + _AT_ONCE]
            query = f"SELECT key, reply FROM answer WHERE key IN ({','.join('?' * len(some))})"
            for key, reply in self._connection.execute(query, some):
                self._recent[key] = Reply(*json.loads(reply))
        return [self._recent[key] for key in takewhile(self._recent.__contains__, keys)]

    def keep(self, keys_: Iterable[bytes], replies: Iterable[Reply]) -> None:
        """Keep answers."""
        found = dict(zip(keys_, replies, strict=True))
        self._recent.update(found)
        rows = ((key, json.dumps(reply)) for key, reply in found.items())
        with contextlib.suppress(sqlite3.OperationalError), self._connection as connection:
            connection.executemany("INSERT OR IGNORE INTO answer VALUES (?, ?)", rows)

    @property
    def _connection(self) -> sqlite3.Connection:
        if os.getpid() not in self._connections:
            self._connections.clear()
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                found = _prepare(sqlite3.connect(self._path, timeout=_PATIENCE))
            except (OSError, sqlite3.Error):
                found = _prepare(sqlite3.connect(":memory:"))
            self._connections[os.getpid()] = found
        return self._connections[os.getpid()]


def _prepare(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # what is lost is asked again
    connection.execute(
        "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, reply TEXT) WITHOUT ROWID"
    )
    return connection
