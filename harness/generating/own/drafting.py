"""Tests made of conversations that are drawn: each question, with the reference's answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness.declared.declaration import ASKS, CHOOSES, MOVES, Command, Declaration
from harness.declared.drawing import Drawer
from harness.declared.engine import ReferenceEngine
from harness.generating.own.records import Draft, Opening
from harness.judging import equivalence
from harness.records import Reply
from harness.specifications.record import Specification
from harness.vocabulary.forms import literally

_AS_ASKED = 0.3  # how often what was asked before a test is asked in it, too
_PICKED = 3  # questions of a conversation that are made tests
_AFTER = 2  # questions tried after a move of the engine's choice
_DRAWN = "drawn at random"


class Drafter:
    """Makes tests for one declared game."""

    def __init__(
        self,
        specification: Specification,
        declaration: Declaration,
        folder: Path,
        openings: Sequence[Opening] = (),
    ) -> None:
        """``folder``: where the files lie that commands name."""
        self._specification = specification
        self._declaration = declaration
        self._folder = folder
        self._openings = tuple(openings)

    def drafts(self, random: Random, length: int) -> Iterator[Draft]:
        """Yield the tests of one conversation with about ``length`` moves and questions."""
        drawer = Drawer(
            self._declaration, random, self._folder, [one.commands for one in self._openings]
        )
        script = drawer.draw(length, self._engine().reply)
        engine, wanted = self._engine(), self._picked(script.commands, random)
        for index, command in enumerate(script.commands):
            declared = self._declaration.command(command.partition(" ")[0])
            if declared and index in wanted:
                yield from self._at(engine, declared, command, random)
            engine.reply(command)

    def _picked(self, commands: Sequence[str], random: Random) -> set[int]:
        """Return the places of a few commands, of different names as far as there are."""
        by_name: dict[str, list[int]] = {}
        for index, command in enumerate(commands):
            by_name.setdefault(command.partition(" ")[0], []).append(index)
        able = [name for name in by_name if self._may_be_asked(name)]
        names = random.sample(able, min(len(able), _PICKED))
        return {random.choice(by_name[name]) for name in names}

    def _may_be_asked(self, name: str) -> bool:
        declared = self._declaration.command(name)
        if declared is None or declared.kind not in (ASKS, CHOOSES, MOVES):
            return False
        if declared.kind == MOVES:
            return bool(self._declaration.game.refused)
        return declared.kind == CHOOSES or not declared.is_free

    def _engine(self) -> ReferenceEngine:
        engine = self._specification.right_engine()
        assert isinstance(engine, ReferenceEngine)
        return engine

    def _at(
        self, engine: ReferenceEngine, declared: Command, command: str, random: Random
    ) -> Iterator[Draft]:
        """Yield the tests that a command is, where a conversation stands."""
        right = engine.replies((*engine.said, command))[-1]
        choices = self._specification.choices(engine, command)
        expression = self._expression(declared, command, right, choices)
        if expression:
            yield self._draft(engine, (), command, expression, random)
        if declared.kind == CHOOSES and declared.plays and choices:
            yield from self._after(engine, command, choices, random)

    def _after(
        self,
        engine: ReferenceEngine,
        command: str,
        choices: Sequence[str],
        random: Random,
    ) -> Iterator[Draft]:
        """Yield questions that have one answer whatever an engine has chosen before."""
        asks = [one for one in self._declaration.of_kind(ASKS) if not one.is_free]
        asks = [one for one in asks if not one.arguments]
        for asked in random.sample(asks, min(len(asks), _AFTER)):
            moves = [engine.session.state.as_move(command, one) for one in choices]
            found = [engine.replies((*engine.said, move, asked.name))[-1] for move in moves]
            if self._are_same(asked.name, found):
                expression = self._expression(asked, asked.name, found[0], ())
                yield self._draft(engine, (command,), asked.name, expression, random)

    def _are_same(self, command: str, found: Sequence[Reply]) -> bool:
        first = found[0]
        return first.ok and all(
            equivalence.same(command, first, one, self._specification) for one in found
        )

    def _expression(
        self, declared: Command, command: str, right: Reply, choices: Sequence[str]
    ) -> str:
        """Return what accepts the right answers to a command and no other; "": it is no test."""
        if not right.ok:
            return ""  # no expectation accepts an error
        if declared.kind == CHOOSES:
            return _any_of(choices or self._sure(declared, right))
        if declared.kind == MOVES:
            return self._of_move(command, right)
        if declared.kind != ASKS or declared.is_free:
            return ""
        return equivalence.expression(command, right, self._specification)

    @staticmethod
    def _sure(declared: Command, right: Reply) -> tuple[str, ...]:
        """Return the only right answer; of a solver that gives up another one may know more."""
        gives_up = declared.keeps and right.text.lower() in map(str.lower, declared.instead)
        return () if gives_up or not right.text else (right.text,)

    def _of_move(self, command: str, right: Reply) -> str:
        """Return what tells a refusal that says ``=`` from a move that is played."""
        refused = self._declaration.game.refused
        if not refused:
            return ""
        engine = self._engine()
        if engine.refuses(right):
            return equivalence.expression(command, right, self._specification)
        flags, pattern = _parted(refused)
        return rf"!{flags}[\s\S]*({pattern})[\s\S]*"

    def _draft(
        self,
        engine: ReferenceEngine,
        more: tuple[str, ...],
        command: str,
        expression: str,
        random: Random,
    ) -> Draft:
        said = engine.said
        origin = self._origin(said)
        if random.random() >= _AS_ASKED:
            said = tuple(one for one in said if not self._asks(one))
        return Draft((*said, *more), command, expression, origin, engine.session.state.size)

    def _asks(self, command: str) -> bool:
        found = self._declaration.command(command.partition(" ")[0])
        return found is None or found.kind == ASKS or (found.kind == CHOOSES and not found.plays)

    def _origin(self, said: tuple[str, ...]) -> str:
        for one in self._openings:
            count = len(one.commands)
            if any(said[n : n + count] == one.commands for n in range(len(said) - count + 1)):
                return f"{one.origin}, and what was drawn at random after it"
        return _DRAWN


def _any_of(texts: Sequence[str]) -> str:
    return f"(?i){'|'.join(literally(one.lower()) for one in texts)}" if texts else ""


def _parted(pattern: str) -> tuple[str, str]:
    """Return the flags in front of an expression, and the rest."""
    if not pattern.startswith("(?") or not pattern[2:3].isalpha():
        return "", pattern
    end = pattern.index(")") + 1
    return pattern[:end], pattern[end:]
