"""The rules of Go on a board of bits: capture, area, eyes and handicap places."""

from __future__ import annotations

from oracle.rules.flood import find_touched_by_several, flood, labels, neighbours

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from oracle.position import Point
    from oracle.rules.flood import Bits, Flood, Frame


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


# --- Area: the stones of a color and the empty regions that touch no other color -----------------
# Sources: go-scoring.txt, "More Detailed Example"; java-go.txt, "Scoring" (territory).


def reach(frame: Frame[Bits], black: Bits, white: Bits) -> tuple[Bits, Bits]:
    """Return for each color its stones and the empty regions they touch."""
    empty = frame.full & ~(black | white)
    return frame.split(flood(frame, frame.join(black, white), frame.join(empty, empty)))


def area(frame: Frame[Bits], black: Bits, white: Bits) -> tuple[Bits, Bits, Bits]:
    """Return the points of Black, those of White and those of nobody.

    An empty region that touches both colors, or none (the empty board), is nobody's. Stones are
    their color's, whether they have liberties or not.
    """
    by_black, by_white = reach(frame, black, white)
    shared = by_black & by_white
    neutral = frame.full & ~(by_black | by_white) | shared
    return by_black & ~shared, by_white & ~shared, neutral


def score(frame: Frame[Bits], black: Bits, white: Bits) -> Any:
    """Return Black's points minus White's on the board, without komi.

    An int; for planes an array of one for each position.
    """
    by_black, by_white = reach(frame, black, white)  # what both reach cancels out
    return by_black.bit_count() - by_white.bit_count()


def prisoners_and_territory(frame: Frame[Bits], mine: Bits, theirs: Bits) -> tuple[Bits, Bits]:
    """Return what java-go.txt, "Scoring", counts for ``mine``, a point each.

    The prisoners are the opponent's stones without liberty; the territory is the empty points of
    the area of ``mine`` when they are off the board. So a captured stone that still lies on it is
    worth two.
    """
    prisoners = find_captured(frame, theirs, mine)
    own, _, _ = area(frame, mine, theirs & ~prisoners)
    return prisoners, own & ~mine


# --- Eyes, two eyes and eye spaces, as gosensei.txt defines them (not as Go players judge life) --


def eyes(frame: Frame[Bits], mine: Bits, theirs: Bits) -> Bits:
    """Return the eyes of ``mine``.

    gosensei.txt, "-eyes Options": "a single empty space that is surrounded by stones of the same
    color vertically and horizontally in all adjacent locations, and diagonally in all or all but
    one location"; off the board there is no location.
    """
    foreign = frame.full & ~mine
    return foreign & ~theirs & ~neighbours(frame, foreign) & ~false_corners(frame, mine)


def false_corners(frame: Frame[Bits], mine: Bits) -> Bits:
    """Return the points two or more of whose diagonal neighbours are not of ``mine``."""
    up, foreign = frame.stride, frame.full & ~mine
    upper, lower = foreign >> up, foreign << up
    first, second, third, fourth = upper >> 1, upper << 1, lower >> 1, lower << 1
    pairs = first & second | third & fourth | (first | second) & (third | fourth)
    return pairs & frame.full


def two_eyes(frame: Frame[Bits], mine: Bits, theirs: Bits) -> Bits:
    """Return the eyes that have another eye within two rows **or** two columns.

    gosensei.txt, "-twoeyes Options", to the letter: "within 2 rows or 2 columns of each other".
    """
    found = eyes(frame, mine, theirs)
    in_rows = company(frame, found, 2, frame.columns)
    in_columns = company(frame, found, frame.rows, 2)
    return found & (in_rows | in_columns)


def close_two_eyes(frame: Frame[Bits], mine: Bits, theirs: Bits) -> Bits:
    """Return the eyes that have another within two rows **and** two columns (by the example)."""
    found = eyes(frame, mine, theirs)
    return found & company(frame, found, 2, 2)


def company(frame: Frame[Bits], points: Bits, rows: int, columns: int) -> Bits:
    """Return the places that have another of ``points`` within so many rows and columns."""
    beside = spread(frame, points, 1, columns)
    return beside | spread(frame, points | beside, frame.stride, rows)


def spread(frame: Frame[Bits], points: Bits, step: int, reach: int) -> Bits:
    """Return the places up to ``reach`` steps from ``points``, in both directions of one line."""
    ahead = back = points
    places = points & ~points
    for _ in range(reach):
        ahead = ahead << step & frame.full
        back = back >> step & frame.full
        places = places | ahead | back
    return places


def eye_spaces(frame: Frame[Bits], mine: Bits, theirs: Bits, connect: Flood = flood) -> Bits:
    """Return the empty regions that touch stones of one chain of ``mine`` and no other stone.

    gosensei.txt, "-eyespaces Options": "a group of adjacent empty spaces surrounded entirely by
    connected stones of the same color". ``connect`` tells which stones are connected.
    """
    by_mine, by_theirs = reach(frame, mine, theirs)
    enclosed = by_mine & ~mine & ~by_theirs
    _, digits = labels(frame, mine, connect)
    chains = [(digit, mine & ~digit) for digit in digits]
    return enclosed & ~find_touched_by_several(frame, enclosed, chains)


def larger_than_one(frame: Frame[Bits], spaces: Bits) -> Bits:
    """Return the regions of ``spaces`` that have more than one point."""
    return spaces & neighbours(frame, spaces)


# --- The standard places of handicap stones ------------------------------------------------------
# Source: GTP version 2, section 4.1.1.


# Rows and columns in thirds: low, middle, high. The corners come first, in the order of a 2, 3
# and 4 stone handicap; then the sides' middles. An odd number from 5 on has the center as well.
_CORNERS = ((0, 0), (2, 2), (2, 0), (0, 2))
_SIDES = ((1, 0), (1, 2), (0, 1), (2, 1))
_CENTER = (1, 1)


def fixed_points(size: int, stones: int, edge: int | None = None) -> list[Point]:
    """Return the standard places of a fixed handicap on a square board.

    ``edge``: how many lines lie beyond the corner stones; None: as the standard has it.

    ``stones``: from 2 to :func:`most_fixed`.
    """
    edge = (2 if size < 13 else 3) if edge is None else edge
    lines = (edge, size // 2, size - 1 - edge)
    center = stones >= 5 and stones % 2 == 1
    thirds = (*_CORNERS, *_SIDES)[: stones - center] + ((_CENTER,) if center else ())
    return [(lines[row], lines[column]) for row, column in thirds]


def most_fixed(size: int) -> int:
    """Return the largest fixed handicap: boards without a middle line have only corners."""
    if size < 7:
        return 0
    return 9 if size >= 9 and size % 2 == 1 else 4
