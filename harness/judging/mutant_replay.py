"""Conversations put to mutants: answers are shared with the reference engine where they can be.

A mutant does as the reference engine until it is sent a command that its mistake changes. There it
gets a copy of the reference engine's session and goes on alone, until its session is the same
again. Most mistakes change one answer and nothing else; of a game with one question at its end,
mutants are asked the question alone.

What is shared is never written on: a mistake may change the last moment of a game, and each copy
has its own; where moves are taken back, any moment may become the last.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import zip_longest
from random import Random
from typing import Any, NamedTuple

from harness.core.records import CaseFile, Failure, FailureKind, Reply, Step
from harness.judging import in_process
from harness.specifications.record import reply_of
from oracle.errors import VertexError
from oracle.gtp.protocol import Engine, is_number, split
from oracle.mistakes import Breakdown, Hang, Mistake
from oracle.mistakes.bank import table_with
from oracle.position import Point, parse_vertex

# Attributes of a session and its game that are not compared as they are.
_APART = ("commands", "game", "_random", "_states")


def answers_of_mutants(
    case: CaseFile, mistakes: Sequence[Mistake]
) -> Iterator[tuple[Step, dict[str | Breakdown, int]]]:
    """Yield each step and the different answers to it, with the mutants that give each as bits.

    ``mistakes``: one for each mutant, all of one assignment. Those in a command that the file
    does not send are left out. As by :func:`harness.judging.in_process.answers`, nobody is asked
    anything more after a breakdown or ``quit``.
    """
    used = {step.command.partition(" ")[0] for step in case.steps}
    shown = [one for one in enumerate(mistakes) if not used.isdisjoint(one[1].commands)]
    if not shown:
        return
    engine = in_process.mutant((), mistakes[0].assignment)
    right = engine.commands
    path = RightPath(case.steps, engine.in_folder(in_process.folder_of(case)))
    found: list[dict[str | Breakdown, int]] = [{} for _ in case.steps]
    for place, mistake in shown:
        answered = path.answers_of(table_with(right, [mistake]), [mistake])
        for given, raw in zip(found, answered, strict=False):
            given[raw] = given.get(raw, 0) | 1 << place
    yield from zip(case.steps, found, strict=True)


def takes_back(steps: Sequence[Step]) -> bool:
    """Whether moves may be taken back."""
    return any("undo" in step.command for step in steps)


def command_name(line: str) -> str:
    """Return the name that an engine looks up for a line; "" for a line without one."""
    words = split(line)
    return next((word for word in words[:2] if not is_number(word)), "")


class RightPath:
    """A conversation with the reference engine, which mutants leave where they do otherwise."""

    def __init__(
        self, steps: Sequence[Step], engine: Engine, replies: Sequence[Reply | None] = ()
    ) -> None:
        """``engine``: right, where the conversation begins.

        ``replies``: of another engine; where it chose a move, all choose that one if they can.
        """
        self._steps = steps
        self._replies = replies
        self._names = [command_name(step.text) for step in steps]
        self._takes_back = takes_back(steps)
        self._before: list[Any] = []  # sessions, as each command found them
        self._answers: list[str | Breakdown] = []
        self._follow(engine, 0)
        for step in steps:
            self._before.append(copy_of(engine.session, self._takes_back))
            self._answers.append(in_process.answer(engine, step.text))
            if isinstance(self._answers[-1], Breakdown) or not engine.session.running:
                return

    def answers_of(
        self, table: dict[str, Any], mistakes: Collection[Mistake]
    ) -> Iterator[str | Breakdown]:
        """Yield what a mutant with a table of commands answers, which makes some mistakes."""
        changed = {name for one in mistakes for name in one.commands}
        changed |= {"gogui-play_sequence"} if "play" in changed else set()  # which sends it
        mutant: Engine | None = None  # while it stands elsewhere than the reference engine
        for place, step in enumerate(self._steps):
            if not mutant and place == len(self._answers):
                return  # the reference engine has ended
            if not mutant and self._names[place] not in changed:
                yield self._answers[place]
                continue
            if not mutant:
                session = copy_of(self._before[place], self._takes_back)
                session.commands = table
                mutant = Engine(session)
                self._follow(mutant, place)
            yield (raw := in_process.answer(mutant, step.text))
            if isinstance(raw, Breakdown) or not mutant.session.running:
                return
            following = place + 1
            may_return = following < len(self._before) and self._names[following] not in changed
            if may_return and stand_alike(mutant.session, self._before[following]):
                mutant = None

    def _follow(self, engine: Engine, place: int) -> None:
        if self._replies:
            follow(engine, zip(self._steps[place:], self._replies[place:], strict=False))


# --- sessions that stand where another one stands ----------------------------------------------


def copy_of(session: Any, takes_back: bool) -> Any:
    """Return a copy of a session, which goes on alone; ``takes_back``: perhaps to earlier moments.

    It has the same table of commands.
    """
    made, game = _shallow_copy(session), _shallow_copy(session.game)
    states = session.game._states
    first = [_shallow_copy(one) for one in states[:-1]] if takes_back else states[:-1]
    game._states = [*first, _shallow_copy(states[-1])]
    made.game = game
    if session._random is not None:
        made._random = session.new_random()
        made._random.setstate(session._random.getstate())
    return made


def stand_alike(session: Any, other: Any) -> bool:
    """Whether two sessions will answer alike from now on, by the same table of commands."""
    mine, theirs = session.game._states, other.game._states
    return (
        len(mine) == len(theirs)
        and (len(mine) == 1 or mine[-2] is theirs[-2])  # else they are not the same objects
        and _values(mine[-1]) == _values(theirs[-1])
        and _values(session) == _values(other)
        and _values(session.game) == _values(other.game)
        and mine[:-1] == theirs[:-1]
        and (session._random and session._random.getstate())
        == (other._random and other._random.getstate())
    )


def _values(instance: Any) -> list[Any]:
    return [getattr(instance, name) for name in _attributes(instance.__class__)[1]]


def _shallow_copy(instance: Any) -> Any:
    made = object.__new__(instance.__class__)
    for name in _attributes(instance.__class__)[0]:
        setattr(made, name, getattr(instance, name))
    return made


@cache
def _attributes(kind: Any) -> tuple[list[str], list[str]]:
    """Return all attributes of a kind of thing, and those that are compared as they are."""
    names = [name for one in kind.__mro__ for name in vars(one).get("__slots__", ())]
    return names, [name for name in names if name not in _APART]


# --- The answers of engines with mistakes to the commands that another engine was sent -----------

Alike = Callable[[int, Reply], bool]
Answers = list[str | Breakdown]  # as sent; the last one may be how the engine failed
# What mutants answered, by what was said to them: a whole class is asked the same.
Memory = dict[tuple[object, ...], dict[frozenset[Mistake], Answers]]


class RecordedConversation(NamedTuple):
    """Commands to one engine and its replies, from its start to its end or to where it broke."""

    steps: tuple[Step, ...]
    replies: tuple[Reply | None, ...]  # the first None: where it broke, or was asked no more
    failure: Failure | None  # how it broke; its step is an index into ``steps``
    is_alike: Alike  # whether a reply to the step of an index is as good as the engine's
    folder: str = ""  # in which it worked
    sent: tuple[str, ...] = ()  # by the harness before the first step

    @property
    def items(self) -> int:
        """Number of commands answered, and one more if it broke at one."""
        answered = next((i for i, reply in enumerate(self.replies) if reply is None), None)
        if answered is None:
            return len(self.replies)
        return answered + (self.failure is not None)


class MutantBehaviour(NamedTuple):
    """Behaviour of a mutant everywhere; bits are items, conversation after conversation."""

    agreed: int  # where it did as the engine did
    changed: int  # where it did otherwise than the reference engine


class Replayer:
    """Says again to mutants what was said to an engine."""

    def __init__(
        self, conversations: Sequence[RecordedConversation], assignment: str, memory: Memory
    ) -> None:
        """``assignment``: the one whose engine the mutants are; ``memory``: of other replayers."""
        self.items = 0  # of all conversations
        self._replays: list[_ConversationReplay] = []
        for one in conversations:
            self._replays.append(_ConversationReplay(one, assignment, memory, self.items))
            self.items += one.items

    @property
    def steps(self) -> int:
        """How many commands mutants were sent so far."""
        return sum(one.steps for one in self._replays)

    def behaviour(self, mistakes: Collection[Mistake] = ()) -> MutantBehaviour:
        """Return what the mutant with all of some mistakes does; with none, the reference."""
        agreed = changed = 0
        for one in self._replays:
            (bits, found), (_, right) = one.show(mistakes), one.show(())
            agreed |= bits << one.offset
            pairs = zip_longest(found, right)  # what only one of them has is different
            changed |= sum((a != b) << i for i, (a, b) in enumerate(pairs)) << one.offset
        return MutantBehaviour(agreed, changed)

    def find_disagreement(self, mistakes: Collection[Mistake]) -> int:
        """Return where that mutant does not as the engine did, in the first such conversation."""
        missing = (one.every & ~one.show(mistakes)[0] << one.offset for one in self._replays)
        return next(filter(None, missing), 0)

    def agrees_at(self, mistakes: Collection[Mistake], bit: int) -> bool:
        """Return whether that mutant does as the engine did at one item."""
        one = next(one for one in self._replays if one.every & bit)
        return bool(one.show(mistakes)[0] << one.offset & bit)


class _ConversationReplay:
    """One conversation, said again to mutants; each answers it once."""

    def __init__(
        self, conversation: RecordedConversation, assignment: str, memory: Memory, offset: int
    ) -> None:
        """``offset``: the number of items before it, which is the place of its first bit."""
        self.offset = offset
        self.every = (1 << conversation.items) - 1 << offset
        self.steps = 0  # commands that mutants were sent
        self._conversation = conversation
        self._assignment = assignment
        self._agrees = cache(partial(_agrees, conversation))
        self._shown: dict[frozenset[Mistake], tuple[int, Answers]] = {}
        self._path: RightPath | None = None
        steps, sent = conversation.steps, conversation.sent
        moves = [place for place, step in enumerate(steps) if _is_move(step)]
        # Nothing can be shared where moves are taken back, or chosen by other commands.
        names = {command_name(steps[place].text) for place in moves}
        self._is_shared = not takes_back(steps) and names <= {"genmove"}
        self._begun = frozenset(map(command_name, sent))  # mutants answer these as is right
        # The commands that were sent, and those that these send in turn.
        self._used = {step.command.partition(" ")[0] for step in steps}
        self._used |= {"play"} if "gogui-play_sequence" in self._used else set()
        # All that the answers of a mutant depend on, beside its mistakes.
        chosen = tuple(
            reply and reply.text for reply in map(conversation.replies.__getitem__, moves)
        )
        texts = tuple(step.text for step in steps[: conversation.items])
        told = assignment, conversation.folder, sent, texts, chosen
        self._known = memory.setdefault(told, {})

    def show(self, mistakes: Collection[Mistake]) -> tuple[int, Answers]:
        """Return what the mutant with all of some mistakes answers, and where it agrees, as bits.

        Only mistakes in commands that are sent here show.
        """
        shown = frozenset(one for one in mistakes if not self._used.isdisjoint(one.commands))
        if shown not in self._shown:
            self.steps += self._conversation.items
            if shown not in self._known:
                self._known[shown] = self._answers_of(shown)
            found = self._known[shown]
            bits = sum(self._agrees(index, raw) << index for index, raw in enumerate(found))
            self._shown[shown] = bits, found
        return self._shown[shown]

    def _answers_of(self, mistakes: frozenset[Mistake]) -> Answers:
        one, mutant = self._conversation, in_process.mutant(mistakes, self._assignment)
        begins_right = all(self._begun.isdisjoint(each.commands) for each in mistakes)
        if not (self._is_shared and begins_right):
            return answers(one, mutant)
        if self._path is None:
            engine = in_process.mutant((), self._assignment)
            _begin(one, engine)
            self._path = RightPath(one.steps[: one.items], engine, one.replies)
        return list(self._path.answers_of(mutant.commands, mistakes))


def answers(conversation: RecordedConversation, engine: Engine) -> Answers:
    """Return what an engine answers, up to where it breaks or the other one broke."""
    follow(engine, zip(conversation.steps, conversation.replies, strict=True))
    _begin(conversation, engine)
    return [raw for _, raw in in_process.replay(conversation.steps[: conversation.items], engine)]


def _begin(conversation: RecordedConversation, engine: Engine) -> None:
    """Tell an engine what the other one knew and heard before the first step."""
    engine.in_folder(conversation.folder)
    with contextlib.suppress(Exception):  # a mistaken program may fail in any way
        for text in conversation.sent:
            engine.handle(text)


def does_alike(conversation: RecordedConversation, engine: Engine) -> bool:
    """Return whether an engine answers, and breaks, as the other one did."""
    found = answers(conversation, engine)
    are_alike = (_agrees(conversation, index, raw) for index, raw in enumerate(found))
    return len(found) == conversation.items and all(are_alike)


def _agrees(conversation: RecordedConversation, index: int, raw: str | Breakdown) -> bool:
    theirs, failure = conversation.replies[index], conversation.failure
    if isinstance(raw, Breakdown):
        # Did the engine die where the mistake crashes, or fall silent where it hangs?
        kind = FailureKind.TIMEOUT if isinstance(raw, Hang) else FailureKind.DIED
        is_alike = failure is not None and (failure.kind, failure.step) == (kind, index)
        return theirs is None and is_alike
    return theirs is not None and conversation.is_alike(index, reply_of(raw))


class _RepeatingRandom(Random):
    """Chooses the point that another program chose, where that is among the choices."""

    targets: tuple[Point, int] | tuple[()] = ()  # as point and as bit

    def choice(self, seq: Any) -> Any:
        return next((one for one in seq if one in self.targets), None) or super().choice(seq)


def _is_move(step: Step) -> bool:
    return step.command.startswith("genmove")


def follow(engine: Engine, answered: Iterable[tuple[Step, Reply | None]]) -> None:
    """Let a mistaken ``genmove`` choose as another engine did, so that both games are the same."""
    if "genmove" not in engine.commands:
        return
    chosen = iter([reply for step, reply in answered if _is_move(step)])
    genmove = engine.commands["genmove"]

    def following(session: Any, words: list[str]) -> str:
        shape, reply = session.game.position.grid, next(chosen, None)
        session._random = _RepeatingRandom(session.seed)
        with contextlib.suppress(VertexError):  # resign, pass or anything
            point = parse_vertex(reply.text if reply else "", shape.rows, shape.columns)
            session._random.targets = point, shape.bit(point)
        return genmove(session, words)

    engine.commands = {**engine.commands, "genmove": following}  # others may have the same table
