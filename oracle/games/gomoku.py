"""The game of Gomoku: whose turn, who won, and history, which a position alone does not know."""

from oracle.answers.gomoku_rules import DRAW, UNKNOWN, winner
from oracle.errors import IllegalMove
from oracle.games import History, Moment
from oracle.position import BLACK, EMPTY, NAMES, Move, Point, Position, opponent
from oracle.rules.gomoku import fives


class GomokuState(Moment):
    """One moment of a game of Gomoku.

    Attributes beside those of every moment: ``winner``, the color of the first five, or ``EMPTY``;
    ``in_turn``, whether the colors took turns so far.
    """

    __slots__ = ("in_turn", "winner")

    move: tuple[int, Point] | None  # Gomoku has no pass

    def __init__(
        self,
        position: Position,
        to_play: int,
        winner: int,
        move: Move | None = None,
        *,
        in_turn: bool = True,
    ) -> None:
        super().__init__(position, to_play, move)
        self.winner = winner
        self.in_turn = in_turn

    def after(self, color: int, point: Point) -> "GomokuState":
        """Return the moment after a stone, whatever was there before."""
        position = self.position.place(point, color)
        stones = position.stones(color)
        winner = self.winner
        if winner == EMPTY and fives(position.grid, stones):
            winner = color
        in_turn = self.in_turn and color == self.to_play
        return GomokuState(position, opponent(color), winner, (color, point), in_turn=in_turn)

    def turn_to(self, color: int) -> "GomokuState":
        """Return the same moment with another color to play, which is out of turn."""
        return GomokuState(self.position, color, self.winner, self.move, in_turn=False)


class GomokuGame(History[GomokuState]):
    """A game of Gomoku from an empty board or a given position.

    Colors need not alternate; after a move it is the other color's turn. Play continues after the
    end if asked, and the first five stays the winner's.

    Source: gomoku-rules.html, "Rules of Gomoku" and "Details for end of game".
    """

    __slots__ = ()

    def __init__(self, position: Position, to_play: int = BLACK) -> None:
        super().__init__(GomokuState(position, to_play, winner(position)))

    @property
    def winner(self) -> int:
        """The color that made the first five, or ``EMPTY``."""
        return self._states[-1].winner

    @property
    def is_over(self) -> bool:
        """Whether somebody has won or the board is full."""
        return self.winner != EMPTY or not self.position.empty

    @property
    def in_turn(self) -> bool:
        """Whether the colors took turns, from the side to move of the first board on."""
        return self._states[-1].in_turn

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

    def record(self, color: int, point: Point) -> None:
        """Play a stone as a game record has it, even on another one.

        Raises :class:`IllegalMove` for a point off the board.
        """
        if self.refusal(point) == "occupied":
            self._states.append(self._states[-1].after(color, point))
        else:
            self.play(color, point)
