"""The game of Go: whose turn, ko, prisoners and history, which a position alone does not know.

One class plays GTP's Go and the java-go document's game; they differ in the passes that end it.
"""

from __future__ import annotations

from oracle.errors import IllegalMove
from oracle.games import History, Moment
from oracle.position import BLACK, WHITE, Move, Point, Position, grid, opponent, sides
from oracle.rules.flood import flood, neighbours
from oracle.rules.go import find_captured, find_taken, is_legal, legal_among

# The colors of the last two passes that end a game.
EITHER_FIRST = frozenset({(BLACK, WHITE), (WHITE, BLACK)})
# java-go.txt, "The Game": "The game ends when black followed by white skip a go."
BLACK_FIRST = frozenset({(BLACK, WHITE)})


class GoState(Moment):
    """One moment of a game of Go.

    Attributes beside those of every moment: ``ko``, the bit that ``to_play`` may not take back,
    or 0; ``prisoners``, by color the number of stones which that color has captured.
    """

    __slots__ = ("ko", "prisoners")

    def __init__(
        self,
        position: Position,
        to_play: int = BLACK,
        ko: int = 0,
        prisoners: tuple[int, int, int] = (0, 0, 0),
        move: Move | None = None,
    ) -> None:
        super().__init__(position, to_play, move)
        self.ko = ko
        self.prisoners = prisoners

    def after(self, color: int, point: Point) -> GoState:
        """Return the state after a legal stone."""
        shape = self.position.grid
        stone = shape.bit(point)
        mine, theirs = sides(self.position, color)
        beside = neighbours(shape, stone)
        prisoners = find_taken(shape, mine, theirs, stone) if beside & theirs else 0
        mine, theirs = mine | stone, theirs & ~prisoners
        # A ko: a stone that stands alone has taken one, whose point is its only liberty.
        is_ko = prisoners.bit_count() == 1 and beside & ~theirs == prisoners
        count = list(self.prisoners)
        count[color] += prisoners.bit_count()
        return GoState(
            Position(shape, *((mine, theirs) if color == BLACK else (theirs, mine))),
            opponent(color),
            prisoners if is_ko else 0,
            (0, count[BLACK], count[WHITE]),
            (color, point),
        )

    def after_forced(self, color: int, point: Point) -> GoState:
        """Return the state after a stone that the rules forbid, whatever was there before.

        Source: SGF, "How to execute a move": chains of the opponent without liberties are taken
        first, and then its own.
        """
        shape, stone = self.position.grid, self.position.grid.bit(point)
        mine, theirs = sides(self.position, color)
        mine, theirs = mine | stone, theirs & ~stone
        prisoners = find_taken(shape, mine, theirs, stone)
        theirs &= ~prisoners
        own = flood(shape, stone, mine)
        lost = own & find_captured(shape, mine, theirs)
        count = list(self.prisoners)
        count[color] += prisoners.bit_count()
        count[opponent(color)] += lost.bit_count()
        position = self.position.with_stones(color, mine & ~lost)
        position = position.with_stones(opponent(color), theirs)
        moved = (color, point)
        return GoState(position, opponent(color), 0, (0, count[BLACK], count[WHITE]), moved)

    def turn_to(self, color: int) -> GoState:
        """Return the same state with another color to play, who may take any ko."""
        return GoState(self.position, color, 0, self.prisoners, self.move)


class GoGame(History[GoState]):
    """A game of Go from an empty board or a given position.

    Colors need not alternate (GTP version 2, section 6.3.3 *play*: "consecutive moves of the
    same color are not considered illegal from the protocol point of view"), and play continues
    after the end if asked: :attr:`is_over` only tells.

    Suicide is refused, and so is the immediate recapture of a single stone (simple ko).
    """

    __slots__ = ("ending",)

    def __init__(
        self,
        position: Position,
        to_play: int = BLACK,
        ending: frozenset[tuple[int, int]] = EITHER_FIRST,
    ) -> None:
        super().__init__(GoState(position, to_play))
        self.ending = ending

    @classmethod
    def empty(cls, rows: int, columns: int | None = None) -> GoGame:
        """Return a new game on an empty board, square when only ``rows`` is given."""
        return cls(Position(grid(rows, columns)))

    @property
    def ko(self) -> Point | None:
        """The point that :attr:`to_play` may not take back now, or None."""
        bit = self._states[-1].ko
        return self.position.grid.point(bit) if bit else None

    @property
    def ko_repeats(self) -> bool:
        """Whether taking back :attr:`ko` would bring back the board before the last move.

        It would not where it took more than the one stone.
        """
        now = self._states[-1]
        retaken = find_taken(self.position.grid, *sides(now.position, now.to_play), now.ko)
        return retaken.bit_count() == 1 and now.ko != 0

    def prisoners(self, color: int) -> int:
        """Return how many stones this color has captured."""
        return self._states[-1].prisoners[color]

    @property
    def is_over(self) -> bool:
        """Whether the last two moves were passes of the colors in :attr:`ending`."""
        last = [state.move for state in self._states[-2:] if state.move is not None]
        if len(last) < 2 or any(point is not None for _, point in last):
            return False
        return (last[0][0], last[1][0]) in self.ending

    def refusal(self, color: int, point: Point) -> str | None:
        """Return why the rules refuse a stone here, None when they allow it.

        The reason is the first that holds of ``"off board"``, ``"occupied"``, ``"ko"`` and
        ``"suicide"``. Nothing is changed.
        """
        now, shape = self._states[-1], self.position.grid
        if point not in shape:
            return "off board"
        stone = shape.bit(point)
        if not stone & now.position.empty:
            return "occupied"
        if stone == now.ko and color == now.to_play:
            return "ko"
        return None if is_legal(shape, *sides(now.position, color), stone) else "suicide"

    def is_legal(self, color: int, point: Point) -> bool:
        """Whether the rules allow this stone now, ko included."""
        return self.refusal(color, point) is None

    def legal_moves(self, color: int) -> int:
        """Return the mask of the points where the rules allow this color a stone now."""
        now, position = self._states[-1], self.position
        allowed = legal_among(position.grid, *sides(now.position, color), position.empty)
        return allowed & ~now.ko if color == now.to_play else allowed

    def play(self, color: int, point: Point | None) -> int:
        """Play a stone or (None) a pass and return the number of stones captured.

        Raises :class:`IllegalMove` with the reason of :meth:`refusal`; the game is unchanged then.
        """
        now = self._states[-1]
        if point is None:
            after = GoState(now.position, opponent(color), 0, now.prisoners, (color, None))
        else:
            reason = self.refusal(color, point)
            if reason is not None:
                raise IllegalMove(reason)
            after = now.after(color, point)
        self._states.append(after)
        return after.prisoners[color] - now.prisoners[color]

    def record(self, color: int, point: Point | None) -> None:
        """Play a move as a game record has it: neither ko, suicide nor another stone refuses it.

        Raises :class:`IllegalMove` for a point off the board.

        Source: SGF, "How to execute a move".
        """
        now, reason = self._states[-1], point and self.refusal(color, point)
        if point and reason == "ko":
            self._states.append(now.after(color, point))
        elif point and reason in ("suicide", "occupied"):
            self._states.append(now.after_forced(color, point))
        else:
            self.play(color, point)
