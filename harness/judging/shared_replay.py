"""A case file put to many mutants at once: what they do alike is done once.

A mutant does as the reference engine until it is sent a command that its mistake changes. There it
gets a copy of the reference engine's session and goes on alone, until its session is the same
again. Most mistakes change one answer and nothing else; of a game with one question at its end,
mutants are asked the question alone.

What is shared is never written on: a mistake may change the last moment of a game, and each copy
has its own; where moves are taken back, any moment may become the last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from harness.judging import in_process
from harness.records import CaseFile, Step
from oracle.gtp.protocol import Engine, is_number, split
from oracle.mistakes import Breakdown, Mistake
from oracle.mistakes.bank import table_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table

# Attributes of a session and its game that are not compared as they are.
_APART = ("commands", "game", "_random", "_states")


class SharedAnswers(NamedTuple):
    """What all mutants that are still asked answer to one command; bits are their places."""

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


def answers(case: CaseFile, mistakes: Mapping[int, Mistake]) -> Iterator[SharedAnswers]:
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
        right = self._ask_right(step.text)
        self._part(parting, before)
        for place in [one for one, raw in own.items() if self._has_ended(one, raw)]:
            del self._own[place]
        return SharedAnswers(step, right, alike, own)

    def _ask_right(self, text: str) -> str | Breakdown:
        """Return what the reference engine answers; it is asked nothing more where it ends."""
        if not self._engine.session.running:
            return ""
        right = in_process.answer(self._engine, text)
        if isinstance(right, Breakdown):
            self._engine.session.running = False
        return right

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

    def _has_ended(self, place: int, raw: str | Breakdown) -> bool:
        """Return whether a mutant that goes on alone is asked nothing more."""
        engine = self._own.get(place)
        return engine is not None and (isinstance(raw, Breakdown) or not engine.session.running)

    def rejoin(self, following: str | None) -> None:
        """Ask those no more alone that stand where the reference engine stands.

        Not where the command that follows would part them again.
        """
        if following is None or not self._engine.session.running:
            return
        parting, session = self._places.get(following, ()), self._engine.session
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

    def answers_of(self, table: Table, mistakes: Collection[Mistake]) -> Iterator[str | Breakdown]:
        """Yield what a mutant with a table of commands answers, which makes some mistakes."""
        changed = {name for one in mistakes for name in _changed_commands(one)}
        mutant: Engine | None = None  # while it stands elsewhere than the reference engine
        for place, step in enumerate(self._steps):
            if not mutant and place == len(self._answers):
                return  # the reference engine has ended
            if not mutant and self._names[place] not in changed:
                yield self._answers[place]
                continue
            mutant = mutant or self._put(table, place)
            yield (raw := in_process.answer(mutant, step.text))
            if isinstance(raw, Breakdown) or not mutant.session.running:
                return
            if self._is_back(mutant, place + 1, changed):
                mutant = None

    def _put(self, table: Table, place: int) -> Engine:
        """Return a mutant that stands where the reference engine was before a command."""
        session = copy_of(self._before[place], takes_back=False)
        session.commands = table
        engine = Engine(session)
        self._prepare(engine, place)
        return engine

    def _is_back(self, mutant: Engine, place: int, changed: Collection[str]) -> bool:
        """Return whether a mutant is where the reference engine was, and goes on as it."""
        return (
            place < len(self._before)
            and self._names[place] not in changed
            and stand_alike(mutant.session, self._before[place])
        )


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


def stand_alike(one: Any, other: Any) -> bool:
    """Whether two sessions will answer alike from now on, by the same table of commands."""
    mine, theirs = one.game._states, other.game._states
    return (
        len(mine) == len(theirs)
        and (len(mine) == 1 or mine[-2] is theirs[-2])  # else they are not the same objects
        and _values(mine[-1]) == _values(theirs[-1])
        and _values(one) == _values(other)
        and _values(one.game) == _values(other.game)
        and mine[:-1] == theirs[:-1]
        and _random_state(one) == _random_state(other)
    )


def _random_state(session: Any) -> object:
    return session._random and session._random.getstate()


def _values(thing: Any) -> list[Any]:
    return [getattr(thing, name) for name in _attributes(thing.__class__)[1]]


def _shallow_copy(thing: Any) -> Any:
    made = object.__new__(thing.__class__)
    for name in _attributes(thing.__class__)[0]:
        setattr(made, name, getattr(thing, name))
    return made


@cache
def _attributes(kind: Any) -> tuple[list[str], list[str]]:
    """Return all attributes of a kind of thing, and those that are compared as they are."""
    names = [name for one in kind.__mro__ for name in vars(one).get("__slots__", ())]
    return names, [name for name in names if name not in _APART]
