"""Area: the stones of a color and the empty regions that touch no other color.

Sources: go-scoring.txt, "More Detailed Example"; java-go.txt, "Scoring" (territory).
"""

from __future__ import annotations

from oracle.rules.capture import find_captured
from oracle.rules.flood import flood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oracle.rules.frame import Bits, Frame


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
