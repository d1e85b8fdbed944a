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

from harness.engine.engine_session import EngineSession, groups
from harness.engine.process import EngineProcess
from harness.engine.protocols import Ahead, find_protocol
from harness.engine.translation import sessions_of
from harness.errors import EngineError
from harness.options import GTP, BoxLimits, Limits, Options
from harness.records import CaseFile, Reply
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
    sandbox: str = "auto"  # one of harness.options.SANDBOXES
    timeout: float = 60.0  # seconds for a reply
    fresh: bool = False  # a new process for each conversation
    protocol: str = GTP  # one of harness.options.PROTOCOLS
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
    files = [_file(command, command_properties, folder) for command in said]
    contents = [Path(file).read_bytes() if file else b"" for file in files]
    told = (_command_with_file(*one) for one in zip(said, files, strict=True))
    names = keys(zip(said, contents, strict=True))
    return Conversation(tuple(told), tuple(names), tuple(filter(None, files)))


def _file(command: str, command_properties: PropertyTable, folder: str) -> str:
    """Return the path of the file that a command names; "" if it names none that is there."""
    words = command.split()
    if len(words) < 2 or not command_properties[words[0]].names_file:
        return ""
    path = Path(folder, words[1]).absolute()
    return str(path) if path.is_file() else ""


def _command_with_file(command: str, file: str) -> str:
    if not file:
        return command
    name, _, *rest = command.split()
    return " ".join([name, file, *rest])


class ConversationsUnderWay:
    """Conversations under way to a process, while the harness does something else."""

    def __init__(self, ahead: Ahead, lengths: Sequence[int]) -> None:
        """``lengths``: of the conversations; 0 for those that were not sent."""
        self._ahead = ahead
        self._lengths = lengths
        self._failed = False
        self.is_open = True
        self._try(ahead.begin)

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        if self.is_open:
            self._try(self._ahead.go_on)

    def finish(self) -> bool:
        """Wait for all replies; return whether they came."""
        if self.is_open:
            self._try(self._ahead.finish)
            self.is_open = False
        return not self._failed

    def _try(self, step: Callable[[], object]) -> None:
        try:
            if not self._failed:
                step()
        except EngineError:
            self._failed = True

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
        self._protocol = find_protocol(program.protocol)
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
        commands = [command for one in heard for command in one]
        lines = list(map(line_of, commands))
        alone = self._program.command_properties.alone
        ahead = Ahead(self._session, lines, [alone[command] for command in commands])
        self._said = ()
        self._several = ConversationsUnderWay(ahead, list(map(len, heard)))
        return self._several

    def _hears(self, commands: tuple[str, ...]) -> bool:
        """Whether another conversation may be had; if so, note what it leaves behind."""
        if self._name_files(commands):
            return False
        if may := self._may_hear(Conversation(commands, ())):
            self._note(commands)
        return may

    def _name_files(self, commands: tuple[str, ...]) -> bool:
        command_properties = self._program.command_properties
        unknown = set(commands) - self._plain
        if any(command_properties[name_of(one)].names_file for one in unknown):
            return True
        if len(self._plain) < _REMEMBERED:
            self._plain |= unknown
        return False

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
        if not (self._session and self._goes_on(conversation)):
            is_used = self._session and self._may_hear(conversation)
            if not (is_used and self._begins(conversation)):
                self._restart(conversation.files)
        self._said = conversation.keys
        self._ask(conversation.commands[len(self._replies) :])
        return list(self._replies)

    def _begins(self, conversation: Conversation) -> bool:
        """Ask a used process what sets all; return whether it did: else the last board stays."""
        self._replies, self._said = [], ()
        self._ask(at_once(conversation.commands, self._program.command_properties))
        return not any(map(self._program.refuses, self._replies))

    @property
    def command_properties(self) -> PropertyTable:
        """Command properties."""
        return self._program.command_properties

    @property
    def answered(self) -> tuple[Reply, ...]:
        """The replies to the last conversation, up to where the program broke."""
        return tuple(self._replies)

    def close(self) -> None:
        """End the process and its box."""
        self._end()
        self._sandbox.close()

    def _goes_on(self, conversation: Conversation) -> bool:
        is_longer = conversation.keys[: len(self._said)] == self._said
        return bool(self._said) and is_longer and set(conversation.files) <= set(self._shown)

    def _may_hear(self, conversation: Conversation) -> bool:
        """Whether another conversation may be had with this process."""
        command_properties, commands = self._program.command_properties, conversation.commands
        if self._program.fresh or conversation.files or not commands:
            return False
        is_sized = SIZE in command_properties[name_of(commands[0])].renews
        return is_sized and self._modes <= _parts(
            at_once(commands, command_properties), command_properties
        )

    def _ask(self, commands: Sequence[str]) -> None:
        assert self._session is not None
        alone = self._program.command_properties.alone
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
            self._modes |= _modes(name, self._program.command_properties)
        if len(self._noted) < _REMEMBERED:
            self._noted |= unknown

    def _restart(self, files: tuple[str, ...]) -> None:
        self._end()
        self.starts += 1
        self._shown, self._replies = files, []
        case = CaseFile(str(self._program.folder / "conversation"), (), ())
        launcher = self._sandbox.launcher(case, files)
        own, spoken = self._program, self._protocol
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


def _modes(name: str, command_properties: PropertyTable) -> set[str]:
    """Return the parts that a command leaves otherwise for conversations to come."""
    properties = command_properties[name]
    if not properties.is_known:
        return {name}  # who knows: no conversation takes it back
    return set(properties.lasting) - {SIZE}


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


def _parts(commands: Sequence[str], command_properties: PropertyTable) -> set[str]:
    """Return the parts that commands set."""
    return {part for command in commands for part in command_properties[name_of(command)].sets}
