"""Handicap stones: where the standard puts them, and the three commands that place them.

Source: GTP version 2, sections 4.1.1, 4.1.2 and 6.3.2.
"""

from __future__ import annotations

from oracle.color import WHITE
from oracle.errors import GtpError
from oracle.gtp import arguments
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session
    from oracle.vertex import Point

# Rows and columns in thirds: low, middle, high. The corners come first, in the order of a 2, 3
# and 4 stone handicap; then the sides' middles. An odd number from 5 on has the center as well.
_CORNERS = ((0, 0), (2, 2), (2, 0), (0, 2))
_SIDES = ((1, 0), (1, 2), (0, 1), (2, 1))
_CENTER = (1, 1)


def fixed_points(size: int, stones: int) -> list[Point]:
    """Return the standard places of a fixed handicap on a square board.

    Raises :class:`GtpError` when the standard has none for this number and size.
    """
    if not 2 <= stones <= most_fixed(size):
        raise GtpError("invalid number of stones")
    edge = 2 if size < 13 else 3
    lines = (edge, size // 2, size - 1 - edge)
    center = stones >= 5 and stones % 2 == 1
    thirds = (*_CORNERS, *_SIDES)[: stones - center] + ((_CENTER,) if center else ())
    return [(lines[row], lines[column]) for row, column in thirds]


def most_fixed(size: int) -> int:
    """Return the largest fixed handicap: boards without a middle line have only corners."""
    if size < 7:
        return 0
    return 9 if size >= 9 and size % 2 == 1 else 4


def fixed_handicap(session: Session, words: list[str]) -> str:
    """STONES: place the standard handicap of so many stones."""
    return _place(session, fixed_points(_size(session), arguments.integer(words, 0)))


def place_free_handicap(session: Session, words: list[str]) -> str:
    """STONES: place a handicap of the engine's choice.

    Section 4.1.2 allows to place fewer stones than asked for. Where the standard has no points
    for so many, this engine takes the largest handicap that it has, or else the lowest points.
    """
    stones, size = arguments.integer(words, 0), _size(session)
    if not 2 <= stones < size * size:
        raise GtpError("invalid number of stones")
    most = most_fixed(size)
    if most:
        return _place(session, fixed_points(size, min(stones, most)))
    return _place(session, session.game.position.grid.points(session.game.position.empty)[:2])


def set_free_handicap(session: Session, words: list[str]) -> str:
    """VERTEX ...: place the handicap that somebody else has chosen."""
    position = session.game.position
    points = [arguments.move(words, index) for index in range(len(words))]
    placed = [point for point in points if point is not None and point in position.grid]
    if len(set(placed)) != len(points) or not 2 <= len(points) < position.grid.full.bit_count():
        raise GtpError("bad vertex list")
    _place(session, placed)
    return ""


def _place(session: Session, points: list[Point]) -> str:
    """Put black stones on an empty board; they are no moves, so undo leaves them."""
    position = session.game.position
    if position.empty != position.grid.full:
        raise GtpError("board not empty")
    stones = position.with_stones(1, position.grid.mask(points))
    session.game = session.new_game(stones, WHITE)
    return " ".join(vertex(point) for point in points)


def _size(session: Session) -> int:
    rows: int = session.game.position.grid.rows
    return rows


COMMANDS: Table = {
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
}
