"""Positions that tests are made about, from game records or from nothing. All immutable.

Game record → :class:`Played` → :class:`SceneMoment` → :class:`Find` (a moment and one of its
features) → :class:`Scene` (commands).

Boards travel between processes as integers: the bits of :mod:`oracle.grid`.
"""

from __future__ import annotations

from typing import NamedTuple

from oracle.grid import Grid, grid
from oracle.position import Position
from oracle.rules.flood import neighbours


class SceneOrigin(NamedTuple):
    """Where a position comes from."""

    text: str  # for a reader: file and game
    game: str  # names the game, whatever file it is in and however it is turned; "" if made
    changes: tuple[str, ...] = ()  # what has been done to the position, for a reader

    def but(self, change: str) -> SceneOrigin:
        """Return the origin of a changed position."""
        return self._replace(changes=(*self.changes, change))

    @property
    def sentence(self) -> str:
        """The text with all changes."""
        return f"{self.text} ({'; '.join(self.changes)})" if self.changes else self.text


MADE = SceneOrigin("made at random", "")


class StoneBits(NamedTuple):
    """Stones: one integer of bits for each color."""

    black: int = 0
    white: int = 0

    def of(self, color: int) -> int:
        """Return one color's stones."""
        return self[color - 1]

    @property
    def stones(self) -> int:
        """All stones."""
        return self.black | self.white


EMPTY = StoneBits()


class Played(NamedTuple):
    """A game as far as it can be played: ``boards[n]`` is the board after ``n`` moves."""

    origin: SceneOrigin
    kind: str  # "go" or "gomoku"
    size: int
    moves: list[tuple[int, int]]  # color, and its bit; 0: a pass, or a move that rules forbid
    boards: list[StoneBits]
    notes: tuple[str, ...] = ()  # what is odd about it


class SceneMoment(NamedTuple):
    """A board, and the move that led to it."""

    origin: SceneOrigin
    kind: str
    size: int
    number: int  # moves so far
    before: StoneBits
    color: int  # of the last move; 0 when there was none
    move: int  # its bit; 0 for a pass or none
    board: StoneBits

    @property
    def shape(self) -> Grid:
        """The board's geometry."""
        return grid(self.size)

    @property
    def taken(self) -> int:
        """The stones that the last move has taken."""
        return self.before.stones & ~self.board.stones

    @property
    def ko(self) -> int:
        """The point on which the last move may not be taken back at once, or 0."""
        one = self.taken if self.taken.bit_count() == 1 else 0
        others = self.board.of(self.to_play)
        return one if one and neighbours(self.shape, self.move) & ~others == one else 0

    @property
    def to_play(self) -> int:
        """Whose turn it is: the other color than the last move's, Black at the beginning."""
        return 3 - self.color if self.color else 1

    def position(self) -> Position:
        """Return the board as the oracle's functions take it."""
        return Position(self.shape, *self.board)


class Find(NamedTuple):
    """A moment that has a feature."""

    rank: int  # the lowest ranks are kept: a number that the key gives
    feature: str
    answer: str  # what kind of answer is expected, such as "B" or "draw"
    moment: SceneMoment


class SceneCommand(NamedTuple):
    """A command of a scene."""

    command: str
    asked: bool = False  # whether it is a test
    why: str = ""  # the reason of its answer, where the oracle explains none


class Scene(NamedTuple):
    """A position that is set up and asked about: a few tests that belong together."""

    find: Find
    steps: tuple[SceneCommand, ...]
    files: tuple[tuple[str, str], ...] = ()  # board files: name and content
