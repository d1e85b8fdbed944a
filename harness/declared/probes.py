"""A program that nobody has declared yet: what is asked of it, and what its words tell."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from harness.core.errors import EngineError
from harness.core.options import GTP, PROTOCOLS
from harness.core.records import FailureKind, Reply
from harness.declared.declaration import Argument, DeclaredGame, Drawn
from harness.declared.game_state import vertex_of
from harness.declared.program_process import ProgramProcess, ProgramStart, conversation
from harness.reading.answer_files import is_known
from harness.reading.pattern import escape_text
from oracle.command_properties import STANDARD

_NAME = re.compile(r"[A-Za-z][\w-]*")
_PATIENCE = 5.0  # seconds for a reply: longer, and the program speaks something else
_NOTHING = Reply(False, "", "", 0.0)
LISTERS = ("list_commands", "help")  # what a program may say its commands after
_ENOUGH = 2  # good replies
# What shows a protocol, where no test does.
_PROBES = (*LISTERS, "name", "boardsize 3", "clear_board")


class ProtocolTrial:
    """A program under one protocol.

    Attributes: ``failure``, how it broke the last time that it did; ``box``, where it runs.
    """

    def __init__(self, process: ProgramProcess, protocol: str) -> None:
        self.protocol = protocol
        self.failure: EngineError | None = None
        self.box = process.box
        self.raw = ""  # the last reply, as it came
        self._asked = process

    @property
    def stderr(self) -> str:
        """Standard error before it broke."""
        return self._asked.stderr

    def replies(self, *commands: str) -> tuple[Reply, ...]:
        """Return the replies of a new process; where it breaks, refusals that say nothing.

        A conversation that continues the last one goes on with its process.

        Raises:
            EngineError: it cannot be started.
        """
        try:
            found = tuple(self._asked.replies(conversation(commands, STANDARD)))
        except EngineError as error:
            if error.kind is FailureKind.NOT_STARTED:
                raise
            found, self.failure = self._asked.answered, error
        self.raw = found[-1].raw if found else ""
        return (*found, *[_NOTHING] * (len(commands) - len(found)))

    def last(self, *commands: str) -> Reply:
        """Return the reply to the last of some commands."""
        return self.replies(*commands)[-1]

    def count_good(self, conversations: tuple[tuple[str, ...], ...]) -> int:
        """Return how many replies show that it speaks this protocol; a refusal shows nothing.

        ``= 1`` is a reply of GTP as well, but a status line if it ends with it.
        """
        found = 0
        for commands in conversations:
            for reply in self.replies(*commands):
                is_status = self.protocol == GTP and is_known(f"= {reply.text}")
                found += reply.ok and not reply.is_refusal and not is_status
            if self.failure and not found:
                break  # it is dead, or waits for something else
        return found

    def knows(self, name: str) -> bool:
        """Whether it says that it knows a command."""
        return self.last(f"known_command {name}").text.lower() == "true"


def list_commands(ask: Callable[[str], Reply]) -> tuple[str, ...]:
    """Return the commands that a program says it has when it is asked; none if it does not say."""
    for lister in LISTERS:
        reply = ask(lister)
        lines = reply.text.split("\n")
        names = (
            reply.text.split() if lister == LISTERS[0] else [one.split(" ")[0] for one in lines]
        )
        found = tuple(filter(_NAME.fullmatch, names))
        if len(found) > 1 and not reply.is_refusal:
            return found
    return ()


class NoProtocolError(Exception):
    """A program that gives no good reply under any protocol.

    Attributes: ``seen``, by protocol what happened; ``stderr``, the end of what it wrote there;
    ``box``, where it ran.
    """

    def __init__(self, seen: dict[str, str], stderr: str, box: str) -> None:
        super().__init__(seen, stderr, box)
        self.seen, self.stderr, self.box = seen, stderr, box


@contextlib.contextmanager
def try_protocols(
    start: ProgramStart, conversations: tuple[tuple[str, ...], ...], fixed_protocol: str = ""
) -> Iterator[ProtocolTrial]:
    """Give a program under the protocol under which most of its replies are good.

    ``conversations``: of tests; without any, it is asked what programs usually know.
    ``fixed_protocol``: the protocol, if somebody knows it.

    Raises:
        NoProtocolError: it gives no good reply under any.
        EngineError: it cannot be started.
    """
    asked = conversations or tuple((one,) for one in _PROBES)
    seen: dict[str, str] = {}
    counts: dict[str, int] = {}
    stderr, box = "", ""
    for protocol in [fixed_protocol] if fixed_protocol else PROTOCOLS:
        with _open(start, protocol) as trial:
            counts[protocol] = trial.count_good(asked)
            seen[protocol] = str(trial.failure or f"its last answer is {trial.raw!r}")
            stderr, box = trial.stderr or stderr, trial.box
        if counts[protocol] >= _ENOUGH:
            break
    best = max(counts, key=lambda one: counts[one])
    if not counts[best]:
        raise NoProtocolError(seen, stderr, box)
    with _open(start, best) as trial:
        yield trial


@contextlib.contextmanager
def _open(start: ProgramStart, protocol: str) -> Iterator[ProtocolTrial]:
    own = start._replace(protocol=protocol, timeout=_PATIENCE, fresh=True)
    with contextlib.closing(ProgramProcess(own)) as asked:
        yield ProtocolTrial(asked, protocol)


# --- What is tried with a program of which nothing is known, and what its words tell. Pure -------


Shape = tuple[Argument, ...]

_ENDS = ("quit", "exit")
_OVER = re.compile(r"(?i)result|winner|over|final|status|end")
A_COLOR, A_VERTEX = Argument(Drawn.COLOR), Argument(Drawn.VERTEX)
# Arguments to try where no test has any, the likeliest first.
TRIED: tuple[Shape, ...] = (
    (),
    (A_COLOR,),
    (A_VERTEX,),
    (A_COLOR, A_VERTEX),
    (A_VERTEX, Argument(words=("1", "2", "3"))),
    (Argument(words=("5",)),),
)


def tells_end(name: str) -> bool:
    """Whether a question seems to be about the end of a game, by its name."""
    return _OVER.search(name) is not None


def is_about_engine(name: str) -> bool:
    """Whether a command says nothing of a game."""
    if name in (*_ENDS, *LISTERS):
        return True
    properties = STANDARD.get(name)
    return properties is not None and not properties.needs and not properties.sets_up


def pattern_of(texts: Sequence[str]) -> str:
    """Return an expression found in all of some texts, as short as it tells; "" if none is.

    That is the beginning that they share, without the arguments in it, or each of them.
    """
    if not texts:
        return ""
    alike = itertools.takewhile(lambda signs: len(set(signs)) == 1, zip(*texts, strict=False))
    shared = "".join(signs[0] for signs in alike)
    words = re.match(r"[^\W\d]+( [^\W\d]+)*(?=\W|$)", shared)
    if len(texts) == 1 and (not words or words[0] == texts[0]):
        return f"^{escape_text(texts[0])}$"
    if words:
        return f"(?i){escape_text(' '.join(words[0].split()[:2]))}"
    return f"^({'|'.join(map(escape_text, texts))})$"


def sides(words: Sequence[str]) -> list[int]:
    """Return the one or two numbers at the beginning of what begins a board."""
    return [int(one) for one in itertools.takewhile(str.isdigit, words)][:2]


def size_of(numbers: Sequence[int]) -> tuple[int, int]:
    """Return columns and rows, of which one number tells both."""
    return numbers[0], numbers[-1]


def resize(line: str, size: tuple[int, int]) -> str:
    """Return what begins a board of another size."""
    name, *words = line.split()
    count = len(sides(words))
    return " ".join([name, *map(str, size[:count]), *words[count:]])


def list_pairs(
    name: str, words: Sequence[str], size: tuple[int, int]
) -> Iterable[tuple[tuple[str, int, int], bool]]:
    """Yield neighboring numbers: whose, where, from which origin, and whether they are on it."""
    for place, (one, other) in enumerate(itertools.pairwise(words)):
        if one.isdigit() and other.isdigit():
            for origin in (0, 1):
                column, row = int(one) - origin, int(other) - origin
                yield (name, place, origin), 0 <= column < size[0] and 0 <= row < size[1]


def sample(argument: Argument, game: DeclaredGame) -> str:
    """Return a text that may be an argument of a first command."""
    if argument == A_VERTEX:
        return vertex_of((0, 0), game)
    return game.colors[0] if argument == A_COLOR else argument.words[0]
