"""Eyes, two eyes and eye spaces, as gosensei.txt defines them (not as Go players judge life)."""

from __future__ import annotations

from oracle.rules.area import reach
from oracle.rules.flood import find_touched_by_several, flood, labels, neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.rules.flood import Flood
    from oracle.rules.frame import Bits, Frame


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
