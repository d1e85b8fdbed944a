"""A declared game asked otherwise: the board turned, colors exchanged where any may play. Pure.

Nobody here knows the rules: in Hex a turned position is another game. So nothing is taken to stay
as it was. The reference is asked anew, and a conversation ends where the declaration leaves open
what follows, as after the end of a game. Words change where the declaration has a color, a vertex
or a size; all others stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from harness.declared.commands import Allowing, is_sized
from harness.declared.declaration import ANY, Argument, Declaration, DeclaredCommand, Drawn, Kind
from harness.declared.engine import ReferenceEngine
from harness.declared.game_state import bind_arguments, place_of, places, vertex_of, width
from harness.records import Reply
from harness.vocabulary.script import name_of
from harness.vocabulary.transformations import (
    COLORS,
    LARGER,
    ORDER,
    SYMMETRY,
    Transformation,
    match_case,
)
from oracle.gtp.protocol import Engine
from oracle.position import grid
from oracle.symmetry import ALL, OF_RECTANGLES

_KEPT = 2_000  # places of conversations
_SIDES = {Drawn.COLUMN_COUNT: Drawn.ROW_COUNT, Drawn.ROW_COUNT: Drawn.COLUMN_COUNT}


def unfit(declaration: Declaration) -> tuple[str, ...]:
    """Return the kinds of change that a declared game does not have.

    Where colors take turns, the other one may not begin; what a larger board or another order of
    moves would mean, nobody here knows.
    """
    game = declaration.game
    exchanges = game.turns == ANY and len(game.colors) == 2 and _uses(declaration, Drawn.COLOR)
    turns = _uses(declaration, Drawn.VERTEX)
    return (*(() if turns else (SYMMETRY,)), *(() if exchanges else (COLORS,)), LARGER, ORDER)


def _uses(declaration: Declaration, what: str) -> bool:
    return any(one.drawn == what for each in declaration.commands for one in each.arguments)


class BegunBoard:
    """A board that commands have begun, as a transformation sees it."""

    def __init__(self, engine: Engine, allowed: Allowed) -> None:
        """``engine``: the reference, right after a board was begun."""
        assert isinstance(engine, ReferenceEngine)
        self._declaration = engine.declaration
        self._starts = _starts(engine)
        self._size = engine.session.state.size
        self._allowed = allowed

    def draw(self, kind: str, random: Random) -> Transformation | None:
        """Return a change of this kind; None where no board of a declared size was begun."""
        if self._size not in self._declaration.game.sizes:
            return None
        if kind != SYMMETRY:
            return Transformation(kind)
        columns, rows = self._size
        turns = columns == rows or (rows, columns) in self._declaration.game.sizes
        return Transformation(kind, symmetry=random.choice((ALL if turns else OF_RECTANGLES)[1:]))

    def opening(self, settings: Sequence[str], change: Transformation) -> list[str]:
        """Return the commands that began the board, and the settings."""
        return [self.command(one, change) for one in (*self._starts, *settings)]

    def command(self, command: str, change: Transformation) -> str:
        """Return a command as it reads under a change."""
        name, *words = command.split()
        declared = self._declaration.command(name)
        return " ".join([name, *self._words(declared, words, change)]) if declared else command

    def allows(self, engine: Engine, command: str) -> bool:
        """Whether the declaration does not leave open what is right here."""
        return self._allowed(engine, command)

    def _words(
        self, declared: DeclaredCommand, words: list[str], change: Transformation
    ) -> Iterator[str]:
        game, place = self._declaration.game, 0
        told = bind_arguments(declared, words, game)
        for argument in declared.arguments:
            own = words[place : place + width(argument, game)]
            place += len(own)
            yield from self._word(argument, own, told, change) if own else ()
        yield from words[place:]

    def _word(
        self, argument: Argument, words: list[str], told: Mapping[str, str], change: Transformation
    ) -> list[str]:
        """Return an argument as it reads under a change; ``told``: all of them."""
        if argument.drawn == Drawn.VERTEX:
            game, (columns, rows) = self._declaration.game, self._size
            place = place_of(" ".join(words), game)
            if place is None or place not in places(self._size):
                return words
            row, column = change.point((place[1], place[0]), grid(rows, columns))
            return match_case(vertex_of((column, row), game), words[0]).split()
        if argument.drawn == Drawn.COLOR and change.kind == COLORS:
            return [self._color(words[0])]
        if argument.drawn in _SIDES and change.symmetry not in OF_RECTANGLES:
            return [told.get(_SIDES[argument.drawn]) or words[0]]
        return words

    def _color(self, word: str) -> str:
        """Return the other color; of other words the word."""
        one, other = self._declaration.game.colors
        found = {one.lower(): other, other.lower(): one}.get(word.lower(), word)
        return match_case(found, word)


def _starts(engine: ReferenceEngine) -> list[str]:
    """Return the commands that have begun the board, from the last one that tells a size on."""
    begun: list[str] = []
    for line in engine.said:
        command = engine.session.state.lines[line].command
        if command and command.kind == Kind.STARTS:
            begun = [*([] if is_sized(command) else begun), line]
    return begun


class Allowed:
    """Whether the answer to a command is right for all, wherever the reference stands."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._places: dict[tuple[str, ...], Allowing] = {(): Allowing(declaration)}

    def __call__(self, engine: Engine, command: str) -> bool:
        """``engine``: the reference, before the command."""
        assert isinstance(engine, ReferenceEngine)
        return self._at(engine, engine.said).allows(command)

    def _at(self, engine: ReferenceEngine, said: tuple[str, ...]) -> Allowing:
        """Return what is allowed after what was said."""
        if len(self._places) > _KEPT:
            self._places = {(): self._places[()]}
        known = next(n for n in range(len(said), -1, -1) if said[:n] in self._places)
        replies = engine.replies(said) if said else ()
        for count in range(known, len(said)):
            now = self._places[said[:count]].copy()
            for line, reply in self._list_heard(engine, said[: count + 1], replies[count]):
                now.observe(line, reply)
            self._places[said[: count + 1]] = now
        return self._places[said]

    def _list_heard(
        self, engine: ReferenceEngine, said: tuple[str, ...], reply: Reply
    ) -> Iterator[tuple[str, Reply]]:
        """Yield the last command with its reply, and after a move whether the game is over."""
        yield said[-1], reply
        command, over = self._declaration.command(name_of(said[-1])), self._declaration.game.over
        if over and command and (command.kind == Kind.MOVES or command.plays):
            yield over.ask, engine.replies((*said, over.ask))[-1]
