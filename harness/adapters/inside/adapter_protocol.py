"""GTP version 2 for adapters: a line comes in, a reply goes out.

An engine's commands are its methods in :attr:`AdapterEngine.commands`; one that raises
:class:`Refusal` is answered with ``?`` and its text. Whatever the student's program does, the
adapter lives on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .go_board import AdapterBoard, Refusal, color_of

Command = Callable[[list[str]], str]


class AdapterEngine:
    """The commands that both adapters have. ``before`` has the boards that ``undo`` goes back to.

    ``moves`` are those since the board was last set, as (color, point or None for a pass);
    ``begun`` tells whether that was an empty board of the size that the game has.
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
            "known_command": lambda words: str(words[:1][0] in self.commands).lower(),
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
        self.before: list[AdapterBoard] = []
        self.begun = not board.stones and (board.columns, board.rows) == (self.size, self.size)

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
        self.before.append(self.board)
        self.board = after
        self.moves.append((color, point))
        return ""

    def undo(self, _words: list[str]) -> str:
        """Take the last move back."""
        if not self.before:
            raise Refusal("cannot undo")
        self.board = self.before.pop()
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
