"""The oracle's answers for many boards at once.

Every function takes ``boards``, a NumPy array of int8 with shape ``(N, rows, columns)``: 0 empty,
1 black, 2 white; row 0 is the **bottom** row and column 0 the left one, as everywhere in the
oracle. It returns an array whose first axis is the board, and raises :class:`ValueError` for
boards that are not of this form (:func:`oracle.planes.check_boards`).

The rules are those of :mod:`oracle.rules`, on bit-planes; a *map* below is an array of the boards'
shape with a value for every point. Gomoku is in :mod:`oracle.batch_gomoku`.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from oracle.planes import PlaneFrame, Planes, ask
from oracle.position import BLACK, WHITE
from oracle.rules import go
from oracle.rules.flood import labels

Boards = NDArray[np.int8]
Map = NDArray[np.bool_]
Found = TypeVar("Found")
Rule = Callable[[PlaneFrame, Planes, Planes], Found]


def score(boards: Boards) -> NDArray[np.int16]:
    """Return Black's area minus White's, without komi (go-scoring): shape ``(N,)``."""
    return ask(boards, go.score)


def owners(boards: Boards) -> Boards:
    """Return the map of who counts each point: 1 Black, 2 White, 0 nobody (go-scoring)."""
    return ask(boards, lambda frame, *stones: frame.unpack(*go.area(frame, *stones)[:2]))


def positions_legal(boards: Boards) -> Map:
    """Return whether every stone of a board has a liberty: shape ``(N,)``, bool."""
    return ask(boards, lambda *board: ~_without_liberties(*board).any())


def without_liberties(boards: Boards) -> Map:
    """Return the map of the stones whose chains have no liberty."""
    return _map(boards, _without_liberties)


def map_captured(boards: Boards) -> Map:
    """Return the map of ``isCaptured`` (java-go): prisoners, and territory of either color."""

    def rule(frame: PlaneFrame, black: Planes, white: Planes) -> Planes:
        _, _, neutral = go.area(frame, black, white)
        territory = frame.full & ~(black | white | neutral)
        return territory | _without_liberties(frame, black, white)

    return _map(boards, rule)


def java_score(boards: Boards, color: int) -> NDArray[np.int16]:
    """Return ``score(board, colour)`` (java-go), prisoners and territory: shape ``(N,)``."""

    def question(frame: PlaneFrame, mine: Planes, theirs: Planes) -> NDArray[np.int16]:
        prisoners, territory = go.prisoners_and_territory(frame, mine, theirs)
        return prisoners.bit_count() + territory.bit_count()

    return ask(boards, _view_as(color, question))


def legal(boards: Boards, color: int) -> Map:
    """Return the map of the points where a color may play, ko aside (java-go ``isLegal``)."""
    return _map(boards, _view_as(color, go.legal))


def eyes(boards: Boards, color: int = BLACK) -> Map:
    """Return the map of the eyes of a color (gosensei ``-eyes``)."""
    return _map(boards, _view_as(color, go.eyes))


def two_eyes(boards: Boards, color: int = BLACK) -> Map:
    """Return the map of the eyes that have another near (gosensei ``-twoeyes``)."""
    return _map(boards, _view_as(color, go.two_eyes))


def eye_spaces(boards: Boards, color: int = BLACK) -> Map:
    """Return the map of the points in eye spaces of a color (gosensei ``-eyespaces``)."""
    return _map(boards, _view_as(color, go.eye_spaces))


def count_eye_spaces(boards: Boards, color: int = BLACK) -> NDArray[np.int16]:
    """Return the number of eye spaces of a color: shape ``(N,)``."""

    def question(frame: PlaneFrame, mine: Planes, theirs: Planes) -> NDArray[np.int16]:
        one_point_each, _ = labels(frame, go.eye_spaces(frame, mine, theirs))
        return one_point_each.bit_count()

    return ask(boards, _view_as(color, question))


def _map(boards: Boards, rule: Rule[Planes]) -> Map:
    """Return the map of the points that a rule finds on each board."""
    return ask(boards, lambda frame, first, second: frame.unpack_set(rule(frame, first, second)))


def _view_as(color: int, rule: Rule[Found]) -> Rule[Found]:
    """Return a rule for (mine, theirs) as one for (black, white)."""
    if color not in (BLACK, WHITE):
        raise ValueError(f"a color is 1 (black) or 2 (white), not {color!r}")
    if color == BLACK:
        return rule
    return lambda frame, black, white: rule(frame, white, black)


def _without_liberties(frame: PlaneFrame, black: Planes, white: Planes) -> Planes:
    dead_black, dead_white = go.find_captured_of_both(frame, black, white)
    return dead_black | dead_white
