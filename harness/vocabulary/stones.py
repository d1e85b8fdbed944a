"""Stones that Hypothesis lays where programs go wrong: edges, lines, threats, eyes, full boards.

Each function returns a strategy for a board of some size. What belongs together is drawn as one
choice where that is possible, from a list made once: Hypothesis's time goes by the number of
choices.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from oracle.position import Point

T = TypeVar("T")
Stones = list[tuple[str, Point]]  # (color, point) in the order in which they are laid

COLORS = st.sampled_from(("B", "W"))
_STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
_AWAY = (*_STEPS, *((-up, -right) for up, right in _STEPS))
_LONGEST = 7  # points of a line


def flat(parts: Iterable[list[T]]) -> list[T]:
    """Return the elements of some lists in one."""
    return [one for part in parts for one in part]


@cache
def _coordinates(size: int) -> tuple[int, ...]:
    """Return rows or columns, as many of them at the edge or beside it as anywhere."""
    near = sorted({0, 1, size - 2, size - 1} & set(range(size)))
    return (*near * (size // len(near)), *range(size))


@cache
def points(size: int) -> SearchStrategy[Point]:
    """Return points of a board, mostly near the edge."""
    return st.sampled_from(list(product(_coordinates(size), repeat=2)))


@cache
def single(size: int) -> SearchStrategy[Stones]:
    """Return a stone."""
    stones = product("BW", product(_coordinates(size), repeat=2))
    return st.sampled_from([[stone] for stone in stones])


@cache
def _rows(width: int, weights: str) -> SearchStrategy[str]:
    """Return what lies on some points beside each other; ``x`` is a color, ``o`` the other."""
    return st.sampled_from(["".join(row) for row in product(weights, repeat=width)])


@cache
def block(size: int, side: int = 4, weights: str = "..xxo") -> SearchStrategy[Stones]:
    """Return a few rows of points, full of stones: captures, shared regions, eyes, seki."""
    side = min(side, size)
    shapes = st.sampled_from(list(product(range(1, side + 1), repeat=2)))

    def rows(shape: tuple[int, ...]) -> SearchStrategy[list[str]]:
        return st.lists(_rows(shape[1], weights), min_size=shape[0], max_size=shape[0])

    return st.builds(
        lambda color, corner, filled: _lay(size, color, corner, filled),
        COLORS,
        points(size),
        shapes.flatmap(rows),
    )


def _lay(size: int, color: str, corner: Point, rows: Sequence[str]) -> Stones:
    """Return the stones of a block, pushed onto the board where it would reach beyond."""
    up = min(corner[0], size - len(rows))
    right = min(corner[1], size - len(rows[0]))
    found = [
        (cell, (up + r, right + c)) for r, row in enumerate(rows) for c, cell in enumerate(row)
    ]
    return _color(color, found)


def _color(color: str, cells: Iterable[tuple[str, Point]]) -> Stones:
    other = "W" if color == "B" else "B"
    return [({"x": color, "o": other}[cell], point) for cell, point in cells if cell != "."]


# What may lie on a line: as many stones of one color as there are points, or nearly as many.
_SOLID = ["x" * length for length in range(1, _LONGEST + 1)]
_MIXED = [
    "".join(row)
    for length in range(2, _LONGEST + 1)
    for row in product("x.o", repeat=length)
    if row.count("x") + 2 >= length and row.count("o") < 2
]


@cache
def line(size: int) -> SearchStrategy[Stones]:
    """Return a line of points in one of the four directions: near-misses, overlines, threats."""
    return st.builds(
        lambda start, way, color, held, turn: _line_up(_way(size, start, *way), color, held, turn),
        points(size),
        st.sampled_from(list(product(_STEPS, (False, False, True)))),
        COLORS,
        st.one_of(st.sampled_from(_SOLID), st.sampled_from(_MIXED)),
        st.integers(0, _LONGEST - 1),
    )


def _way(size: int, start: Point, step: Point, is_bent: bool) -> list[Point]:
    """Return the points of a line on the board.

    ``is_bent``: it continues at the other edge, a row higher, as a list of rows would have it.
    """
    points_ = [(start[0] + i * step[0], start[1] + i * step[1]) for i in range(_LONGEST)]
    if is_bent:
        points_ = [divmod(row * size + column, size) for row, column in points_]
    return [point for point in points_ if _is_on(point, size)]


def _line_up(points: list[Point], color: str, cells: str, turn: int) -> Stones:
    """Return a line's stones, those from ``turn`` on first."""
    found = list(zip(cells, points, strict=False))
    turn = turn if turn < len(found) else 0
    return _color(color, found[turn:] + found[:turn])


_THREATS = (
    *("xxx", "xxxx", "xx.x", "oxxx", "o.xxx", "xxx.o", "xx.xx", "xxx.x", "oxxxx"),
    *("xxx.xx", "xxxoxx", "x.x.x"),
    *("o.xxx", "xxx.o") * 3,  # three blocks beside a stone: much must be as it is, so draw more
)


@cache
def threat(size: int, colors: str = "BW") -> SearchStrategy[Stones]:
    """Return stones that threaten something, or nearly so."""
    return st.builds(
        lambda start, step, held: _line_up(_way(size, start, step, False), held[0], held[1], 0),
        points(size),
        st.sampled_from(_STEPS),
        st.sampled_from(list(product(colors, _THREATS))),
    )


@cache
def roomy(size: int) -> SearchStrategy[Stones]:
    """Return a three with room for an open four, mostly on both of its sides."""
    ways = [
        [("x", way[place]) for place in (first, first + 1, first + 2)]
        for start, step in product(product(range(size), range(size)), _STEPS)
        for way in [_way(size, start, step, False)[:6]]
        for first in (1, 2)
        if len(way) == 6
    ]
    return st.builds(_color, COLORS, st.sampled_from(ways))


@cache
def duel(size: int) -> SearchStrategy[Stones]:
    """Return threats of both colors."""
    return st.tuples(threat(size, "B"), threat(size, "W")).map(flat)


# Threats with an empty point of theirs, before, in or behind them: (stones, index of the point).
_AT_A_GAP = [
    (row, index)
    for row in (f".{threat}." for threat in _THREATS if "o" not in threat)
    for index, cell in enumerate(row)
    if cell == "."
]


@cache
def crossing(size: int) -> SearchStrategy[Stones]:
    """Return two threats that one point completes or stops."""

    def crossed(arms: tuple[list[Point], list[Point]], colors: str) -> Stones:
        return [(color, point) for color, arm in zip(colors, arms, strict=True) for point in arm]

    point = st.sampled_from(list(product(range(size), repeat=2)))
    both = point.flatmap(lambda where: st.tuples(_arm(size, where), _arm(size, where)))
    return st.builds(crossed, both, st.sampled_from(("BB", "WW", "BW")))


@cache
def _arm(size: int, point: Point) -> SearchStrategy[list[Point]]:
    """Return the stones of a threat, all on the board, that has an empty point at ``point``."""
    ways = [
        [
            (point[0] + i * up, point[1] + i * right)
            for i, cell in enumerate(row, -at)
            if cell == "x"
        ]
        for (up, right), (row, at) in product(_STEPS, _AT_A_GAP)
    ]
    return st.sampled_from([way for way in ways if all(_is_on(one, size) for one in way)])


def _is_on(point: Point, size: int) -> bool:
    return 0 <= point[0] < size and 0 <= point[1] < size


def _no_five(size: int) -> Stones:
    """Return a full board with no more than two of a color in a row in any direction."""
    return [("BBWW"[(c + 2 * r) % 4], (r, c)) for r in range(size) for c in range(size)]


@cache
def filling(size: int, color: str) -> tuple[Point, ...]:
    """Return points for stones of a color that mean nothing, all over the board."""
    points_ = [point for own, point in _no_five(size) if own == color]
    return tuple(sorted(points_, key=lambda point: (5 * point[0] + 3 * point[1]) % 11))


@cache
def full(size: int) -> SearchStrategy[Stones]:
    """Return a board without five in a row that is full except for some points."""
    board = _no_five(size)
    holes = st.lists(st.integers(0, len(board) - 1), max_size=2)
    return holes.map(lambda left_out: [s for i, s in enumerate(board) if i not in left_out])


@cache
def pocket(size: int) -> SearchStrategy[Stones]:
    """Return a board full except for one point, which only the last stone's color surrounds."""

    def laid(hole: Point, color: str) -> Stones:
        around = [(hole[0] + i, hole[1] + j) for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))]
        own = [(color, point) for point in around if _is_on(point, size)]
        rest = [stone for stone in _no_five(size) if stone[1] not in (hole, *around)]
        return [*rest, *own]

    return st.builds(laid, points(size), COLORS)


@cache
def draw_answered(size: int) -> SearchStrategy[Stones]:
    """Return threes whose third block, two steps away, makes a threat of its own."""
    return st.builds(_color, COLORS, st.sampled_from(_list_answered(size)))


@cache
def _list_answered(size: int) -> list[list[tuple[str, Point]]]:
    """Return them all; ``x`` is the color that blocks. Beyond a three is its stone or the edge."""
    return [
        [(color, point) for color, point in found if _is_on(point, size)]
        for block in product(range(size), range(size))
        for away, across in product(_AWAY, _STEPS)
        for pair in ((1, 2), (-1, 1), (-2, -1))
        if across not in (away, (-away[0], -away[1]))
        for found in [_cross_three(block, away, across, pair)]
        if all(_is_on(point, size) for _, point in found[:-1])
    ]


def _cross_three(
    block: Point, step: Point, cross_step: Point, pair: tuple[int, int]
) -> list[tuple[str, Point]]:
    """Return a three from two steps away on, two stones in line with its block, and its end."""
    three = [("o", (block[0] + n * step[0], block[1] + n * step[1])) for n in (2, 3, 4)]
    own = [("x", (block[0] + n * cross_step[0], block[1] + n * cross_step[1])) for n in pair]
    return [*three, *own, ("x", (block[0] + 6 * step[0], block[1] + 6 * step[1]))]


def corner_ko(color: str) -> Stones:
    """Return a ko in the corner; this color takes it with the last stone."""
    other = "W" if color == "B" else "B"
    around = [(other, (1, 0)), (other, (0, 1)), (color, (1, 1)), (color, (0, 2))]
    return [*around, (color, (0, 0))]


# --- eyes --------------------------------------------------------------------------------------


@cache
def ring(size: int) -> SearchStrategy[Stones]:
    """Return stones around a rectangle, some of them perhaps missing, perhaps with one inside."""

    def laid(color: str, corners: tuple[Point, Point], gaps: list[int], inside: int) -> Stones:
        inner, outer = _rectangle(*corners, size)
        left_out = {outer[i] for i in gaps if -i <= len(outer)}
        kept = [("x", point) for point in outer if point not in left_out]
        return _color(color, kept + [("o", point) for point in inner[:inside]])

    side = st.sampled_from((1, 1, 2, 3))
    where = st.tuples(points(size), st.tuples(side, side))
    last = st.lists(st.integers(-4, -1), max_size=4)  # the corners, mostly
    return st.builds(laid, st.sampled_from("BBW"), where, last, st.sampled_from((0, 0, 0, 1)))


def _rectangle(corner: Point, shape: Point, size: int) -> tuple[list[Point], list[Point]]:
    """Return the points of a rectangle, and those around it: first beside, then at its corners."""
    up, right = min(corner[0], size - shape[0]), min(corner[1], size - shape[1])
    inner = [(up + r, right + c) for r in range(shape[0]) for c in range(shape[1])]
    around = {(r + i, c + j) for r, c in inner for i in (-1, 0, 1) for j in (-1, 0, 1)}
    beside = {(r + i, c + j) for r, c in inner for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    outer = [point for point in around - set(inner) if _is_on(point, size)]
    return inner, sorted(outer, key=lambda point: (point not in beside, point))


_EYES = ((1, 1), (1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (1, 3))  # rows and columns of a space


@cache
def pair(size: int, colors: str = "BBW", *, is_full: bool = False) -> SearchStrategy[Stones]:
    """Return two eyes or spaces, near or not so near each other, walls complete or nearly so.

    ``colors``: of the walls, the likelier oftener. ``is_full``: the other color fills them, and
    its stones come first.
    """

    def laid(color: str, first: Point, step: Point, shapes: Any, gaps: Sequence[int]) -> Stones:
        second = _beside(first[0], step[0], size), _beside(first[1], step[1], size)
        both = [_rectangle(*one, size) for one in zip((first, second), shapes, strict=True)]
        eyes = dict.fromkeys(point for inner, _ in both for point in inner)
        around = [p for _, outer in both for p in outer if p not in eyes]
        kept = [point for i, point in enumerate(around) if i not in gaps]
        filled = [("o", point) for point in eyes if is_full]
        return _color(color, filled + [("x", point) for point in dict.fromkeys(kept)])

    few = st.one_of(st.just(()), st.lists(st.integers(0, 15), max_size=2))
    steps = st.sampled_from([*product(range(4), repeat=2), *[(k, k) for k in (2, 3, 3, 3, 4)]])
    shapes = st.tuples(st.sampled_from(_EYES), st.sampled_from(_EYES))
    return st.builds(laid, st.sampled_from(colors), points(size), steps, shapes, few)


def _beside(coordinate: int, step: int, size: int) -> int:
    return coordinate + step if coordinate + step < size else coordinate - step
