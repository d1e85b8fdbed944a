"""The game of Gomoku: whose turn, who won, and history, which a position alone does not know."""

from __future__ import annotations

from oracle.answers.gomoku_rules import DRAW, UNKNOWN, winner
from oracle.color import BLACK, EMPTY, NAMES, opponent
from oracle.errors import IllegalMove
from oracle.position import Position
from oracle.rules.lines import fives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.vertex import Point

    Move = tuple[int, Point]  # color and point; Gomoku has no pass


class State:
    """One moment of a game.

    Attributes: ``position``; ``to_play``; ``winner``, the color of the first five, or ``EMPTY``;
    ``move``, what led here, or None for a setup.
    """

    __slots__ = ("move", "position", "to_play", "winner")

    def __init__(
        self, position: Position, to_play: int, winner: int, move: Move | None = None
    ) -> None:
        self.position = position
        self.to_play = to_play
        self.winner = winner
        self.move = move

    def after(self, color: int, point: Point) -> State:
        """Return the moment after a stone on an empty point."""
        stones = self.position.stones(color) | self.position.grid.bit(point)
        position = self.position.with_stones(color, stones)
        winner = self.winner
        if winner == EMPTY and fives(position.grid, stones):
            winner = color
        return State(position, opponent(color), winner, (color, point))


class GomokuGame:
    """A game of Gomoku from an empty board or a given position.

    Colors need not alternate; after a move it is the other color's turn. Play goes on after the
    end if asked, and the first five stays the winner's.

    Source: gomoku-rules.html, "Rules of Gomoku" and "Details for end of game".
    """

    __slots__ = ("_states",)

    def __init__(self, position: Position, to_play: int = BLACK) -> None:
        self._states = [State(position, to_play, winner(position))]

    @property
    def position(self) -> Position:
        """The stones on the board now."""
        return self._states[-1].position

    @property
    def start(self) -> Position:
        """The stones that the game began with."""
        return self._states[0].position

    @property
    def to_play(self) -> int:
        """The color whose turn it is: the other than the last move's."""
        return self._states[-1].to_play

    @property
    def winner(self) -> int:
        """The color that made the first five, or ``EMPTY``."""
        return self._states[-1].winner

    @property
    def moves(self) -> list[Move]:
        """All moves since the beginning."""
        return [state.move for state in self._states if state.move is not None]

    @property
    def is_over(self) -> bool:
        """Whether somebody has won or the board is full."""
        return self.winner != EMPTY or not self.position.empty

    @property
    def played_on(self) -> bool:
        """Whether a move was played after the first five, which the document leaves open."""
        return len(self._states) > 1 and self._states[-2].winner != EMPTY

    @property
    def result(self) -> str:
        """``black``, ``white``, ``draw`` or ``unknown``."""
        if self.winner != EMPTY:
            return NAMES[self.winner]
        return DRAW if self.is_over else UNKNOWN

    def legal_moves(self) -> int:
        """The mask of empty points; none when the game is over."""
        return 0 if self.is_over else self.position.empty

    def refusal(self, point: Point) -> str | None:
        """Return why no stone can be played here: ``"off board"``, ``"occupied"`` or None."""
        if point not in self.position.grid:
            return "off board"
        return None if self.position.grid.bit(point) & self.position.empty else "occupied"

    def play(self, color: int, point: Point) -> None:
        """Play a stone, after the end of the game too.

        Raises :class:`IllegalMove` with the reason of :meth:`refusal`; the game is unchanged then.
        """
        reason = self.refusal(point)
        if reason is not None:
            raise IllegalMove(reason)
        self._states.append(self._states[-1].after(color, point))

    def undo(self) -> Move:
        """Take the last move back and return it.

        Raises :class:`IndexError` when there is none; a position set up cannot be undone.
        """
        move = self._states[-1].move
        if move is None:
            raise IndexError("no move to take back")
        self._states.pop()
        return move
