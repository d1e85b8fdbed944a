"""Boards for tests: read from diagrams, every one of a size, and from random play.

Arrays are (N, rows, columns) of int8 as :mod:`oracle.batch` takes them, the bottom row first.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np

from oracle.position import Grid, Position
from oracle.rules import go
from oracle.rules.go import eyes

LETTERS = {".": 0, "+": 0, "X": 1, "b": 1, "O": 2, "w": 2, "0": 0, "1": 1, "2": 2}


def board(text: str) -> Position:
    """Read a diagram of ``.XO`` or ``012``, the top row first; spaces do not count."""
    rows = [line.replace(" ", "") for line in text.strip().splitlines()]
    return Position.from_rows([[LETTERS[letter] for letter in row] for row in rows])


def sensei_board(text: str) -> Position:
    """Read a picture as gosensei.txt draws it, with labels and the lines between the rows."""
    rows = [line[2::2] for line in text.strip().splitlines() if line[:1].isdigit()]
    return board("\n".join(rows))


def to_array(positions: list[Position]) -> np.ndarray:
    return np.array([position.to_rows()[::-1] for position in positions], np.int8)


def from_array(cells: np.ndarray) -> Position:
    return Position.from_rows(cells[::-1].tolist())


def every_board(rows: int, columns: int) -> np.ndarray:
    """Return all boards of a size: 81 of 2x2, 19,683 of 3x3."""
    boards = list(product((0, 1, 2), repeat=rows * columns))
    return np.array(boards, np.int8).reshape(-1, rows, columns)


def scatter_stones(rng: np.random.Generator, number: int, rows: int, columns: int) -> np.ndarray:
    """Return boards with stones thrown at them: any density, any chain without liberties."""
    empty = rng.random((number, 1, 1))
    stone = rng.integers(1, 3, (number, rows, columns))
    return np.where(rng.random(stone.shape) < empty, 0, stone).astype(np.int8)


def random_game(shape: Grid, rng: random.Random) -> list[Position]:
    """Play at random until nobody has a sensible move; return the position after every move.

    A player fills no eye of his own (:func:`oracle.rules.go.eyes`) and never brings back an
    earlier position. What is left at the end are one-point eyes, and every chain
    has two of them (a chain with one would have been taken).
    """
    sides, idle, mover = (0, 0), 0, 0
    positions = {Position(shape): None}
    while idle < 2:
        mine, theirs = sides
        allowed = _sensible(shape, mine, theirs)
        idle += 1
        while allowed:
            stone = shape.bit(rng.choice(shape.points(allowed)))
            after = go.play(shape, mine, theirs, stone)
            position = Position(shape, *(after if mover == 0 else after[::-1]))
            if position not in positions:
                sides, idle = after, 0
                positions[position] = None
                break
            allowed &= ~stone
        sides, mover = sides[::-1], 1 - mover
    return list(positions)[1:]


def _sensible(shape: Grid, mine: int, theirs: int) -> int:
    return go.legal(shape, mine, theirs) & ~eyes(shape, mine, theirs)


def end_of(game: list[Position]) -> Position | None:
    """Return the last position of a random game if it ended, rather than went on for ever."""
    last = game[-1]
    sides = (last.black, last.white), (last.white, last.black)
    return None if any(_sensible(last.grid, *side) for side in sides) else last
