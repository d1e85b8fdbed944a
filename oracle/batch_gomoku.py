"""Gomoku's answers for many boards at once; :mod:`oracle.batch` says what boards are.

``color``, the side to move, is one color for all boards or an array of one for each.
"""

import numpy as np
from numpy.typing import NDArray

from oracle.planes import PlaneFrame, Planes, ask, check_boards
from oracle.position import BLACK, WHITE
from oracle.rules.gomoku import TYPES, by_urgency, fives

Boards = NDArray[np.int8]
Map = NDArray[np.bool_]
Colors = int | NDArray[np.int8]

# What the numbers of :func:`policy_moves` mean; the last is the end of the game.
TYPE_NAMES = (*TYPES, "")
_SWAPPED = np.array([0, WHITE, BLACK], np.int8)  # by color, the color seen from the other side


def winner(boards: Boards) -> NDArray[np.int8]:
    """Return the color that has five in a row, 0 for none; ``BLACK`` where both have.

    Shape ``(N,)``. See :func:`oracle.answers.gomoku_rules.winner`.
    """

    def question(frame: PlaneFrame, black: Planes, white: Planes) -> NDArray[np.int8]:
        of_black, of_white = fives(frame, black).any(), fives(frame, white).any()
        return of_black * np.int8(BLACK) + (of_white & ~of_black) * np.int8(WHITE)

    return ask(boards, question)


def legal_moves(boards: Boards) -> Map:
    """Return the map of empty points, without any on boards where the game is over."""

    def question(frame: PlaneFrame, black: Planes, white: Planes) -> Map:
        empty = frame.full & ~(black | white)
        return frame.unpack_set(empty & ~_over(frame, black, white))

    return ask(boards, question)


def policy_moves(boards: Boards, color: Colors = BLACK) -> tuple[NDArray[np.int8], Map]:
    """Return the type of each board's rule-based moves, and the map of these.

    Types are numbers, shape ``(N,)``, whose names are :data:`TYPE_NAMES`. See
    :func:`oracle.answers.gomoku_policy.policy_moves`.
    """
    types: list[NDArray[np.int8]] = []

    def question(frame: PlaneFrame, mine: Planes, theirs: Planes) -> Map:
        playing = waiting = ~_over(frame, mine, theirs)
        moves, without = mine & ~mine, []
        for found in by_urgency(frame, mine, theirs):
            first = found & waiting & playing
            moves = moves | first
            waiting = waiting & ~first.somewhere()
            without.append((waiting | ~playing).any())
        # A type's number counts the types before it, which have no moves.
        types.append(np.sum(without, axis=0, dtype=np.int8))
        return frame.unpack_set(moves)

    # The boards as the side to move sees them: its own stones are 1.
    seen = check_boards(boards).copy()
    colors = np.broadcast_to(np.asarray(color), len(boards))
    if np.isin(colors, (BLACK, WHITE), invert=True).any():
        raise ValueError("a color is 1 (black) or 2 (white)")
    seen[colors == WHITE] = _SWAPPED[seen[colors == WHITE]]
    moves = ask(seen, question)
    return np.concatenate(types)[: len(boards)], moves


def _over(frame: PlaneFrame, mine: Planes, theirs: Planes) -> Planes:
    """Return the positions in which somebody has won."""
    mine_won, theirs_won = frame.split(fives(frame, frame.join(mine, theirs)))
    return (mine_won | theirs_won).somewhere()
