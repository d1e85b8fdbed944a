"""A game for two at the terminal: how it is typed and what its board shows, and questions to it.

``Shim.java`` runs the student's ``main``, behind pexpect, and says when it waits for input: nobody
has to guess from silence. What is typed for a move and a pass, and where the stone lies then, the
document leaves open: it is found by trying, unless the assignment says it. Each question is asked
of a game that is played from its beginning; what happens is read from the board that it prints.
"""

from __future__ import annotations

import contextlib
import functools
import re
import signal
import time
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
from pexpect.popen_spawn import PopenSpawn

from .adapter_protocol import BLACK, WHITE, AdapterBoard, Point, Refusal, TimeOut, other
from .calling import JAVA, PATIENCE, TimeLeft, class_path, describe, limit_processor_time, quote

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
        self._reader = BoardReader(settings)
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
        return kind(f"the game broke{suffix}: it {self.ended}{self.last_words()}")

    def last_words(self) -> str:
        """Return its last words, as the end of an error."""
        lines = [line for line in self.output.splitlines() if not _STACK.match(line)]
        words = "\n".join(lines).strip()[-_LAST_WORDS:]
        return f"; its last words: {quote(words)}" if words else ""

    def close(self) -> None:
        """End it."""
        if self._java.proc.poll() is None:
            self._java.kill(signal.SIGKILL)
            self._java.wait()


class BoardReader:
    """Reads the board that a game prints: rows of cells, however they are framed."""

    def __init__(self, settings: dict[str, Any]) -> None:
        signs = (settings["empty"], settings["black"], settings["white"])
        self._colors = {sign: color for color, some in enumerate(signs) for sign in some}

    def last_board(self, text: str) -> Shown | None:
        """Return the last whole board in a text, or None."""
        lines = _COLOR_CODES.sub("", text).replace("\r", "").split("\n")
        rows = [(place, row) for place, line in enumerate(lines) if (row := self._row(line))]
        last = rows[-SIZE:]
        # A line between two rows, such as a grid's, is nothing to worry about.
        near = all(after[0] - before[0] <= 2 for before, after in pairwise(last))
        if len(last) < SIZE or not near:
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
        extra = len(words) - SIZE
        if extra in (0, 1, 2):
            cuts = {0: [(0, 0)], 1: [(1, 0), (0, 1)], 2: [(1, 1)]}[extra]
            return [words[before : len(words) - behind] for before, behind in cuts]
        joined = [[*word] for word in words if len(word) == SIZE]
        dashed = [word.split("-") for word in words if word.count("-") == SIZE - 1]
        return [cells for cells in (*joined, *dashed) if len(words) <= 3]


# No two ways to count agree on the first, nor do letters with I and without it.
_PROBES: tuple[Point, Point] = ((8, 3), (2, 4))
_PLAYERS = 2
_COUNTINGS = {
    f"from {base}, {side}": (base, side == "top") for base in (0, 1) for side in ("top", "bottom")
}


class TypingWay(NamedTuple):
    """Way to play a game: found once, the same for all games of a submission."""

    main: str  # the class, or its number
    form: str  # how a move is typed, with {x} and {y}, or a letter and {row}
    base: int  # of coordinates
    from_top: bool
    swapped: bool  # x counts rows
    skip: str  # how a pass is typed
    start: tuple[str, ...] = ()  # typed before the first move, where names are asked for

    def spell(self, point: Point) -> str:
        """Return what is typed for a stone on a point of the printed board."""
        column, row = point
        down = row if self.from_top else SIZE - 1 - row
        x, y = column + self.base, down + self.base
        if self.swapped:
            x, y = y, x
        letters = {"letter": "ABCDEFGHIJK"[column], "letter_without_i": "ABCDEFGHJKL"[column]}
        return self.form.format(x=x, y=y, row=down + self.base, **letters)


Move = tuple[int, Point | None]  # a color, and a point or (None) a pass


class Player:
    """Plays games with a submission's program, and sees what happens to the board."""

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._way: TypingWay | None = None
        self._trouble: Refusal | None = None  # why there is none
        self._game: TerminalGame | None = None
        self._played: list[Move] = []
        self._prisoners: list[int] = []  # after each of them, how many stones it took

    def _find_way(self) -> TypingWay:
        """Return how the game is played, found by trying; once."""
        if self._way is None and not self._trouble:
            self._way = self._try()
        if self._way is None:
            assert self._trouble
            raise self._trouble
        return self._way

    def _try(self) -> TypingWay | None:
        wanted = self._settings["main"]
        self._trouble = Refusal("no class has a method main")
        for main in map(str, range(20)) if wanted == "auto" else [wanted]:
            for form in self._settings["moves"]:
                game = TerminalGame(self._settings, self._folder, main)
                try:
                    if game.status == NO_SUCH_CLASS:
                        return None
                    if way := self._try_form(game, main, form):
                        return self._with_pass(way)
                    if game.is_stuck:
                        self._trouble = game.find_break()
                        return None
                finally:
                    game.close()
        return None

    def _try_form(self, game: TerminalGame, main: str, form: str) -> TypingWay | None:
        """Type one move in a form; return the way if a stone appears where it then belongs.

        It is typed again in case it was taken for the name of a player.
        """
        wanted = self._settings["coordinates"]
        orders = (False, True) if "{x}" in form else (False,)
        counts = [count for name, count in _COUNTINGS.items() if wanted in ("auto", name)]
        ways = [
            TypingWay(main, form, *count, order, "") for count, order in product(counts, orders)
        ]
        typed = ways[0].spell(_PROBES[0])
        for asked in range(_PLAYERS + 1):
            game.type(typed)
            for way, point in product(ways, game.board):
                if way.spell(point) == typed:
                    return way._replace(start=(typed,) * asked)
        seen = "was seen where it belongs" if game.board else "was seen on a board"
        self._trouble = Refusal(f"no stone {seen} after {typed!r} was typed{game.last_words()}")
        return None

    def _with_pass(self, way: TypingWay) -> TypingWay | None:
        """Return the way with its word for a pass: after it, the other color is to move."""
        for skip in self._settings["passes"]:
            game = TerminalGame(self._settings, self._folder, way.main, way.start)
            try:
                for typed in (way.spell(_PROBES[0]), skip, way.spell(_PROBES[1])):
                    game.type(typed)
                if game.board.get(_PROBES[1]) == BLACK:
                    return way._replace(skip=skip)
                if game.is_stuck:
                    self._trouble = game.find_break(f" at {skip!r}")
                    return None
            finally:
                game.close()
        words = ", ".join(repr(word) for word in self._settings["passes"])
        self._trouble = Refusal(f"no way to pass was found; tried were {words}")
        return None

    def accepts(self, moves: list[Move], move: Move) -> bool:
        """Whether the game takes a stone after some moves, in which colors need not alternate."""
        *before, last = alternate([*moves, move])
        game, (color, point) = self._after(before), last
        assert point is not None
        taken = game.board
        if broken := game.find_break():
            raise broken
        if game.is_over or game.ended:
            raise Refusal(f"the game is over already{game.last_words()}")
        self._type(game, last)
        self.close()  # whatever it makes of a move that it refuses, the next question is not about
        if broken := game.find_break(" at the move"):
            raise broken
        return point not in taken and game.board.get(point) == color

    def prisoners(self, moves: list[Move], color: int) -> int:
        """Return how many of the other color's stones went off the board with its moves."""
        self._after(alternate(moves))
        taken = zip(self._played, self._prisoners, strict=True)
        return sum(count for (mover, _), count in taken if mover == color)

    def is_over(self, moves: list[Move]) -> bool:
        """Whether the game is over after some moves."""
        game = self._after(alternate(moves))
        if broken := game.find_break():
            raise broken
        return game.is_over

    def close(self) -> None:
        """End the game."""
        if self._game:
            self._game.close()
            self._game = None

    def _after(self, moves: list[Move]) -> TerminalGame:
        """Return a game after some moves; raise Refusal if a legal one is not on its board."""
        game = self._game
        if game is None or self._played != moves[: len(self._played)]:
            way = self._find_way()
            self.close()
            game = self._game = TerminalGame(self._settings, self._folder, way.main, way.start)
            self._played, self._prisoners = [], []
        for move in moves[len(self._played) :]:
            self._type(game, move)
            color, point = move
            if broken := game.find_break(f" at {_name(move)}"):
                raise broken
            if point is not None and game.board.get(point) != color:
                self.close()
                words = game.last_words()
                raise Refusal(f"the game did not take the legal move {_name(move)}{words}")
        return game

    def _type(self, game: TerminalGame, move: Move) -> None:
        way, (color, point) = self._find_way(), move
        before = dict(game.board)
        if not game.ended:
            game.type(way.skip if point is None else way.spell(point))
        gone = [at for at, stone in before.items() if stone != color and at not in game.board]
        self._played.append(move)
        self._prisoners.append(len(gone))


def alternate(moves: list[Move]) -> list[Move]:
    """Return moves that lead to the same game, and in which Black and White take turns.

    At the terminal they must. Where a color moves twice, the other passes between; but that must
    not let White pass after Black, which ends the game. So a pass is left out where its color
    moves again, or where it is White's and not White's turn: that changes nothing but a ko.
    """
    found: list[Move] = []
    for color, point in moves:
        turn = other(found[-1][0]) if found else BLACK
        if color != turn:
            if found and found[-1] == (color, None):
                found.pop()
            elif point is None and color == WHITE:
                continue
            else:
                found.append((turn, None))
        found.append((color, point))
    return found


def _name(move: Move) -> str:
    color, point = move
    where = AdapterBoard(SIZE, SIZE).vertex(point) if point else "pass"
    return f"{'black' if color == BLACK else 'white'} {where}"
