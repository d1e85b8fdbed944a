"""GTP version 2 for adapters: a line comes in, a reply goes out, and a board of Go in between.

An engine's commands are its methods in :attr:`AdapterEngine.commands`; one that raises
:class:`Refusal` is answered with ``?`` and its text. Whatever the student's program does, the
adapter lives on.

A point is (column, row), both from 0, the top row first, as a Java array of rows has it. Colors
are java-go.txt's: 1 is black, 2 is white.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

Command = Callable[[list[str]], str]
Point = tuple[int, int]
BLACK, WHITE = 1, 2
_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # GTP's columns skip I
TIMED_OUT = "time-out: "  # so begins the answer where the student's program took all its time


class Refusal(Exception):  # noqa: N818 - it is an answer
    """Reason for an answer with ``?``."""


class TimeOut(Refusal):
    """Refusal for want of time. A busy machine may be why: grading asks again, alone on it."""

    def __str__(self) -> str:
        """Return the answer, which begins with :data:`TIMED_OUT`."""
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

    def __init__(self, columns: int, rows: int, stones: dict[Point, int] | None = None) -> None:
        self.columns = columns
        self.rows = rows
        self.stones = stones or {}
        self.ko: tuple[Point, int] | None = None

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
        """Return the points next to a point, up to four."""
        x, y = point
        around = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
        return [(a, b) for a, b in around if 0 <= a < self.columns and 0 <= b < self.rows]

    def chain(self, point: Point) -> tuple[set[Point], set[Point]]:
        """Return the stones of a stone's chain, and its liberties."""
        chain, liberties, pending = {point}, set(), [point]
        while pending:
            for neighbor in self.neighbors(pending.pop()):
                color = self.stones.get(neighbor)
                if color is None:
                    liberties.add(neighbor)
                elif color == self.stones[point] and neighbor not in chain:
                    chain.add(neighbor)
                    pending.append(neighbor)
        return chain, liberties

    def after(self, color: int, point: Point | None) -> AdapterBoard:
        """Return the board after a move (None: a pass); :class:`Refusal` if it is illegal."""
        if point is None:
            return AdapterBoard(self.columns, self.rows, self.stones)
        if point in self.stones or self.ko == (point, color):
            raise Refusal("illegal move")
        board = AdapterBoard(self.columns, self.rows, self.stones | {point: color})
        captured = board.list_captures(color, point)
        for stone in captured:
            del board.stones[stone]
        chain, liberties = board.chain(point)
        if not liberties:
            raise Refusal("illegal move")
        if len(captured) == len(chain) == len(liberties) == 1:
            board.ko = captured.pop(), other(color)
        return board

    def list_captures(self, color: int, point: Point) -> set[Point]:
        """Return the other color's stones beside a point whose chains have no liberty."""
        theirs = [n for n in self.neighbors(point) if self.stones.get(n) == other(color)]
        chains = [self.chain(stone) for stone in theirs]
        return {stone for chain, liberties in chains if not liberties for stone in chain}

    def digits(self) -> list[list[int]]:
        """Return the rows, the top one first, with 0 for empty points."""
        return [
            [self.stones.get((x, y), 0) for x in range(self.columns)] for y in range(self.rows)
        ]


class AdapterEngine:
    """The commands that both adapters have.

    ``moves``: those since the board was last set, as (color, point or None for a pass).
    ``undo_boards``: the board before each of them. ``is_game``: whether the board that was set is
    the one on which the student's game begins, empty and of its size.
    """

    name = "adapter"
    sizes = range(1, 26)
    size = 19

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.running = True
        self.commands: dict[str, Command] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: self.name,
            "version": lambda _: "",
            "known_command": lambda words: str(words[0] in self.commands).lower(),
            "list_commands": lambda _: "\n".join(sorted(self.commands)),
            "quit": self.quit,
            "cputime": lambda _: f"{sum(os.times()[:4]):.3f}",
            "boardsize": self.boardsize,
            "clear_board": self.clear_board,
            "play": self.play,
            "undo": self.undo,
            "gogui-setup": self.setup,
            "load_board": self.load_board,
        }
        self.set(AdapterBoard(self.size, self.size))

    def set(self, board: AdapterBoard) -> None:
        """Set a board; there are no moves yet."""
        self.board = board
        self.moves: list[tuple[int, tuple[int, int] | None]] = []
        self.undo_boards: list[AdapterBoard] = []
        self.is_game = not board.stones and (board.columns, board.rows) == (self.size, self.size)

    def handle(self, line: str) -> str:
        """Return the reply to a line with its empty line; "" to a blank or comment line."""
        words = line.partition("#")[0].split()
        if not words:
            return ""
        number = words.pop(0) if words[0].isdigit() else ""
        try:
            if not words or words[0] not in self.commands:
                raise Refusal("unknown command")
            return f"={number} {_drop_empty_lines(self.commands[words[0]](words[1:]))}\n\n"
        except (IndexError, ValueError):
            return f"?{number} syntax error\n\n"
        except Refusal as refusal:
            return f"?{number} {_drop_empty_lines(' '.join(str(refusal).split()))}\n\n"

    def quit(self, _words: list[str]) -> str:
        """End the engine, and whatever it has started."""
        self.running = False
        self.close()
        return ""

    def close(self) -> None:
        """End whatever was started."""

    def boardsize(self, words: list[str]) -> str:
        """Empty the board and give it a size."""
        size = int(words[0])
        if size not in self.sizes:
            raise Refusal("unacceptable size")
        self.set(AdapterBoard(size, size))
        return ""

    def clear_board(self, _words: list[str]) -> str:
        """Empty the board."""
        self.set(AdapterBoard(self.board.columns, self.board.rows))
        return ""

    def play(self, words: list[str]) -> str:
        """Play a move by the rules of Go; the student's program is not asked."""
        color = color_of(words[0])
        point = None if words[1].lower() == "pass" else self.board.point(words[1])
        after = self.board.after(color, point)
        self.undo_boards.append(self.board)
        self.board = after
        self.moves.append((color, point))
        return ""

    def undo(self, _words: list[str]) -> str:
        """Take the last move back."""
        if not self.undo_boards:
            raise Refusal("cannot undo")
        self.board = self.undo_boards.pop()
        self.moves.pop()
        return ""

    def setup(self, words: list[str]) -> str:
        """Put stones as they are, without rules."""
        pairs = list(zip(words[::2], words[1::2], strict=True))
        stones = {self.board.point(vertex): color_of(color) for color, vertex in pairs}
        self.set(AdapterBoard(self.board.columns, self.board.rows, self.board.stones | stones))
        return ""

    def load_board(self, words: list[str]) -> str:
        """Load the board in a file."""
        raise NotImplementedError


def _drop_empty_lines(text: str) -> str:
    """Return a text as a reply can have it: an empty line would end it."""
    kept = "".join(c for c in text.rstrip() if c in "\n\t" or c.isprintable())
    first, *rest = kept.split("\n")
    return "\n".join([first, *(line or " " for line in rest)])
