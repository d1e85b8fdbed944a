"""The rule-based playout policy of Gomoku: the moves of each of its five types.

Source: gomoku-policy.txt, "Win", "BlockWin", "OpenFour", "BlockOpenFour" and "Random".
"""

from __future__ import annotations

from oracle.rules.lines import almost_open_fours, completing, fives, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.grid import Grid
    from oracle.rules.frame import Bits, Frame

# From the most urgent to the least; only the first type that has any move counts.
TYPES = ("Win", "BlockWin", "OpenFour", "BlockOpenFour", "Random")
WIN, BLOCK_WIN, OPEN_FOUR, BLOCK_OPEN_FOUR, RANDOM = TYPES


def by_urgency(frame: Frame[Bits], mine: Bits, theirs: Bits) -> Iterator[Bits]:
    """Yield the moves of each type, in the order of :data:`TYPES`, for the color of ``mine``.

    The game must not be over (:func:`oracle.rules.lines.fives`).
    """
    empty = frame.full & ~(mine | theirs)
    both = completing(frame, frame.join(mine, theirs), frame.join(empty, empty))
    yield from frame.split(both)
    yield open_fours(frame, mine, empty)
    yield open_four_blocks(frame, theirs, empty)
    yield empty


def most_urgent(grid: Grid, mine: int, theirs: int) -> tuple[str, int]:
    """Return the first type that has moves, and these; ``("", 0)`` on a full board.

    The game must not have been won.
    """
    for kind, moves in zip(TYPES, by_urgency(grid, mine, theirs), strict=True):
        if moves:
            return kind, moves
    return "", 0


def rule_based(grid: Grid, mine: int, theirs: int) -> tuple[str, int]:
    """Return the first type that has moves, and these; ``("", 0)`` when the game is over."""
    if fives(grid, grid.join(mine, theirs)):
        return "", 0
    return most_urgent(grid, mine, theirs)


def uniform(grid: Grid, mine: int, theirs: int) -> tuple[str, int]:
    """Return ``Random`` and the empty points; ``("", 0)`` when the game is over."""
    empty = grid.full & ~(mine | theirs)
    if not empty or fives(grid, grid.join(mine, theirs)):
        return "", 0
    return RANDOM, empty


# gomoku-policy.txt, "policy policytype".
POLICIES = {"random": uniform, "rule_based": rule_based}


def open_fours(frame: Frame[Bits], stones: Bits, empty: Bits) -> Bits:
    """Return the empty points on which one more stone makes an open four.

    That is ``.XXXX.``, four stones whose two neighbours on the line are empty points of the
    board; what lies beyond does not matter.
    """
    points = stones & ~stones
    for step in steps(frame):
        second, third, fourth, fifth = almost_open_fours(stones, empty, step)
        found = (fourth | fifth << step) << step
        points = points | (second | (third | found) << step) << step
    return points


def open_four_blocks(frame: Frame[Bits], stones: Bits, empty: Bits) -> Bits:
    """Return the empty points that block a *three* of ``stones``, for all threes together.

    A three is three stones and an empty point on four neighbouring points. A *completion* of it
    is the point that turns it into an open four, with the two empty ends which that four would
    have. The three is blocked by the points that all its completions have in common.

    A split three (``X.XX``, ``XX.X``) has one completion, its whole window. A solid three has up
    to two, ``.eXXX.`` and ``.XXXe.``; their windows begin one step apart, and the first point of
    the one and the last point of the other are not common to both.
    """
    points = stones & ~stones
    for step in steps(frame):
        second, third, fourth, fifth = almost_open_fours(stones, empty, step)
        split = third | fourth
        first_point = split | fifth | second & ~(fifth >> step)
        last_point = split | second | fifth & ~(second << step)
        found = (fifth | last_point << step) << step
        found = (third | (fourth | found) << step) << step
        points = points | first_point | (second | found) << step
    return points
