"""java-go.txt's program as an engine: its three methods, and its game for two.

The methods are asked about the board as the case file has set it. The game is played from its
beginning, by the moves of the case file, and judged by the board that it prints: so only games
that begin on an empty board of 11 by 11 can be asked about.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .adapter_protocol import AdapterBoard, AdapterEngine, Refusal, TimeOut, color_of
from .calling import JAVA, TimeLeft, class_path

if TYPE_CHECKING:
    from .playing import Player

_START = 60.0  # seconds until the classes are loaded
_MARGIN = 10  # times the processor seconds: the shim, which watches itself, is done before
_ENOUGH = 3  # calls of a method that did not return; after them it is not called
X_COLUMN, X_ROW = "x is the column", "x is the row"


class Methods:
    """Asks ``isCaptured``, ``score`` and ``isLegal`` through ``Shim.java``, in one process."""

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        self._folder = folder
        self._settings = settings
        self._axes: str = settings["axes"]
        self._hung: dict[str, int] = {}
        self._java: subprocess.Popen[bytes] | None = None

    def at_point(self, name: str, board: AdapterBoard, point: tuple[int, int], *more: int) -> str:
        """Ask a method with two coordinates; return the value as text, or raise Refusal."""
        if self._axes == "auto":
            self._axes = self._find_axes()
            self._hung.clear()  # what was asked to find out is held against nobody
        return self.ask(name, board, *self._order(point, self._axes), *more)

    def ask(self, name: str, board: AdapterBoard, *arguments: int) -> str:
        """Ask a method; return the value as text.

        Raises:
            Refusal: it threw something, did not return, is missing; isCaptured changed the board.
        """
        if self._hung.get(name, 0) >= _ENOUGH:
            raise TimeOut(f"{name} did not return {_ENOUGH} times before; it is not called again")
        shown = f"{name}({', '.join(['board', *map(str, arguments)])})"
        answer, _, change = self._exchange(name, board, arguments).partition("\t")
        kind, _, text = answer.partition(" ")
        if kind == "time":
            self._hung[name] = self._hung.get(name, 0) + 1
            self.close()
            raise TimeOut(f"{shown} did not return within {self._settings['seconds']:g} s")
        if kind != "value":
            raise Refusal(f"{shown} failed: {text}")
        if change:
            x, y, was, now = map(int, change.split())
            where = f"{board.vertex((x, y))} was {was} and is {now}"
            # Only isCaptured must leave the board alone: how would a position be captured by
            # asking? Score and legality are often worked out by taking stones off.
            if name == "isCaptured":
                raise Refusal(f"{shown} answered {text}, but changed the board: {where}")
            print(f"note: {shown} changed the board it was given: {where}", file=sys.stderr)
        return text

    def _exchange(self, name: str, board: AdapterBoard, arguments: tuple[int, ...]) -> str:
        digits = "".join(str(digit) for row in board.digits() for digit in row)
        words = [name, board.rows, board.columns, digits, *arguments]
        java = self._java or self._start()
        assert java.stdin
        try:
            java.stdin.write(" ".join(map(str, words)).encode() + b"\n")
            answer = _line(java, self._settings["seconds"] * _MARGIN)
        except BrokenPipeError:
            answer = ""
        if answer is None:
            return "time"
        if not answer:
            status = java.wait()
            self._java = None
            return f"error the program ended itself with exit status {status}"
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        mode = ("gtpharness.Shim", "methods", self._folder / self._settings["classes"])
        words = [*JAVA, "-cp", class_path(self._folder, self._settings), *map(str, mode)]
        self._java = java = subprocess.Popen(
            [*words, str(self._settings["seconds"])],
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        ready = _line(java, _START)
        if ready != "ready":
            self.close()
            kind = TimeOut if ready is None else Refusal
            raise kind("the classes could not be loaded by Java")
        return java

    def _find_axes(self) -> str:
        """Return which of the two coordinates is the column: the document does not say.

        A stone off the diagonal is not legal to be played on, or is captured, and the point across
        the diagonal is not. Where the methods are too wrong to tell, x is the column, as in
        mathematics.
        """
        lone = AdapterBoard(5, 5, {(3, 1): 1})
        beside = dict.fromkeys(((2, 1), (4, 1), (3, 0), (3, 2)), 1)
        taken = AdapterBoard(5, 5, {(3, 1): 2, **beside, (0, 4): 2, (1, 3): 1})
        probes = (
            ("isLegal", lone, ("false", "true"), (1,)),
            ("isCaptured", taken, ("true", "false"), ()),
        )
        for (name, board, expected, more), axes in product(probes, (X_COLUMN, X_ROW)):
            with contextlib.suppress(Refusal):
                places = (self._order(point, axes) for point in ((3, 1), (1, 3)))
                answers = (self.ask(name, board, *place, *more) for place in places)
                if all(map(str.__eq__, answers, expected)):
                    return axes
        return X_COLUMN

    @staticmethod
    def _order(point: tuple[int, int], axes: str) -> tuple[int, int]:
        x, y = point
        return (x, y) if axes == X_COLUMN else (y, x)

    def close(self) -> None:
        """End Java."""
        if self._java:
            self._java.kill()
            self._java.communicate()
            self._java = None


def _line(java: subprocess.Popen[bytes], seconds: float) -> str | None:
    """Return the next line that Java writes, "" at its end, None if there is none in time."""
    assert java.stdout
    found, patience = b"", TimeLeft(java.pid, seconds)
    while not found.endswith(b"\n"):
        if not select.select([java.stdout], [], [], patience.left())[0]:
            if patience.left():
                continue
            return None
        piece = os.read(java.stdout.fileno(), 1 << 14)
        if not piece:
            return ""
        found += piece
    return found.decode(errors="replace").rstrip("\r\n")


class JavaGo(AdapterEngine):
    """Answers with what the methods return, and with what the game does."""

    name = "java-go"
    size = 11

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        super().__init__(settings)
        self._folder = folder
        self._methods = Methods(settings, folder)
        self._player: Player | None = None
        self.commands |= {
            "is_captured": self.is_captured,
            "score": self.score,
            "is_legal": self.is_legal,
            "can_play": self.can_play,
            "captures": self.captures,
            "is_over": self.is_over,
        }

    def close(self) -> None:
        """End Java."""
        self._methods.close()
        if self._player:
            self._player.close()

    def load_board(self, words: list[str]) -> str:
        """Load a text board of 0, 1 and 2."""
        path = Path(" ".join(words))
        try:
            rows = [[*map(int, line.split())] for line in path.read_text().splitlines() if line]
        except (OSError, ValueError):
            raise Refusal(f"cannot load file: {path.name}") from None
        stones = {(x, y): n for y, row in enumerate(rows) for x, n in enumerate(row) if n}
        self.set(AdapterBoard(len(rows[0]), len(rows), stones))
        return ""

    def is_captured(self, words: list[str]) -> str:
        """The method isCaptured."""
        return self._methods.at_point("isCaptured", self.board, self.board.point(words[0]))

    def score(self, words: list[str]) -> str:
        """The method score."""
        return self._methods.ask("score", self.board, color_of(words[0]))

    def is_legal(self, words: list[str]) -> str:
        """The method isLegal."""
        color, point = color_of(words[0]), self.board.point(words[1])
        return self._methods.at_point("isLegal", self.board, point, color)

    def can_play(self, words: list[str]) -> str:
        """Whether the game takes the move."""
        color, point = color_of(words[0]), self.board.point(words[1])
        return str(self._in_game().accepts(self.moves, (color, point))).lower()

    def captures(self, words: list[str]) -> str:
        """Number of stones of the other color gone from the game's board."""
        return str(self._in_game().prisoners(self.moves, color_of(words[0])))

    def is_over(self, _words: list[str]) -> str:
        """Whether the game has ended."""
        return str(self._in_game().is_over(self.moves)).lower()

    def _in_game(self) -> Player:
        if not self.is_game:
            raise Refusal(f"the game begins on an empty board of {self.size} by {self.size}")
        if self._player is None:
            from .playing import Player

            self._player = Player(self.settings, self._folder)
        return self._player
