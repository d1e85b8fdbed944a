"""A game for two at the terminal, played through pexpect: what is typed, what the board shows.

``Shim.java`` runs the student's ``main`` and says when it waits for input, so that nobody has to
guess from silence. How moves and passes are typed, and where a stone then lies on the board that
is printed, is found by trying, unless the assignment says it: the document leaves it open.
"""

from __future__ import annotations

import contextlib
import functools
import re
import signal
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
from pexpect.popen_spawn import PopenSpawn

from .board import BLACK, WHITE, Board, Point, Refusal, other
from .calling import PATIENCE, describe, limit_processor_time, quoted
from .methods import JAVA, class_path
from .reading import Reader, Shown

SIZE = 11  # java-go.txt: "The grid we will use for this assignment is an 11x11 board."
Move = tuple[int, Point | None]  # a color, and a point or (None) a pass

_GAME = 4  # times the processor seconds of a call of a method
_ENQUIRY = b"\x05"  # Shim.java's
_LAST_WORDS = 150  # characters
_STACK = re.compile(r"\s+(at |\.\.\. )")  # a line of a Java stack
_NO_SUCH_CLASS, _TALKS_WITHOUT_END = 64, 65
_PROBES: tuple[Point, Point] = ((2, 4), (8, 3))  # no two ways to count agree on the first
_COUNTINGS = {
    f"from {base}, {side}": (base, side == "top") for base in (0, 1) for side in ("top", "bottom")
}


class Way(NamedTuple):
    """How a game is played: found once, the same for all games of a submission."""

    main: str  # the class, or its number
    form: str  # how a move is typed, with {x} and {y}, or {letter} and {row}
    base: int  # of coordinates
    from_top: bool
    swapped: bool  # x counts rows
    skip: str  # how a pass is typed

    def typed(self, point: Point) -> str:
        """Return what is typed for a stone on a point of the printed board."""
        column, row = point
        down = row if self.from_top else SIZE - 1 - row
        x, y = column + self.base, down + self.base
        if self.swapped:
            x, y = y, x
        letter = "ABCDEFGHIJK"[column]
        return self.form.format(x=x, y=y, letter=letter, row=down + self.base)


class Game:
    """One game under way, in a Java process of its own."""

    def __init__(self, settings: dict[str, Any], folder: Path, main: str) -> None:
        self.board: Shown = {}
        self.output = ""  # since the last move was typed
        self.ended = ""  # how, when it has
        self.status = 0  # then
        self._seconds: float = settings["seconds"]
        self._patience = 2 * PATIENCE * self._seconds
        self._reader = Reader(settings, SIZE)
        mode = ("gtpharness.Shim", "play", str(folder / settings["classes"]), main)
        self._java = PopenSpawn(
            [*JAVA, "-cp", class_path(folder, settings), *mode],
            cwd=str(folder),
            preexec_fn=functools.partial(limit_processor_time, _GAME * self._seconds),
        )
        self._listen()
        for line in settings["start"]:
            self.type(line)
        over = re.compile(settings["over"])
        # Words that stand in the instructions, too, say nothing.
        self._over = None if over.search(self.output) else over

    def type(self, text: str) -> None:
        """Type lines, each when the game waits for one; take in what it prints."""
        self.output = ""
        for line in text.split("\n"):
            if self.ended:
                break
            with contextlib.suppress(BrokenPipeError):  # it has just ended
                self._java.send(f"{line}\n")  # in one piece: half a line is no answer
            self._listen()

    def _listen(self) -> None:
        """Read until the game waits for input, or ends."""
        # The first moment takes as long as Java does to start.
        found = self._java.expect_exact(
            [_ENQUIRY, pexpect.EOF, pexpect.TIMEOUT], timeout=self._patience
        )
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

    def broken(self) -> str:
        """Return how it broke, "" if it did not."""
        if not self.ended or self.status == 0:
            return ""
        if self.status == _TALKS_WITHOUT_END:
            return "writes without end, and asks for no move"
        return f"{self.ended}{said(self)}"

    def close(self) -> None:
        """End it."""
        if self._java.proc.poll() is None:
            self._java.kill(signal.SIGKILL)
            self._java.wait()


class Player:
    """Plays games with a submission's program, and sees what becomes of the board."""

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._way: Way | None = None
        self._trouble = ""  # why there is no way to play it
        self._game: Game | None = None
        self._played: list[Move] = []
        self._prisoners: list[int] = []  # after each of them, how many stones it took

    def accepts(self, moves: list[Move], tried: Move) -> bool:
        """Whether the game takes a stone after some moves, in which colors need not alternate."""
        *before, last = alternating([*moves, tried])
        game = self._after(before)
        color, point = last
        assert point is not None
        taken = game.board
        if game.is_over or game.ended:
            raise Refusal(f"the game is over already{said(game)}")
        self._type(last)
        self.close()  # whatever it makes of a move that it refuses, the next question is not about
        if broken := game.broken():
            raise Refusal(f"the game broke at the move: it {broken}")
        return point not in taken and game.board.get(point) == color

    def prisoners(self, moves: list[Move], color: int) -> int:
        """Return how many of the other color's stones went off the board with its moves."""
        self._after(alternating(moves))
        taken = zip(self._played, self._prisoners, strict=True)
        return sum(count for (mover, _), count in taken if mover == color)

    def is_over(self, moves: list[Move]) -> bool:
        """Whether the game is over after some moves."""
        game = self._after(alternating(moves))
        if broken := game.broken():
            raise Refusal(f"the game broke: it {broken}")
        return game.is_over

    def close(self) -> None:
        """End the game."""
        if self._game:
            self._game.close()
            self._game = None

    # --- a game as far as some moves ---

    @property
    def _current(self) -> Game:
        assert self._game is not None
        return self._game

    def _after(self, moves: list[Move]) -> Game:
        """Return a game in which these moves have been played."""
        if self._game is None or self._played != moves[: len(self._played)]:
            self._begin()
        for move in moves[len(self._played) :]:
            self._type(move)
            self._check(move)
        return self._current

    def _begin(self) -> None:
        way = self._found_way()
        self.close()
        self._game = Game(self._settings, self._folder, way.main)
        self._played, self._prisoners = [], []

    def _type(self, move: Move) -> None:
        assert self._way is not None
        game, (color, point) = self._current, move
        before = dict(game.board)
        if not game.ended:
            game.type(self._way.skip if point is None else self._way.typed(point))
        gone = [at for at, stone in before.items() if stone != color and at not in game.board]
        self._played.append(move)
        self._prisoners.append(len(gone))

    def _check(self, move: Move) -> None:
        """Raise Refusal if a legal move of the case did not come onto the board."""
        color, point = move
        game = self._current
        if broken := game.broken():
            raise Refusal(f"the game broke at {_name(move)}: it {broken}")
        if point is not None and game.board.get(point) != color:
            self.close()
            raise Refusal(f"the game did not take the legal move {_name(move)}{said(game)}")

    # --- how it is played ---

    def _found_way(self) -> Way:
        """Return how the game is played, found by trying; once."""
        if self._way is None:
            if not self._trouble:
                self._way = self._tried_ways()
            if self._way is None:
                raise Refusal(self._trouble)
        return self._way

    def _tried_ways(self) -> Way | None:
        """Try the classes that have a main method, and for each the forms of a move."""
        wanted = self._settings["main"]
        self._trouble = "no class has a method main"
        for main in map(str, range(20)) if wanted == "auto" else [wanted]:
            for form in self._settings["moves"]:
                game = Game(self._settings, self._folder, main)
                try:
                    if game.status == _NO_SUCH_CLASS:
                        return None
                    if way := self._try_form(game, main, form):
                        return self._with_pass(way)
                    if game.is_stuck:
                        self._trouble = f"the game broke: it {game.broken()}"
                        return None
                finally:
                    game.close()
        return None

    def _try_form(self, game: Game, main: str, form: str) -> Way | None:
        """Type one move in a form; return the way if a stone appears where it then belongs."""
        ways = [Way(main, form, *counting, "") for counting in self._countings(form)]
        typed = ways[0].typed(_PROBES[0])
        game.type(typed)
        for way, point in product(ways, game.board):
            if way.typed(point) == typed:
                return way
        seen = "was seen where it belongs" if game.board else "was seen on a board"
        self._trouble = f"no stone {seen} after {typed!r} was typed{said(game)}"
        return None

    def _countings(self, form: str) -> list[tuple[int, bool, bool]]:
        """Return base, from_top and swapped of the ways that may be meant."""
        wanted = self._settings["coordinates"]
        orders = (False, True) if "{x}" in form else (False,)
        ways = [way for name, way in _COUNTINGS.items() if wanted in ("auto", name)]
        return [(*way, swapped) for way, swapped in product(ways, orders)]

    def _with_pass(self, way: Way) -> Way | None:
        """Return the way with its word for a pass: after it, the other color is to move."""
        for skip in self._settings["passes"]:
            game = Game(self._settings, self._folder, way.main)
            try:
                game.type(way.typed(_PROBES[0]))
                if game.ended:
                    continue
                game.type(skip)
                if not game.ended:
                    game.type(way.typed(_PROBES[1]))
                if game.board.get(_PROBES[1]) == BLACK:
                    return way._replace(skip=skip)
            finally:
                game.close()
        words = ", ".join(repr(word) for word in self._settings["passes"])
        self._trouble = f"no way to pass was found; tried were {words}"
        return None


def alternating(moves: list[Move]) -> list[Move]:
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
    where = Board(SIZE, SIZE).vertex(point) if point else "pass"
    return f"{'black' if color == BLACK else 'white'} {where}"


def said(game: Game) -> str:
    """Return the last words of a game, as the end of an error."""
    lines = [line for line in game.output.splitlines() if not _STACK.match(line)]
    words = "\n".join(lines).strip()[-_LAST_WORDS:]
    return f"; its last words: {quoted(words)}" if words else ""
