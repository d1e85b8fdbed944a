"""The board that a game prints: rows of cells, however they are framed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

Shown = dict[tuple[int, int], int]  # the stones by (column, row) as printed, the first row 0

_FRAME = re.compile(r"[|\[\](),:;]")
_COLOR_CODES = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


class BoardReader:
    """Knows the signs of empty points and stones, and the size of the board."""

    def __init__(self, settings: dict[str, Any], size: int) -> None:
        signs = (settings["empty"], settings["black"], settings["white"])
        self._colors = {sign: color for color, some in enumerate(signs) for sign in some}
        self._size = size

    def last_board(self, text: str) -> Shown | None:
        """Return the last whole board in a text, or None."""
        lines = _COLOR_CODES.sub("", text).replace("\r", "").split("\n")
        rows = [(place, row) for place, line in enumerate(lines) if (row := self._row(line))]
        last = rows[-self._size :]
        # A line between two rows, such as a grid's, is nothing to worry about.
        near = all(after[0] - before[0] <= 2 for before, after in pairwise(last))
        if len(last) < self._size or not near:
            return None
        return {(x, y): c for y, (_, row) in enumerate(last) for x, c in enumerate(row) if c}

    def _row(self, line: str) -> list[int] | None:
        """Return the colors of a row; labels may stand before and behind its cells."""
        words = _FRAME.sub(" ", line).split()
        for cells in self._cuts(words):
            if all(cell in self._colors for cell in cells):
                return [self._colors[cell] for cell in cells]
        return None

    def _cuts(self, words: list[str]) -> list[list[str]]:
        """Return what may be the cells of a line's words, the most likely first.

        Without blanks between the cells, they are the letters of one word.
        """
        extra = len(words) - self._size
        if extra in (0, 1, 2):
            cuts = {0: [(0, 0)], 1: [(1, 0), (0, 1)], 2: [(1, 1)]}[extra]
            return [words[before : len(words) - behind] for before, behind in cuts]
        joined = [[*word] for word in words if len(word) == self._size]
        dashed = [word.split("-") for word in words if word.count("-") == self._size - 1]
        return [cells for cells in (*joined, *dashed) if len(words) <= 3]
