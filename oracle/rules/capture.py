"""Capture: chains, their liberties, and the moves that are legal on a bare board.

Ko needs the game's history, so it is the game's affair (:mod:`oracle.games.go`).

Source: java-go.txt, "Capturing Stones & Counting Liberties" and "Self Capture".
"""

from __future__ import annotations

from oracle.rules.flood import find_touched_by_several, flood, neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.rules.frame import Bits, Frame


def liberties(frame: Frame[Bits], chain: Bits, occupied: Bits) -> Bits:
    """Return the empty points next to the stones of ``chain``."""
    return neighbours(frame, chain) & ~occupied


def find_captured(frame: Frame[Bits], stones: Bits, others: Bits) -> Bits:
    """Return the stones of one color whose chains have no liberty."""
    empty = frame.full & ~(stones | others)
    return stones & ~flood(frame, empty, stones)


def find_captured_of_both(frame: Frame[Bits], black: Bits, white: Bits) -> tuple[Bits, Bits]:
    """Return :func:`find_captured` of Black's and of White's stones; a legal position has none."""
    empty = frame.full & ~(black | white)
    living = flood(frame, frame.join(empty, empty), frame.join(black, white))
    of_black, of_white = frame.split(living)
    return black & ~of_black, white & ~of_white


def find_taken(frame: Frame[Bits], mine: Bits, theirs: Bits, move: Bits) -> Bits:
    """Return the opponent's stones that leave the board when ``move`` (a point) is played.

    Chains that had no liberty before do not touch the move, and stay. Only the chains next to the
    move are looked at: most games are replayed for the sake of a few captures.
    """
    chains = flood(frame, neighbours(frame, move) & theirs, theirs)
    free = neighbours(frame, chains) & ~(mine | theirs | move)
    return chains & ~flood(frame, free, chains)


def play(frame: Frame[Bits], mine: Bits, theirs: Bits, move: Bits) -> tuple[Bits, Bits]:
    """Return the mover's and the opponent's stones after ``move``, which must be legal."""
    return mine | move, theirs & ~find_taken(frame, mine, theirs, move)


def several_liberties(frame: Frame[Bits], stones: Bits, others: Bits) -> Bits:
    """Return the stones of one color whose chains have two liberties or more."""
    empty = frame.full & ~(stones | others)
    contrasts = [(empty & half, empty & ~half) for half in frame.halves]
    return find_touched_by_several(frame, stones, contrasts)


def legal(frame: Frame[Bits], mine: Bits, theirs: Bits) -> Bits:
    """Return every empty point on which the color of ``mine`` may play, ko aside.

    The stone must have a liberty (of its own, or through a chain that has another one) or take
    a chain whose last liberty the point is.
    """
    empty = frame.full & ~(mine | theirs)
    friends = several_liberties(frame, mine, theirs)
    # Next to an empty point, that is in atari: a chain without liberties touches none.
    victims = theirs & ~several_liberties(frame, theirs, mine)
    return empty & neighbours(frame, empty | friends | victims)


def legal_among(frame: Frame[int], mine: int, theirs: int, points: int) -> int:
    """Return which of some empty points are in :func:`legal`: of one board, and quicker.

    Next to an empty point every move is legal. There are few other points on most boards.
    """
    empty = frame.full & ~(mine | theirs)
    beside_empty = neighbours(frame, empty)
    found = points & beside_empty
    closed = points & ~found
    if closed & closed - 1:  # several
        surely, closed = _sort_closed(frame, (mine, theirs), empty & beside_empty, closed)
        found |= surely
    while closed:
        point = closed & -closed
        if is_legal(frame, mine, theirs, point):
            found |= point
        closed ^= point
    return found


def _sort_closed(
    frame: Frame[int], stones: tuple[int, int], open_points: int, closed: int
) -> tuple[int, int]:
    """Return which of some points without an empty neighbour are legal, and which may be.

    ``stones``: the mover's and the opponent's. A chain beside an open point keeps that liberty:
    a stone may join it, and cannot take it.
    """
    living = flood(frame, frame.join(open_points, open_points), frame.join(*stones))
    mine, theirs = (one & ~free for one, free in zip(stones, frame.split(living), strict=True))
    legal_ones = closed & neighbours(frame, stones[0] & ~mine)
    return legal_ones, closed & ~legal_ones & neighbours(frame, mine | theirs)


def is_legal(frame: Frame[int], mine: int, theirs: int, move: int) -> bool:
    """Return whether one point is in :func:`legal`, without computing the others."""
    empty = frame.full & ~(mine | theirs)
    if not move & empty:
        return False
    if neighbours(frame, move) & empty:  # on most boards next to most points
        return True
    chain = flood(frame, move, mine)
    open_points = liberties(frame, chain, mine | theirs | move)
    return bool(open_points or find_taken(frame, mine, theirs, move))
