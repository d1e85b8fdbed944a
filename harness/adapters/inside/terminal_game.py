"""One game for two at the terminal, driven through pexpect: what is typed, what the board shows.

``Shim.java`` runs the student's ``main`` and says when it waits for input, so that nobody has to
guess from silence.
"""

from __future__ import annotations

import contextlib
import functools
import re
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pexpect
from pexpect.popen_spawn import PopenSpawn

from .calling import PATIENCE, TimeLeft, describe, limit_processor_time, quote
from .go_board import Refusal, TimeOut
from .methods import JAVA, class_path

Shown = dict[tuple[int, int], int]  # the stones by (column, row) as printed, the first row 0
_FRAME = re.compile(r"[|\[\](),:;]")
_COLOR_CODES = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
SIZE = 11  # java-go.txt: "The grid we will use for this assignment is an 11x11 board."
NO_SUCH_CLASS = 64  # this exit status, the next and the sign are Shim.java's
_TALKS_WITHOUT_END = 65
_ENQUIRY = b"\x05"
_GAME = 4  # times the processor seconds of a call of a method
_LAST_WORDS = 150  # characters
_PAUSE = 0.0005  # seconds between two looks at what it wrote
_STACK = re.compile(r"\s+(at |\.\.\. )")  # a line of a Java stack


class _GamePipes(PopenSpawn):  # type: ignore[misc]
    """A program behind pipes; ``patience`` is the only time limit.

    Those of pexpect are of the machine's clock, which may jump.
    """

    patience: TimeLeft

    def read_nonblocking(self, size: int, _timeout: float | None = None) -> bytes:
        """As pexpect wants it."""
        while not (found := super().read_nonblocking(size, None)):
            if not self.patience.left():
                raise pexpect.TIMEOUT("")
            time.sleep(_PAUSE)
        return bytes(found)


class TerminalGame:
    """One game under way, in a Java process of its own."""

    def __init__(
        self, settings: dict[str, Any], folder: Path, main: str, start: tuple[str, ...] = ()
    ) -> None:
        self.board: Shown = {}
        self.output = ""  # since the last move was typed
        self.ended = ""  # how, when it has
        self.status = 0  # then
        self._seconds: float = settings["seconds"]
        self._patience = 2 * PATIENCE * self._seconds
        self._reader = BoardReader(settings, SIZE)
        mode = ("gtpharness.Shim", "play", str(folder / settings["classes"]), main)
        self._java = _GamePipes(
            [*JAVA, "-cp", class_path(folder, settings), *mode],
            cwd=str(folder),
            preexec_fn=functools.partial(limit_processor_time, _GAME * self._seconds),
        )
        self._listen()
        for text in (*settings["start"], *start):
            self.type(text)
        over = re.compile(settings["over"])
        # Words that stand in the instructions, too, say nothing.
        self._over = None if over.search(self.output) else over

    def type(self, text: str) -> None:
        """Type lines, each when the game waits for one; take in what it prints."""
        if not self.ended:
            self.output = ""
        for line in text.split("\n"):
            if self.ended:
                return
            with contextlib.suppress(BrokenPipeError):  # it has just ended
                self._java.send(f"{line}\n")  # in one piece: half a line is not an answer
            self._listen()

    def _listen(self) -> None:
        """Read until the game waits for input, or ends."""
        # The first moment takes as long as Java does to start.
        self._java.patience = TimeLeft(self._java.pid, self._patience)
        found = self._java.expect_exact([_ENQUIRY, pexpect.EOF, pexpect.TIMEOUT], timeout=None)
        self.output += (self._java.before or b"").decode(errors="replace")
        if found == 1:
            self.status = self._java.wait()
            self.ended = describe(self.status, _GAME * self._seconds) or "ended"
        elif found == 2:
            self.status = -1
            self.ended = f"neither asked for a move nor ended within {self._patience:g} s"
            self.close()
        self.board = shown if (shown := self._reader.last_board(self.output)) else self.board

    @property
    def is_over(self) -> bool:
        """Whether it has ended properly, or says so."""
        says_so = self._over is not None and self._over.search(self.output)
        return bool(says_so or (self.ended and self.status == 0))

    @property
    def is_stuck(self) -> bool:
        """Whether it took all its time, and would take it again."""
        return self.status in (-1, -signal.SIGXCPU, _TALKS_WITHOUT_END)

    def find_break(self, suffix: str = "") -> Refusal | None:
        """Return how it broke, None if it did not. ``suffix``: such as ``" at the move"``."""
        if not self.ended or self.status == 0:
            return None
        if self.status == _TALKS_WITHOUT_END:
            return Refusal(f"the game broke{suffix}: it writes without end, and asks for no move")
        kind = TimeOut if self.is_stuck else Refusal
        return kind(f"the game broke{suffix}: it {self.ended}{last_words(self)}")

    def close(self) -> None:
        """End it."""
        if self._java.proc.poll() is None:
            self._java.kill(signal.SIGKILL)
            self._java.wait()


def last_words(game: TerminalGame) -> str:
    """Return the last words of a game, as the end of an error."""
    lines = [line for line in game.output.splitlines() if not _STACK.match(line)]
    words = "\n".join(lines).strip()[-_LAST_WORDS:]
    return f"; its last words: {quote(words)}" if words else ""


class BoardReader:
    """Reads the board that a game prints: rows of cells, however they are framed."""

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
