"""A board of Go: stones on points, and what a move does to them.

A point is (column, row), both from 0, the top row first, as a Java array of rows has it. Colors
are java-go.txt's: 1 is black, 2 is white.
"""

from __future__ import annotations

BLACK, WHITE = 1, 2
_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # GTP's columns skip I
Point = tuple[int, int]
TIMED_OUT = "time-out: "  # so begins the answer where the student's program took all its time


class Refusal(Exception):  # noqa: N818 - it is an answer
    """Reason for an answer with ``?``."""


class TimeOut(Refusal):
    """The same, where a busy machine may be why: grading asks again, with nothing beside it."""

    def __str__(self) -> str:
        """Return the answer, which can be told from others by its beginning."""
        return f"{TIMED_OUT}{super().__str__()}"


def color_of(word: str) -> int:
    """Return the color of GTP's ``b``, ``black``, ``w`` or ``white``."""
    color = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}.get(word.lower())
    if color is None:
        raise Refusal("syntax error")
    return color


def other(color: int) -> int:
    """Return the opponent's color."""
    return BLACK + WHITE - color


class AdapterBoard:
    """A board that is never changed; ``ko`` is what the color after the last may not retake."""

    def __init__(
        self,
        columns: int,
        rows: int,
        stones: dict[Point, int] | None = None,
        ko: tuple[Point, int] | None = None,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.stones = stones or {}
        self.ko = ko

    def point(self, vertex: str) -> Point:
        """Return the point of a GTP vertex; raise :class:`Refusal` if it is not on the board."""
        column, row = _LETTERS.find(vertex[:1].upper()), int(vertex[1:])
        if not (0 <= column < self.columns and 1 <= row <= self.rows):
            size = f"{self.columns} columns and {self.rows} rows"
            raise Refusal(f"{vertex.upper()} is not on the board of {size}")
        return column, self.rows - row

    def vertex(self, point: Point) -> str:
        """Return the GTP vertex of a point."""
        return f"{_LETTERS[point[0]]}{self.rows - point[1]}"

    def neighbors(self, point: Point) -> list[Point]:
        """Return the points beside one."""
        x, y = point
        beside = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
        return [(a, b) for a, b in beside if 0 <= a < self.columns and 0 <= b < self.rows]

    def chain(self, point: Point) -> tuple[set[Point], set[Point]]:
        """Return the stones of a stone's chain, and its liberties."""
        chain, free, waiting = {point}, set(), [point]
        while waiting:
            for near in self.neighbors(waiting.pop()):
                color = self.stones.get(near)
                if color is None:
                    free.add(near)
                elif color == self.stones[point] and near not in chain:
                    chain.add(near)
                    waiting.append(near)
        return chain, free

    def after(self, color: int, point: Point | None) -> AdapterBoard:
        """Return the board after a move (None: a pass); :class:`Refusal` if it is illegal."""
        if point is None:
            return AdapterBoard(self.columns, self.rows, self.stones)
        if point in self.stones or self.ko == (point, color):
            raise Refusal("illegal move")
        board = AdapterBoard(self.columns, self.rows, self.stones | {point: color})
        taken = board.list_captures(color, point)
        for stone in taken:
            del board.stones[stone]
        chain, free = board.chain(point)
        if not free:
            raise Refusal("illegal move")
        if len(taken) == len(chain) == len(free) == 1:
            board.ko = taken.pop(), other(color)
        return board

    def list_captures(self, color: int, point: Point) -> set[Point]:
        """Return the other color's stones beside a point whose chains have no liberty."""
        theirs = [n for n in self.neighbors(point) if self.stones.get(n) == other(color)]
        chains = [self.chain(stone) for stone in theirs]
        return {stone for chain, free in chains if not free for stone in chain}

    def digits(self) -> list[list[int]]:
        """Return the rows, the top one first, with 0 for empty points."""
        return [
            [self.stones.get((x, y), 0) for x in range(self.columns)] for y in range(self.rows)
        ]
