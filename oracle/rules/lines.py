"""Lines of Gomoku: fives, the points that complete one, and the windows of open fours.

A *window* is a number of neighbouring points on one line; a set of windows is the set of their
first points. A *step* leads from a point to the next one on its line (:func:`steps`). A window
over the edge contains a point of the guard column or row, which is neither stone nor empty point,
so no rule here has to look at edges.

Source: gomoku-rules.html, "Rules of Gomoku": "a line of five or more stones of your own color,
either horizontally, vertically or diagonally".
"""

from __future__ import annotations

from oracle.grid import each_bit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from oracle.grid import Grid
    from oracle.rules.frame import Bits, Frame


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
