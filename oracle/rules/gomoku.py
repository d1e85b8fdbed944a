"""The rules of Gomoku on a board of bits: lines of five, and the rule-based playout policy."""

from __future__ import annotations

from oracle.position import Grid, each_bit

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from oracle.rules.flood import Bits, Frame


def steps(frame: Frame[Any]) -> tuple[int, int, int, int]:
    """Return the steps of the four directions: to the right, up, up right and up left."""
    return 1, frame.stride, frame.stride + 1, frame.stride - 1


def fives(frame: Frame[Bits], stones: Bits) -> Bits:
    """Return the windows of five stones, of any direction; a line of six has two of them."""
    found = stones & ~stones
    for step in steps(frame):
        found = found | fives_along(stones, step)
    return found


def fives_along(stones: Bits, step: int) -> Bits:
    """Return the windows of five stones in one direction."""
    pairs = stones & stones >> step
    return pairs & pairs >> 2 * step & stones >> 4 * step


def completing(frame: Frame[Bits], stones: Bits, empty: Bits) -> Bits:
    """Return the empty points on which one more stone completes five or more in a row.

    They are those that have a window of five around them whose four other points are stones.
    """
    points = stones & ~stones
    for step in steps(frame):
        second = stones >> step
        third = second >> step
        fourth = third >> step
        fifth = fourth >> step
        front, back = stones & second, fourth & fifth
        front_three, back_three = front & third, third & back
        # From the last point of the window to the first, each one step nearer to its start.
        found = (front_three & fourth) << step
        found = (found | front_three & fifth) << step
        found = (found | front & back) << step
        found = (found | stones & back_three) << step
        points = points | found | second & back_three
    return empty & points


def almost_open_fours(stones: Bits, empty: Bits, step: int) -> tuple[Bits, Bits, Bits, Bits]:
    """Return the windows ``.eXXX.``, ``.XeXX.``, ``.XXeX.`` and ``.XXXe.`` in one direction.

    They are the windows of six in which one stone, on the empty point ``e``, makes the open four
    ``.XXXX.``; all their other points ``.`` are empty as well.
    """
    second_stone = stones >> step
    third_stone = second_stone >> step
    fourth_stone = third_stone >> step
    fifth_stone = fourth_stone >> step
    second_gap = empty >> step
    third_gap = second_gap >> step
    fourth_gap = third_gap >> step
    fifth_gap = fourth_gap >> step
    open_ends = empty & fifth_gap >> step
    inner = open_ends & third_stone & fourth_stone
    outer = open_ends & second_stone & fifth_stone
    return (
        inner & second_gap & fifth_stone,
        outer & third_gap & fourth_stone,
        outer & third_stone & fourth_gap,
        inner & second_stone & fifth_gap,
    )


def window(start: int, step: int, length: int) -> int:
    """Return the points of one window."""
    points = 0
    for place in range(length):
        points |= start << place * step
    return points


def long_lines(grid: Grid, stones: int) -> list[int]:
    """Return each line of five or more stones, whole: its windows of five that overlap, as one."""
    lines = []
    for step in steps(grid):
        starts = fives_along(stones, step)
        for start in each_bit(starts & ~(starts << step)):
            line = window(start, step, 5)
            while starts & (start := start << step):
                line |= window(start, step, 5)
            lines.append(line)
    return lines


# --- The rule-based playout policy of Gomoku: the moves of each of its five types ----------------
# Source: gomoku-policy.txt, "Win", "BlockWin", "OpenFour", "BlockOpenFour" and "Random".


# From the most urgent to the least; only the first type that has any move counts.
TYPES = ("Win", "BlockWin", "OpenFour", "BlockOpenFour", "Random")
WIN, BLOCK_WIN, OPEN_FOUR, BLOCK_OPEN_FOUR, RANDOM = TYPES


def by_urgency(frame: Frame[Bits], mine: Bits, theirs: Bits) -> Iterator[Bits]:
    """Yield the moves of each type, in the order of :data:`TYPES`, for the color of ``mine``.

    The game must not be over (:func:`oracle.rules.gomoku.fives`).
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
