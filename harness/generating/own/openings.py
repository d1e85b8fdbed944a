"""Conversations to continue from: the positions of given cases, and of game records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from harness.declared.declaration import (
    ASKS,
    CHOOSES,
    COLOR,
    SIZE,
    STARTS,
    VERTEX,
    Declaration,
)
from harness.declared.engine import ReferenceEngine
from harness.declared.game_state import vertex_of
from harness.generating.own.drafts import Opening
from harness.generating.record_reading import Choices
from harness.generating.record_replay import is_private
from harness.records import CaseFile, Step
from harness.specifications.record import Specification
from oracle.errors import SgfError
from oracle.position import grid
from oracle.sgf import Node, dialects, games, values

_EACH = 3  # positions of a game or a case file
_LONGEST = 60  # commands that lead to a position
_COLORS = (("B", 0), ("W", 1))


def of_cases(cases: Iterable[CaseFile], declaration: Declaration) -> Iterator[Opening]:
    """Yield the positions at which case files ask something, the last ones of each file."""
    for case in cases:
        found = {said: step for said, step in _questions(case, declaration) if said}
        usable = [said for said in found if len(said) <= _LONGEST]
        for said in usable[-_EACH:]:
            place = f"{Path(case.path).name}:{found[said].line}"
            yield Opening(said, f"from the position of {place}")


def identities(case: CaseFile, declaration: Declaration) -> Iterator[tuple[str, ...]]:
    """Yield what is the same for tests that are the same, of each test of a case file."""
    for said, step in _questions(case, declaration):
        yield (*said, step.command)


def _questions(case: CaseFile, declaration: Declaration) -> Iterator[tuple[tuple[str, ...], Step]]:
    """Yield each question with what leads to it, from the last beginning of a board on.

    Nothing is known of a position after a move of an engine's choice.
    """
    said: list[str] | None = None
    for step in case.steps:
        command = declaration.command(step.command.partition(" ")[0])
        if command and command.kind in (ASKS, CHOOSES):
            if said is not None:
                yield tuple(said), step
            said = None if command.plays else said
        elif command and command.kind == STARTS and command.arguments:
            said = [step.command]
        elif command and said is not None:
            said.append(step.command)


class Records:
    """Game records as openings; ``counts`` tells how many games there were, and which not used."""

    def __init__(
        self,
        specification: Specification,
        declaration: Declaration,
        choices: Choices,
        *,
        private: bool | None,
        strict: bool = False,
    ) -> None:
        """Take what is asked for.

        ``private``: which half of the games; None: all. ``strict``: whether sizes and points are
        read only as SGF writes them.
        """
        self.counts: Counter[str] = Counter()
        self._specification = specification
        self._declaration = declaration
        self._choices = choices
        self._private = private
        self._strict = strict

    def openings(self, paths: Iterable[str]) -> Iterator[Opening]:
        """Yield positions of games, as far as the reference accepts their moves."""
        for path in paths:
            self.counts["files"] += 1
            try:
                found = games(Path(path).read_bytes(), path)
            except (OSError, SgfError):
                self.counts["a file is not a game record"] += 1
                continue
            for number, game in enumerate(found, 1):
                self.counts["games"] += 1
                if game.fault:
                    self.counts["damaged or cut off; used up to there"] += 1
                name = f"game {number} of {path}" if len(found) > 1 else path
                yield from self._of_game(game.root, name)

    def _of_game(self, root: Node, name: str) -> Iterator[Opening]:
        begun, played = self._play_accepted(list(self._moves(root)), self._size(root))
        identity = sha256("\n".join(played).encode()).hexdigest()  # hangs on its moves alone
        if self._private is not None and is_private(identity) != self._private:
            self.counts[f"kept for {'public' if self._private else 'private'} cases"] += 1
        elif not played:
            self.counts["no move that the reference accepts"] += 1
        else:
            self.counts["used"] += 1
            for number in self._numbers(identity, len(played)):
                yield Opening((*begun, *played[:number]), f"from {name}, after move {number}")

    def _numbers(self, identity: str, last: int) -> list[int]:
        some = {1 + self._choices.rank(identity, turn) % last for turn in range(_EACH - 1)}
        return sorted({min(last, _LONGEST), *(one for one in some if one <= _LONGEST)})

    def _moves(self, root: Node) -> Iterator[tuple[int, str]]:
        """Yield the moves of the first variations: the place of the color, and the point."""
        node: Node | None = root
        while node is not None:
            for name, color in _COLORS:
                for value in node.properties.get(name, ()):
                    yield color, self._respell(name, value)
            node = node.children[0] if node.children else None

    def _size(self, root: Node) -> tuple[int, int]:
        size = self._respell("SZ", root.properties.get("SZ", ["19"])[0])
        columns, _, rows = size.partition(":")
        first, second = (
            int(side) if side.strip().isdigit() else 0 for side in (columns, rows or columns)
        )
        return first, second

    def _respell(self, name: str, value: str) -> str:
        """Return a value as SGF has it, if that is known."""
        spelled = None if self._strict else dialects.spell(name, value)
        return value if spelled is None else spelled

    def _play_accepted(
        self, moves: list[tuple[int, str]], size: tuple[int, int]
    ) -> tuple[tuple[str, ...], list[str]]:
        """Return what begins the board, and the moves up to the first that is refused."""
        begun = tuple(self._begin(size))
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        played: list[str] = []
        if not begun or size not in self._declaration.game.sizes:
            return (), []
        if any(engine.refuses(engine.reply(command)) for command in begun):
            return (), []
        for color, value in moves:
            command = self._play(color, value, size)
            if not command or engine.refuses(engine.reply(command)):
                break
            played.append(command)
        return begun, played

    def _begin(self, size: tuple[int, int]) -> Iterator[str]:
        """Yield what begins a board of a size; nothing where that needs more than a number."""
        starts = self._declaration.of_kind(STARTS)
        if all({one.drawn for one in start.arguments} <= {SIZE} for start in starts):
            for start in starts:
                yield " ".join([start.name, *(str(size[0]) for _ in start.arguments)])

    def _play(self, color: int, value: str, size: tuple[int, int]) -> str:
        """Return the command that plays a move of a record; "" if nobody can tell."""
        move, game = self._declaration.move, self._declaration.game
        place = _place(value, size)
        if move is None or place is None or color >= len(game.colors):
            return ""
        words = {COLOR: game.colors[color], VERTEX: vertex_of(place, game)}
        told = [words.get(one.drawn, "") for one in move.arguments]
        return " ".join([move.name, *told]) if all(told) else ""


def _place(value: str, size: tuple[int, int]) -> tuple[int, int] | None:
    """Return the column and row, from the lower left, of a point in a record."""
    columns, rows = size
    try:
        row, column = values.point(value, grid(rows, columns))
    except ValueError:
        return None
    return column, row
