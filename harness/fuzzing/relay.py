"""Batches of scripts on their way: to the engine, then to a reference, then to be judged.

Both are at work at the same time, and beside the harness: while the engine answers one batch, the
reference answers the one before, with the moves that the engine has chosen there; and the one
before that is judged, and the next one is drawn.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from harness.declared.declaration import DeclaredCommand, Kind
from harness.declared.game_state import ConversationState
from harness.declared.reference import ReferenceProgram
from harness.engine.protocols import find_protocol
from harness.fuzzing.judges import HeardScript, ScriptSearch, SentScripts
from harness.judging.in_process import same
from harness.records import Reply
from harness.running import protocol_facts
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, Trace, name_of

_REMEMBERED = 20_000  # pairs of replies, commands


class Replies(Protocol):
    """Conversations under way to a reference."""

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""

    def replies(self) -> list[tuple[Reply, ...]]:
        """Wait, and return the right replies to each conversation."""


class Answered(NamedTuple):
    """A script that both have answered."""

    script: HeardScript
    commands: tuple[str, ...]  # what the reference was asked: moves instead of choices
    right: tuple[Reply, ...]  # its replies


class Relay:
    """Hands batches on."""

    def __init__(
        self,
        search: ScriptSearch,
        list_asked: Callable[[Trace], tuple[str, ...]],
        begin: Callable[[Sequence[tuple[str, ...]]], Replies],
    ) -> None:
        """``list_asked``: what the reference is asked. ``begin``: asks it, and does not wait."""
        self._search = search
        self._list_asked = list_asked
        self._begin = begin
        self._asked: SentScripts | None = None
        self._told: Replies | None = None

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        for under_way in (self._asked, self._told):
            if under_way:
                under_way.go_on()

    def run(self, batches: Iterator[Sequence[Script]]) -> Iterator[list[Answered]]:
        """Yield each batch when both have answered it; the last but one is drawn by then."""
        before: list[tuple[HeardScript, tuple[str, ...]]] = []
        batch: Sequence[Script] = next(batches, ())
        while batch or self._asked or self._told:
            heard = list(self._asked.collect()) if self._asked else []
            right = self._told.replies() if self._told else []
            self._asked = self._search.begin(batch) if batch else None
            both = [(one, self._list_asked(one.trace)) for one in heard]
            self._told = self._begin([said for _, said in both]) if both else None
            yield [Answered(*one, replies) for one, replies in zip(before, right, strict=True)]
            before, batch = both, next(batches, ())


class Likeness:
    """Whether an engine answered a whole script as the reference did: cheap, and nearly always so.

    No state is followed here. Where anything differs, :mod:`~harness.fuzzing.by_reference` follows
    the conversation and sees whether that is wrong.
    """

    def __init__(self, specification: Specification, reference: ReferenceProgram) -> None:
        declaration = reference.declaration
        playing = {one.name: one for one in declaration.commands if one.plays}
        self._find_playing = lru_cache(_REMEMBERED)(lambda command: playing.get(name_of(command)))
        self._chooses = {one.name for one in declaration.of_kind(Kind.CHOOSES)}
        self._specification = specification
        self._refuses = reference.program.refuses
        self._spoken = find_protocol(declaration.game.protocol)
        self._state = ConversationState(declaration)
        self._known: dict[tuple[str, str, str], bool] = {}
        self._clean: set[str] = set()  # replies that keep to the protocol

    def list_asked_commands(self, trace: Trace) -> tuple[str, ...]:
        """Return a script as the reference is asked it: with the moves that the engine chose.

        Where neither says whose move it is, it may be the wrong one: then the answers are not
        alike.
        """
        told = list(trace.script.commands)
        for index, (command, got) in enumerate(zip(told, trace.replies, strict=False)):
            if declared := self._find_playing(command):
                told[index] = self._move(declared, command, got) or command
        return tuple(told)

    def _move(self, declared: DeclaredCommand, command: str, got: Reply) -> str:
        """Return the command that plays what was chosen in reply to one; "" if none does."""
        is_no_move = declared.keeps or got.text in declared.instead or self._refuses(got)
        return "" if is_no_move else self._state.as_move(command, got.text)

    def is_alike(self, exchange: Answered) -> bool:
        """Whether all answers are right if those of the reference are."""
        trace = exchange.script.trace
        if trace.failure or trace.has_surplus:
            return False
        rows = zip(
            trace.script.commands, exchange.commands, exchange.right, trace.replies, strict=True
        )
        clean = self._clean
        for command, said, right, got in rows:
            # By their places, and not their names: there are millions of them.
            is_equal = said is command and right[2] == got[2] and got[2] in clean
            if (not is_equal or got[4]) and not self._is_right(command, said, right, got):
                return False
        return True

    def _is_right(self, command: str, asked_command: str, right: Reply, got: Reply) -> bool:
        is_move = asked_command != command
        if is_move and self._refuses(right):
            return False  # a move that the reference does not play
        key = command, "" if is_move else right.raw, got.raw
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
                self._clean.clear()
            is_same = is_move or self._is_same(command, right, got)
            found = self._known[key] = is_same and self._is_clean(command, got)
        if found and right.raw == got.raw:
            self._clean.add(got.raw)
        return found and not got.invalid

    def _is_same(self, command: str, right: Reply, got: Reply) -> bool:
        if name_of(command) in self._chooses:
            return right.raw == got.raw
        return same(command, right, got, self._specification)

    def _is_clean(self, command: str, got: Reply) -> bool:
        """Whether a reply keeps to the protocol, if nothing comes before it."""
        return not protocol_facts.warnings([protocol_facts.own_step(command)], [got], self._spoken)
