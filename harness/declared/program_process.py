"""A program that is asked whole conversations: its process, kept for as long as that is sound.

A process is asked further commands if a conversation continues the last one. It is asked another
conversation only if that one begins a board of a size and repeats every setting that was made
before: modes outlive games. Anything else gets a new process.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import EngineError
from harness.core.options import GTP, BoxLimits, Limits, Options
from harness.core.records import CaseFile, Failure, Reply
from harness.engine.engine_session import EngineSession, groups
from harness.engine.process import EngineProcess
from harness.engine.protocols import Ahead, find_protocol
from harness.engine.translation import sessions_of
from harness.running.runs import sandbox_for
from harness.vocabulary.script import line_of, name_of
from oracle.command_properties import SIZE, PropertyTable
from oracle.gtp.protocol import split

_VERSION = b"1"  # of the way in which answers are kept

Said = tuple[str, bytes]  # a command, and what is in the file that it names


def keys(conversation: Iterable[Said]) -> Iterator[bytes]:
    """Yield the key of the answer to each command of a conversation."""
    digest = blake2b(_VERSION, digest_size=16)
    for command, content in conversation:
        line = command.encode("utf-8", "surrogateescape")
        digest.update(b"%d %b\n%d %b\n" % (len(line), line, len(content), content))
        yield digest.digest()


_REMEMBERED = 20_000  # commands
_QUIT = 1.0  # seconds that it is given to end


class ProgramStart(NamedTuple):
    """Start of a program."""

    words: tuple[str, ...]
    folder: Path
    command_properties: PropertyTable  # what its commands do
    sandbox: str = "auto"  # one of harness.core.options.SANDBOXES
    timeout: float = 60.0  # seconds for a reply
    fresh: bool = False  # a new process for each conversation
    protocol: str = GTP  # one of harness.core.options.PROTOCOLS
    refuses: Callable[[Reply], bool] = attrgetter("is_refusal")  # whether a reply refuses
    translate: str = ""  # the path of a table of its words; "" if it has ours

    @property
    def command(self) -> list[str]:
        """The words of its command, with a program beside the declaration found from anywhere."""
        first = self.words[0]
        return [str(self.folder / first) if "/" in first else first, *self.words[1:]]

    @property
    def environment(self) -> tuple[str, ...]:
        """Folder of a program with a whole path, such as a Python of an environment."""
        first = self.words[0]
        is_there = Path(first).is_absolute() and Path(first).is_file()
        from harness.sandbox.view import paths_of  # not on every system, where nothing is started

        return tuple(paths_of(first)) if is_there else ()

    @property
    def limits(self) -> Limits:
        """Limits on time; its standard error is kept to name its end."""
        return Limits(timeout=self.timeout, startup=self.timeout, quit=_QUIT)


class Conversation(NamedTuple):
    """Commands to a program that has just been started."""

    commands: tuple[str, ...]
    keys: tuple[bytes, ...]  # of its parts up to each command: equal for what is the same
    files: tuple[str, ...] = ()  # absolute paths that commands name


def conversation(
    commands: tuple[str, ...], command_properties: PropertyTable, folder: str = ""
) -> Conversation:
    """Return what is said; ``folder``: in which the files lie that commands name.

    They are named by their whole paths: the program is started elsewhere. Nothing is said after
    ``quit``.
    """
    ends = (i for i, one in enumerate(commands, 1) if split(one)[:1] == ["quit"])
    said = commands[: next(ends, len(commands))]
    told, files = list(said), [""] * len(said)
    for place, command in enumerate(said):
        name, *words = command.split() or [""]
        if words and command_properties[name].names_file:
            path = Path(folder, words[0]).absolute()
            if path.is_file():
                files[place] = str(path)
                told[place] = " ".join([name, str(path), *words[1:]])
    contents = [Path(file).read_bytes() if file else b"" for file in files]
    names = keys(zip(said, contents, strict=True))
    return Conversation(tuple(told), tuple(names), tuple(filter(None, files)))


class ConversationsUnderWay:
    """Conversations under way to a process, while the harness does something else.

    Attributes: ``is_open``, whether their replies are what the process sends next; ``failure``,
    how it broke.
    """

    def __init__(
        self,
        session: EngineSession,
        conversations: Sequence[Sequence[str]],
        command_properties: PropertyTable,
    ) -> None:
        """Send conversations; those that are empty are not asked."""
        commands = [command for one in conversations for command in one]
        alone = [command_properties.alone[command] for command in commands]
        self.is_open = True
        self.failure: Failure | None = None
        self._ahead = Ahead(session, list(map(line_of, commands)), alone)
        self._lengths = list(map(len, conversations))
        self._try(self._ahead.begin)

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        if self.is_open:
            self._try(self._ahead.go_on)

    def finish(self) -> bool:
        """Wait for all replies; return whether they came."""
        if self.is_open:
            self._try(self._ahead.finish)
            self.is_open = False
        return self.failure is None

    def _try(self, step: Callable[[], object]) -> None:
        if self.failure is None:
            try:
                step()
            except EngineError as error:
                self.failure = error.failure

    def replies(self) -> Iterator[tuple[Reply, ...]]:
        """Yield the replies to each conversation, fewer where the process broke."""
        self.finish()
        start = 0
        for length in self._lengths:
            yield tuple(self._ahead.replies[start : start + length])
            start += length


class ProgramProcess:
    """A program, asked one conversation after the other."""

    def __init__(self, program: ProgramStart) -> None:
        self._program = program
        self.command_properties = program.command_properties
        # The longest-lived first: closing it ends the box in which processes run.
        self._sandbox = sandbox_for(
            Options(sandbox=program.sandbox, box=BoxLimits(cpu=0.0), show=program.environment),
            [],
            program.command_properties,
        )
        self.box = self._sandbox.description  # in words
        self.stderr = ""  # the end of what the last process that broke wrote there
        self.starts = 0  # of processes
        self._session: EngineSession | None = None
        self._shown: tuple[str, ...] = ()  # files that its box was made with
        self._said: tuple[bytes, ...] = ()  # keys of the conversation under way
        self._replies: list[Reply] = []  # to it
        self._modes: set[str] = set()  # parts that were set and outlive a board
        self._noted: set[str] = set()  # commands whose modes are among them
        self._plain: set[str] = set()  # commands that name no file
        self._several: ConversationsUnderWay | None = None

    def begin(self, conversations: Sequence[tuple[str, ...]]) -> ConversationsUnderWay | None:
        """Send conversations one after the other, and do not wait.

        Left out are those that this process may not hear. None if there is no process yet.
        """
        self._settle()
        if self._session is None:
            return None
        heard = [one if self._hears(one) else () for one in conversations]
        self._said = ()
        self._several = ConversationsUnderWay(self._session, heard, self.command_properties)
        return self._several

    def _hears(self, commands: tuple[str, ...]) -> bool:
        """Whether another conversation may be had; if so, note what it leaves behind."""
        unknown = set(commands) - self._plain
        if any(self.command_properties[name_of(one)].names_file for one in unknown):
            return False
        if len(self._plain) < _REMEMBERED:
            self._plain |= unknown
        if may := self._may_hear(Conversation(commands, ())):
            self._note(commands)
        return may

    def _settle(self) -> None:
        """Finish the conversations under way, or end the process."""
        if self._several and not self._several.finish():
            self._end()
        self._several = None

    def replies(self, conversation: Conversation) -> list[Reply]:
        """Return the replies to a conversation.

        Raises:
            EngineError: the program broke. What it answered before is :attr:`answered`.
        """
        self._settle()
        said, files = self._said, conversation.files
        goes_on = said and conversation.keys[: len(said)] == said and set(files) <= {*self._shown}
        if not (self._session and goes_on):
            if is_used := self._session and self._may_hear(conversation):
                # It is asked what sets all; what it refuses leaves the last board as it is.
                self._replies, self._said = [], ()
                self._ask(at_once(conversation.commands, self.command_properties))
                is_used = not any(map(self._program.refuses, self._replies))
            if not is_used:
                self._restart(files)
        self._said = conversation.keys
        self._ask(conversation.commands[len(self._replies) :])
        return list(self._replies)

    @property
    def answered(self) -> tuple[Reply, ...]:
        """The replies to the last conversation, up to where the program broke."""
        return tuple(self._replies)

    def close(self) -> None:
        """End the process and its box."""
        self._end()
        self._sandbox.close()

    def _may_hear(self, conversation: Conversation) -> bool:
        """Whether another conversation may be had with this process."""
        properties, commands = self.command_properties, conversation.commands
        if self._program.fresh or conversation.files or not commands:
            return False
        sets = {
            part
            for command in at_once(commands, properties)
            for part in properties[name_of(command)].sets
        }
        return SIZE in properties[name_of(commands[0])].renews and self._modes <= sets

    def _ask(self, commands: Sequence[str]) -> None:
        assert self._session is not None
        alone = self.command_properties.alone
        lines = list(map(line_of, commands))
        self._note(commands)
        try:
            for start, end in groups(lines, [alone[command] for command in commands]):
                self._session.ask(lines[start:end], self._replies)
        except BaseException:  # after Ctrl-C, too, nobody knows what it has heard
            self.stderr = self._session.stderr
            self._end()
            raise

    def _note(self, commands: Sequence[str]) -> None:
        """Note what commands leave otherwise for conversations to come."""
        unknown = set(commands) - self._noted
        for name in set(map(name_of, unknown)):
            properties = self.command_properties[name]
            # Of what is not known, no conversation takes back what it did.
            self._modes |= set(properties.lasting) - {SIZE} if properties.is_known else {name}
        if len(self._noted) < _REMEMBERED:
            self._noted |= unknown

    def _restart(self, files: tuple[str, ...]) -> None:
        self._end()
        self.starts += 1
        self._shown, self._replies = files, []
        case = CaseFile(str(self._program.folder / "conversation"), (), ())
        launcher, own = self._sandbox.launcher(case, files), self._program
        spoken = find_protocol(own.protocol)
        process = EngineProcess(
            launcher, own.command, str(own.folder), own.limits, protocol=spoken
        )
        begin = sessions_of(own.translate)
        self._session = begin(process, own.limits, strict=True, protocol=spoken)

    def _end(self) -> None:
        self._several = None
        if self._session:
            self._session.close()
            self._session = None
        self._said, self._modes, self._noted = (), set(), set()


def at_once(commands: Sequence[str], command_properties: PropertyTable) -> Sequence[str]:
    """Return what a conversation sets before it does anything else, each command once."""
    names: set[str] = set()
    for place, command in enumerate(commands):
        name = name_of(command)
        properties = command_properties[name]
        is_opening = properties.is_known and (properties.begins_board or properties.is_setting)
        if name in names or not is_opening:
            return commands[:place]
        names.add(name)
    return commands
