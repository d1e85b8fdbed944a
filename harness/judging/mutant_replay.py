"""A case file put to many mutants at once: what they do alike is done once.

A mutant does as the reference engine until it is sent a command that its mistake changes. There it
gets a copy of the reference engine's session and goes on alone, until its session is the same
again. Most mistakes change one answer and nothing else; of a game with one question at its end,
mutants are asked the question alone.

What is shared is never written on: a mistake may change the last moment of a game, and each copy
has its own; where moves are taken back, any moment may become the last.
"""

import contextlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import zip_longest
from random import Random
from typing import Any, NamedTuple

from harness.judging import in_process
from harness.records import CaseFile, Failure, FailureKind, Reply, Step
from harness.specifications.record import reply_of
from oracle.errors import VertexError
from oracle.gtp.protocol import Engine, is_number, split
from oracle.mistakes import Breakdown, Hang, Mistake
from oracle.mistakes.bank import table_with
from oracle.position import Point, parse_vertex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from oracle.gtp.protocol import Table

# Attributes of a session and its game that are not compared as they are.
_APART = ("commands", "game", "_random", "_states")


class SharedAnswers(NamedTuple):
    """Answers of all mutants still asked to one command; bits are their places."""

    step: Step
    right: str | Breakdown  # what the reference engine answers, and the mutants of ``alike``
    alike: int
    own: dict[int, str | Breakdown]  # what the others answer, by place

    def by_answer(self) -> dict[str | Breakdown, int]:
        """Return each different answer with those that give it."""
        found = {self.right: self.alike} if self.alike else {}
        for place, raw in self.own.items():
            found[raw] = found.get(raw, 0) | 1 << place
        return found


def find_shown(case: CaseFile, mistakes: Sequence[Mistake]) -> dict[int, Mistake]:
    """Return by place the mistakes in a command that a file sends.

    A mutant for another one would answer as the reference engine does.
    """
    used = {step.command.partition(" ")[0] for step in case.steps}
    return {place: one for place, one in enumerate(mistakes) if not used.isdisjoint(one.commands)}


def answers_of_mutants(case: CaseFile, mistakes: Mapping[int, Mistake]) -> Iterator[SharedAnswers]:
    """Yield the answers of a mutant for each mistake, by place; all are of one assignment.

    As by :func:`harness.judging.in_process.answers`: after a breakdown or ``quit`` a mutant is
    asked nothing more.
    """
    if not mistakes:
        return
    replay = _SharedReplay(case, mistakes)
    names = [command_name(step.text) for step in case.steps]
    for step, name, following in zip_longest(case.steps, names, names[1:]):
        if replay.is_over:
            return
        yield replay.ask(step, name)
        replay.rejoin(following)


def takes_back(steps: Sequence[Step]) -> bool:
    """Whether moves may be taken back."""
    return any("undo" in step.command for step in steps)


def command_name(line: str) -> str:
    """Return the name that an engine looks up for a line; "" for a line without one."""
    words = split(line)
    return next((word for word in words[:2] if not is_number(word)), "")


class _SharedReplay:
    def __init__(self, case: CaseFile, mistakes: Mapping[int, Mistake]) -> None:
        self._engine = in_process.mutant((), next(iter(mistakes.values())).assignment)
        self._engine.in_folder(in_process.folder_of(case))
        self._mistakes = mistakes
        self._takes_back = takes_back(case.steps)
        self._tables: dict[int, Any] = {}  # they keep what a mistake does not forget
        self._own: dict[int, Engine] = {}  # of the mutants that go on alone
        self._alike = sum(1 << place for place in mistakes)
        self._places: dict[str, list[int]] = {}
        for place, mistake in mistakes.items():
            for name in _changed_commands(mistake):
                self._places.setdefault(name, []).append(place)

    @property
    def is_over(self) -> bool:
        """Whether no mutant is asked anything more."""
        return not (self._alike or self._own)

    def ask(self, step: Step, name: str) -> SharedAnswers:
        """Return what all mutants answer to the next command."""
        own = {place: in_process.answer(engine, step.text) for place, engine in self._own.items()}
        parting = [one for one in self._places.get(name, ()) if self._alike >> one & 1]
        before = self._copy(self._engine.session) if parting else None
        own |= self._ask_parting(parting, step.text, before)
        alike = self._alike & ~sum(1 << place for place in parting)
        right: str | Breakdown = ""  # once it has ended, the reference engine is asked no more
        if self._engine.session.running:
            right = in_process.answer(self._engine, step.text)
        if isinstance(right, Breakdown):
            self._engine.session.running = False
        self._part(parting, before)
        for place, raw in own.items():
            engine = self._own.get(place)
            if engine and (isinstance(raw, Breakdown) or not engine.session.running):
                del self._own[place]
        return SharedAnswers(step, right, alike, own)

    def _ask_parting(
        self, places: Sequence[int], text: str, before: Any
    ) -> dict[int, str | Breakdown]:
        """Return what mutants answer that have done as the reference engine so far.

        One whose session is changed by that goes on with it alone.
        """
        found, session = {}, None
        for place in places:
            engine = Engine(session or self._copy(before))
            self._let_mistake(engine, place)
            found[place] = raw = in_process.answer(engine, text)
            is_same = isinstance(raw, str) and stand_alike(engine.session, before)
            session = engine.session if is_same else None
            if not is_same:
                self._own[place] = engine
        return found

    def _part(self, places: Sequence[int], before: Any) -> None:
        """Let mutants go on alone that are not where the reference engine is now."""
        session = self._engine.session
        if places and not stand_alike(session, before):
            for place in [one for one in places if one not in self._own]:
                self._own[place] = Engine(self._copy(before))
                self._let_mistake(self._own[place], place)
        for place in places:
            self._alike &= ~((place in self._own) << place)
        self._alike *= session.running

    def _let_mistake(self, engine: Engine, place: int) -> None:
        """Give an engine the commands of a mutant."""
        if place not in self._tables:
            self._tables[place] = table_with(self._engine.commands, [self._mistakes[place]])
        engine.commands = engine.session.commands = self._tables[place]

    def _copy(self, session: Any) -> Any:
        return copy_of(session, self._takes_back)

    def rejoin(self, next_command: str | None) -> None:
        """Ask those no more alone that stand where the reference engine stands.

        Not where the command that follows would part them again.
        """
        if next_command is None or not self._engine.session.running:
            return
        parting, session = self._places.get(next_command, ()), self._engine.session
        for place in [one for one in self._own if one not in parting]:
            if stand_alike(session, self._own[place].session):
                del self._own[place]
                self._alike |= 1 << place


class RightPath:
    """A conversation with the reference engine, which mutants leave where they do otherwise."""

    def __init__(
        self, steps: Sequence[Step], engine: Engine, prepare: Callable[[Engine, int], None]
    ) -> None:
        """``engine``: right, where the conversation begins.

        ``prepare``: is called with each engine and the place of the step that it goes on at.
        """
        self._steps = steps
        self._names = [command_name(step.text) for step in steps]
        self._prepare = prepare
        self._before: list[Any] = []  # sessions, as each command found them
        self._answers: list[str | Breakdown] = []
        prepare(engine, 0)
        for step in steps:
            self._before.append(copy_of(engine.session, takes_back=False))
            self._answers.append(in_process.answer(engine, step.text))
            if isinstance(self._answers[-1], Breakdown) or not engine.session.running:
                return

    def answers_of(
        self, table: "Table", mistakes: Collection[Mistake]
    ) -> Iterator[str | Breakdown]:
        """Yield what a mutant with a table of commands answers, which makes some mistakes."""
        changed = {name for one in mistakes for name in _changed_commands(one)}
        mutant: Engine | None = None  # while it stands elsewhere than the reference engine
        for place, step in enumerate(self._steps):
            if not mutant and place == len(self._answers):
                return  # the reference engine has ended
            if not mutant and self._names[place] not in changed:
                yield self._answers[place]
                continue
            if not mutant:
                session = copy_of(self._before[place], takes_back=False)
                session.commands = table
                mutant = Engine(session)
                self._prepare(mutant, place)
            yield (raw := in_process.answer(mutant, step.text))
            if isinstance(raw, Breakdown) or not mutant.session.running:
                return
            following = place + 1
            may_return = following < len(self._before) and self._names[following] not in changed
            if may_return and stand_alike(mutant.session, self._before[following]):
                mutant = None


def _changed_commands(mistake: Mistake) -> set[str]:
    """Return the commands that a mistake may change, with those that send one of these."""
    sends = {"gogui-play_sequence"} if "play" in mistake.commands else set()
    return {*mistake.commands, *sends}


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
# A :class:`RecordedConversation` is all that was said to one engine, from its start to its end or
# to where it broke. :class:`Replayer` says the same to mutants, which make one mistake or several,
# and tells at which commands each of them did as the engine did.


Alike = Callable[[int, Reply], bool]
Answers = list[str | Breakdown]  # as sent; the last one may be how the engine failed
# What mutants answered, by what was said to them: a whole class is asked the same.
Memory = dict[tuple[object, ...], dict[frozenset[Mistake], Answers]]


class RecordedConversation(NamedTuple):
    """Commands to one engine, and its replies."""

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
        self,
        conversations: Sequence[RecordedConversation],
        assignment: str,
        memory: Memory | None = None,
    ) -> None:
        """``assignment``: the one whose engine the mutants are; ``memory``: of other replayers."""
        memory = {} if memory is None else memory
        self.items = 0  # of all conversations
        self.steps = 0  # commands that mutants were sent so far
        self._assignment = assignment
        self._conversations: list[tuple[int, RecordedConversation, frozenset[str]]] = []
        self._paths: dict[int, RightPath] = {}
        self._begun = [_find_begun(one) for one in conversations]
        self._agrees = [cache(partial(_agrees, one)) for one in conversations]
        self._answers: list[dict[frozenset[Mistake], Answers]] = []
        self._known: dict[tuple[int, frozenset[Mistake]], tuple[int, Answers]] = {}
        for one in conversations:
            # All that the answers of a mutant depend on, beside its mistakes.
            heard = zip(one.steps, one.replies, strict=True)
            moves = tuple(reply and reply.text for step, reply in heard if _is_move(step))
            texts = tuple(step.text for step in one.steps[: one.items])
            told = assignment, one.folder, one.sent, texts, moves
            self._answers.append(memory.setdefault(told, {}))
            # The commands that were sent, and those that these send in turn.
            used = {step.command.partition(" ")[0] for step in one.steps}
            used |= {"play"} if "gogui-play_sequence" in used else set()
            self._conversations.append((self.items, one, frozenset(used)))
            self.items += one.items

    def behaviour(self, mistakes: Collection[Mistake] = ()) -> MutantBehaviour:
        """Return what the mutant with all of some mistakes does; with none, the reference."""
        agreed = changed = 0
        for place, (offset, _, _) in enumerate(self._conversations):
            bits, found = self._show(place, mistakes)
            _, right = self._replay(place, frozenset())
            agreed |= bits << offset
            pairs = zip_longest(found, right)  # what only one of them has is different
            changed |= sum((a != b) << i for i, (a, b) in enumerate(pairs)) << offset
        return MutantBehaviour(agreed, changed)

    def find_disagreement(self, mistakes: Collection[Mistake]) -> int:
        """Return where that mutant does not as the engine did, in the first such conversation."""
        for place, (offset, one, _) in enumerate(self._conversations):
            if missing := ~self._show(place, mistakes)[0] & (1 << one.items) - 1:
                return missing << offset
        return 0

    def agrees_at(self, mistakes: Collection[Mistake], bit: int) -> bool:
        """Return whether that mutant does as the engine did at one item."""
        offsets = [offset for offset, _, _ in self._conversations]
        place = bisect_right(offsets, bit.bit_length() - 1) - 1
        return bool(self._show(place, mistakes)[0] & bit >> offsets[place])

    def _show(self, place: int, mistakes: Collection[Mistake]) -> tuple[int, Answers]:
        """Return what the mutant does in one conversation; only some commands are sent there."""
        used = self._conversations[place][2]
        shown = (one for one in mistakes if not used.isdisjoint(one.commands))
        return self._replay(place, frozenset(shown))

    def _replay(self, place: int, mistakes: frozenset[Mistake]) -> tuple[int, Answers]:
        key = place, mistakes
        if key not in self._known:
            one, known = self._conversations[place][1], self._answers[place]
            self.steps += one.items
            if mistakes not in known:
                known[mistakes] = self._answers_of(place, mistakes)
            agrees = self._agrees[place]
            bits = sum(agrees(index, raw) << index for index, raw in enumerate(known[mistakes]))
            self._known[key] = bits, known[mistakes]
        return self._known[key]

    def _answers_of(self, place: int, mistakes: frozenset[Mistake]) -> Answers:
        one, mutant = self._conversations[place][1], in_process.mutant(mistakes, self._assignment)
        begun = self._begun[place]
        if begun is None or any(not begun.isdisjoint(each.commands) for each in mistakes):
            return answers(one, mutant)
        if place not in self._paths:
            heard = list(zip(one.steps, one.replies, strict=True))
            engine = in_process.mutant((), self._assignment)
            _begin(one, engine)
            self._paths[place] = RightPath(
                one.steps[: one.items], engine, lambda other, step: follow(other, heard[step:])
            )
        return list(self._paths[place].answers_of(mutant.commands, mistakes))


def _find_begun(conversation: RecordedConversation) -> frozenset[str] | None:
    """Return the commands before the first step, which mutants are to answer as is right.

    None where nothing can be shared: moves are taken back, or chosen by other commands.
    """
    if takes_back(conversation.steps):
        return None
    names = {command_name(step.text) for step in conversation.steps if _is_move(step)}
    return frozenset(map(command_name, conversation.sent)) if names <= {"genmove"} else None


def answers(conversation: RecordedConversation, engine: Engine) -> Answers:
    """Return what an engine answers, up to where it breaks or the other one broke."""
    follow(engine, zip(conversation.steps, conversation.replies, strict=True))
    _begin(conversation, engine)
    steps = conversation.steps[: conversation.items]
    return [raw for _, raw in in_process.replay(steps, engine)]


def _begin(conversation: RecordedConversation, engine: Engine) -> None:
    """Tell an engine what the other one knew and heard before the first step."""
    engine.in_folder(conversation.folder)
    with contextlib.suppress(Exception):  # a mistaken program may fail in any way
        for text in conversation.sent:
            engine.handle(text)


def agreement(conversation: RecordedConversation, answers: Answers) -> int:
    """Return as bits where such answers are as good as those of the other engine."""
    return sum(_agrees(conversation, index, raw) << index for index, raw in enumerate(answers))


def _agrees(conversation: RecordedConversation, index: int, raw: str | Breakdown) -> bool:
    theirs = conversation.replies[index]
    if isinstance(raw, Breakdown):
        return theirs is None and broke_alike(raw, conversation.failure, index)
    return theirs is not None and conversation.is_alike(index, reply_of(raw))


def broke_alike(breakdown: Breakdown, failure: Failure | None, index: int) -> bool:
    """Whether the engine died where the mistake crashes, or fell silent where it hangs."""
    kind = FailureKind.TIMEOUT if isinstance(breakdown, Hang) else FailureKind.DIED
    return failure is not None and (failure.kind, failure.step) == (kind, index)


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
