"""The answers of engines with mistakes to the commands that another engine was sent.

A :class:`RecordedConversation` is all that was said to one engine, from its start to its end or to
where it broke. :class:`Replayer` says the same to mutants, which make one mistake or several, and
tells at which commands each of them did as the engine did.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from random import Random
from typing import Any, NamedTuple

from harness.judging import in_process
from harness.judging.shared_replay import RightPath, command_name, takes_back
from harness.records import Failure, FailureKind, Reply, Step
from harness.specifications.record import reply_of
from oracle.errors import VertexError
from oracle.gtp.protocol import Engine
from oracle.mistakes import Breakdown, Hang, Mistake
from oracle.position import Point, parse_vertex

Alike = Callable[[int, Reply], bool]
Answers = list[str | Breakdown]  # as sent; the last one may be how the engine failed
# What mutants answered, by what was said to them: a whole class is asked the same.
Memory = dict[tuple[object, ...], dict[frozenset[Mistake], Answers]]


class RecordedConversation(NamedTuple):
    """What was said to one engine, and what it answered."""

    steps: tuple[Step, ...]
    replies: tuple[Reply | None, ...]  # the first None: where it broke, or was asked no more
    failure: Failure | None  # how it broke; its step is an index into ``steps``
    is_alike: Alike  # whether a reply to the step of an index is as good as the engine's
    folder: str = ""  # in which it worked
    sent: tuple[str, ...] = ()  # by the harness before the first step

    @property
    def items(self) -> int:
        """How many commands it answered, and one more if it broke at one."""
        answered = next((i for i, reply in enumerate(self.replies) if reply is None), None)
        if answered is None:
            return len(self.replies)
        return answered + (self.failure is not None)


class MutantBehaviour(NamedTuple):
    """What a mutant did in all conversations; bits are items, conversation after conversation."""

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
        self._shared = [_find_begun(one) for one in conversations]
        self._agrees = [cache(partial(_agrees, one)) for one in conversations]
        self._answers = [
            memory.setdefault((assignment, *_all_answers(one)), {}) for one in conversations
        ]
        self._known: dict[tuple[int, frozenset[Mistake]], tuple[int, Answers]] = {}
        for one in conversations:
            self._conversations.append((self.items, one, _find_used_commands(one)))
            self.items += one.items

    def behaviour(self, mistakes: Collection[Mistake] = ()) -> MutantBehaviour:
        """Return what the mutant with all of some mistakes does; with none, the reference."""
        agreed = changed = 0
        for offset, bits, different in self._by_conversation(mistakes):
            agreed |= bits << offset
            changed |= different << offset
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

    def _by_conversation(self, mistakes: Collection[Mistake]) -> Iterator[tuple[int, int, int]]:
        """Yield the first bit of each conversation, and its bits of agreement and change."""
        for place, (offset, _, _) in enumerate(self._conversations):
            bits, found = self._show(place, mistakes)
            _, right = self._replay(place, frozenset())
            yield offset, bits, _differences(found, right)

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
            bits = _find_agreed(self._agrees[place], known[mistakes])
            self._known[key] = bits, known[mistakes]
        return self._known[key]

    def _answers_of(self, place: int, mistakes: frozenset[Mistake]) -> Answers:
        one, mutant = self._conversations[place][1], in_process.mutant(mistakes, self._assignment)
        shared = self._shared[place]
        if shared is None or any(not shared.isdisjoint(each.commands) for each in mistakes):
            return answers(one, mutant)
        if place not in self._paths:
            engine = in_process.mutant((), self._assignment)
            self._paths[place] = _right_path(one, engine)
        return list(self._paths[place].answers_of(mutant.commands, mistakes))


def _find_begun(conversation: RecordedConversation) -> frozenset[str] | None:
    """Return the commands before the first step, which mutants are to answer as is right.

    None where nothing can be shared: moves are taken back, or chosen by other commands.
    """
    if takes_back(conversation.steps):
        return None
    names = {command_name(step.text) for step in conversation.steps if _is_move(step)}
    return frozenset(map(command_name, conversation.sent)) if names <= {"genmove"} else None


def _right_path(conversation: RecordedConversation, engine: Engine) -> RightPath:
    """Return the way of the reference engine through a conversation."""
    heard = list(zip(conversation.steps, conversation.replies, strict=True))
    _begin(conversation, engine)
    steps = conversation.steps[: conversation.items]
    return RightPath(steps, engine, lambda one, place: follow(one, heard[place:]))


def _all_answers(conversation: RecordedConversation) -> tuple[object, ...]:
    """Return all that the answers of a mutant depend on, beside its mistakes."""
    heard = zip(conversation.steps, conversation.replies, strict=True)
    moves = tuple(reply and reply.text for step, reply in heard if _is_move(step))
    texts = tuple(step.text for step in conversation.steps[: conversation.items])
    return conversation.folder, conversation.sent, texts, moves


def _find_used_commands(conversation: RecordedConversation) -> frozenset[str]:
    """Return the commands that were sent, and those that these send in turn."""
    used = {step.command.partition(" ")[0] for step in conversation.steps}
    return frozenset(used | ({"play"} if "gogui-play_sequence" in used else set()))


def _differences(answers: Answers, right: Answers) -> int:
    """Return as bits where two lists differ; what only one of them has is different."""
    pairs = enumerate(zip(answers, right, strict=False))
    different = sum(1 << place for place, (one, other) in pairs if one != other)
    shorter, longer = sorted((len(answers), len(right)))
    return different | (1 << longer) - (1 << shorter)


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
    return _find_agreed(partial(_agrees, conversation), answers)


def _find_agreed(agrees: Callable[[int, str | Breakdown], bool], answers: Answers) -> int:
    return sum(agrees(index, raw) << index for index, raw in enumerate(answers))


def _agrees(conversation: RecordedConversation, index: int, raw: str | Breakdown) -> bool:
    theirs = conversation.replies[index]
    if isinstance(raw, Breakdown):
        return theirs is None and broke_alike(raw, conversation.failure, index)
    return theirs is not None and conversation.is_alike(index, reply_of(raw))


def broke_alike(mine: Breakdown, theirs: Failure | None, index: int) -> bool:
    """Whether the engine died where the mistake crashes, or fell silent where it hangs."""
    kind = FailureKind.TIMEOUT if isinstance(mine, Hang) else FailureKind.DIED
    return theirs is not None and (theirs.kind, theirs.step) == (kind, index)


# --- random moves ------------------------------------------------------------------------------


class _RepeatingRandom(Random):
    """Chooses the point that another program chose, where that is among the choices."""

    wanted: tuple[Point, int] | tuple[()] = ()  # as point and as bit

    def choice(self, seq: Any) -> Any:
        return next((one for one in seq if one in self.wanted), None) or super().choice(seq)


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
            session._random.wanted = point, shape.bit(point)
        return genmove(session, words)

    engine.commands = {**engine.commands, "genmove": following}  # others may have the same table
