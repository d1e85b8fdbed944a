"""Handicap stones: the three commands that place them.

Source: GTP version 2, sections 4.1.2 and 6.3.2.
"""

from __future__ import annotations

from oracle.color import WHITE
from oracle.errors import GtpError
from oracle.gtp import gtp_arguments
from oracle.rules.handicap import fixed_points, most_fixed
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session
    from oracle.vertex import Point


def fixed_handicap(session: Session, words: list[str]) -> str:
    """STONES: place the standard handicap of so many stones."""
    stones, size = gtp_arguments.integer(words, 0), _size(session)
    if not 2 <= stones <= most_fixed(size):
        raise GtpError("invalid number of stones")
    return _place(session, fixed_points(size, stones))


def place_free_handicap(session: Session, words: list[str]) -> str:
    """STONES: place a handicap of the engine's choice.

    Section 4.1.2 allows to place fewer stones than asked for. Where the standard has no points
    for so many, this engine takes the largest handicap that it has, or else the two lowest points.
    """
    stones, size = gtp_arguments.integer(words, 0), _size(session)
    if not 2 <= stones < size * size:
        raise GtpError("invalid number of stones")
    most = most_fixed(size)
    if most:
        return _place(session, fixed_points(size, min(stones, most)))
    return _place(session, session.game.position.grid.points(session.game.position.empty)[:2])


def set_free_handicap(session: Session, words: list[str]) -> str:
    """VERTEX ...: place the handicap that somebody else has chosen."""
    position = session.game.position
    points = [gtp_arguments.move(words, index) for index in range(len(words))]
    placed = [point for point in points if point is not None and point in position.grid]
    if len(set(placed)) != len(points) or not 2 <= len(points) < position.grid.full.bit_count():
        raise GtpError("bad vertex list")
    _place(session, placed)
    return ""


def _place(session: Any, points: list[Point]) -> str:
    """Put black stones on an empty board; they are not moves, so undo leaves them."""
    position = session.game.position
    if position.empty != position.grid.full:
        raise GtpError("board not empty")
    stones = position.with_stones(1, position.grid.mask(points))
    session.game = session.new_game(stones, WHITE)
    session.handicap = len(points)
    return " ".join(vertex(point) for point in points)


def _size(session: Session) -> int:
    rows: int = session.game.position.grid.rows
    return rows


COMMANDS: Table = {
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
}
