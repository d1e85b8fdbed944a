"""GNU Go's commands about stones and their liberties: replies and errors are GNU Go's.

Lists begin with the uppermost row, and each row at its left.

Source: GNU Go 3.8, by what it answers; https://www.gnu.org/software/gnugo/gnugo_19.html
"""

from __future__ import annotations

from oracle.color import color_of
from oracle.errors import GtpError
from oracle.gtp import gtp_arguments
from oracle.rules.flood import flood, neighbours
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session
    from oracle.position import Position


def list_stones(session: Session, words: list[str]) -> str:
    """COLOR: the points of its stones (as in GNU Go)."""
    color = color_of(words[0]) if words else None
    if color is None:
        raise GtpError("invalid color")
    position = session.game.position
    return _list(position, position.stones(color))


def query_boardsize(session: Session, words: list[str]) -> str:
    """: the size of the board (as in GNU Go)."""
    return str(session.game.position.grid.rows)


def query_orientation(session: Session, words: list[str]) -> str:
    """: how the board is turned (as in GNU Go): 0, not at all."""
    return "0"


def get_handicap(session: Any, words: list[str]) -> str:
    """: how many handicap stones were placed (as in GNU Go)."""
    return str(session.handicap)


def countlib(session: Session, words: list[str]) -> str:
    """VERTEX: how many liberties the chain there has (as in GNU Go)."""
    return str(_liberties(session, words).bit_count())


def findlib(session: Session, words: list[str]) -> str:
    """VERTEX: the liberties of the chain there (as in GNU Go)."""
    return _list(session.game.position, _liberties(session, words))


def _liberties(session: Session, words: list[str]) -> int:
    position: Position = session.game.position
    try:
        point = gtp_arguments.move(words, 0)
    except GtpError:
        point = None
    if point is None or point not in position.grid:
        raise GtpError("invalid coordinate")
    color = position.color_at(point)
    if not color:
        raise GtpError("vertex must not be empty")
    chain = flood(position.grid, position.grid.bit(point), position.stones(color))
    return neighbours(position.grid, chain) & position.empty


def _list(position: Position, mask: int) -> str:
    points = sorted(position.grid.points(mask), key=lambda point: (-point[0], point[1]))
    return " ".join(map(vertex, points))


COMMANDS: Table = {
    "list_stones": list_stones,
    "query_boardsize": query_boardsize,
    "query_orientation": query_orientation,
    "countlib": countlib,
    "findlib": findlib,
    "get_handicap": get_handicap,
}
