"""Lines of Gomoku for tests to be about: found in positions, and made at every edge."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions
from harness.vocabulary.scenes import SceneMoment, StoneBits
from oracle.grid import Grid, grid
from oracle.rules.lines import fives, fives_along, long_lines, steps, window

DIRECTIONS = ("row", "column", "rising", "falling")  # in the order of oracle.rules.lines.steps
_TURNS = ((0, 1), (1, 0), (1, 1), (1, -1))


def edge(shape: Grid, points: int) -> str:
    """Return the edge or corner that some points touch, ``""`` when they touch none."""
    found = shape.points(points)
    rows, columns = [row for row, _ in found], [column for _, column in found]
    sides = (
        ("lower", 0 in rows),
        ("upper", shape.rows - 1 in rows),
        ("left", 0 in columns),
        ("right", shape.columns - 1 in columns),
    )
    return " ".join(name for name, touched in sides if touched)


class Won(NamedTuple):
    """The line with which the last stone has won."""

    direction: str
    points: int


def find_win(moment: SceneMoment) -> Won | None:
    """Return the line of five or more that the last stone completed, if it did."""
    shape, board = moment.shape, moment.board
    if not moment.move or any(fives(shape, mask) for mask in moment.before):
        return None
    mine = board.of(moment.color)
    lines = [line for line in long_lines(shape, mine) if line & moment.move]
    if not lines:
        return None
    along = zip(DIRECTIONS, steps(shape), strict=True)
    name = next(name for name, step in along if fives_along(lines[0], step))
    return Won(name, lines[0])


def is_over(moment: SceneMoment) -> bool:
    """Return whether somebody has won or the board is full."""
    shape, board = moment.shape, moment.board
    return board.stones == shape.full or any(fives(shape, mask) for mask in board)


def windows(shape: Grid, direction: int, length: int) -> list[int]:
    """Return the first points of all windows in one direction, as bits."""
    up, right = _TURNS[direction]
    reach = length - 1
    return [
        shape.bit((row, column))
        for row, column in shape.points(shape.full)
        if (row + up * reach, column + right * reach) in shape
    ]


def line(random: Random, size: int, direction: int, length: int = 5) -> int:
    """Return a line somewhere on a board, at an edge more often than not."""
    shape = grid(size)
    step = steps(shape)[direction]
    lines = [window(start, step, length) for start in windows(shape, direction, length)]
    at_edge = [one for one in lines if edge(shape, one)]
    return random.choice(at_edge if at_edge and random.random() < 0.6 else lines)


def complete_line(random: Random, size: int, points: int, color: int, *, end: bool) -> SceneMoment:
    """Return the moment in which a line was completed, by a stone at an end of it or within."""
    shape = grid(size)
    places = shape.points(points)
    inner = places[1:-1]
    move = shape.bit(random.choice([places[0], places[-1]] if end or not inner else inner))
    before = made_positions.add_stones(StoneBits(), color, points & ~move)
    before = made_positions.sprinkle(random, shape, before, points, points.bit_count() + 1)
    return made_positions.after(
        "gomoku", size, before, color, move, made_positions.add_stones(before, color, move)
    )
