"""A game that is played: the way it is typed, and questions that are asked of it.

What is typed for a move and a pass, and where the stone lies then, the document leaves open: it is
found by trying, unless the assignment says it. Each question is asked of a game that is played
from its beginning; what happens to a move is read from the board that the game prints.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from .go_board import BLACK, WHITE, AdapterBoard, Point, Refusal, other
from .terminal_game import NO_SUCH_CLASS, SIZE, TerminalGame, last_words

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


class TypingWays:
    """Finds the way of a submission, once."""

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._way: TypingWay | None = None
        self._trouble: Refusal | None = None  # why there is none

    def find(self) -> TypingWay:
        """Return how the game is played, found by trying; once."""
        if self._way is None:
            if not self._trouble:
                self._way = self._try()
            if self._way is None:
                assert self._trouble
                raise self._trouble
        return self._way

    def _try(self) -> TypingWay | None:
        """Try the classes that have a main method, and for each the forms of a move."""
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
        self._trouble = Refusal(f"no stone {seen} after {typed!r} was typed{last_words(game)}")
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


Move = tuple[int, Point | None]  # a color, and a point or (None) a pass


class Player:
    """Plays games with a submission's program, and sees what happens to the board."""

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._ways = TypingWays(settings, folder)
        self._game: TerminalGame | None = None
        self._played: list[Move] = []
        self._prisoners: list[int] = []  # after each of them, how many stones it took

    def accepts(self, moves: list[Move], move: Move) -> bool:
        """Whether the game takes a stone after some moves, in which colors need not alternate."""
        *before, last = alternate([*moves, move])
        game = self._after(before)
        color, point = last
        assert point is not None
        taken = game.board
        if broken := game.find_break():
            raise broken
        if game.is_over or game.ended:
            raise Refusal(f"the game is over already{last_words(game)}")
        self._type(last)
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

    @property
    def _current(self) -> TerminalGame:
        assert self._game is not None
        return self._game

    def _after(self, moves: list[Move]) -> TerminalGame:
        """Return a game in which these moves have been played."""
        if self._game is None or self._played != moves[: len(self._played)]:
            way = self._ways.find()
            self.close()
            self._game = TerminalGame(self._settings, self._folder, way.main, way.start)
            self._played, self._prisoners = [], []
        for move in moves[len(self._played) :]:
            self._type(move)
            self._check(move)
        return self._current

    def _type(self, move: Move) -> None:
        way, game, (color, point) = self._ways.find(), self._current, move
        before = dict(game.board)
        if not game.ended:
            game.type(way.skip if point is None else way.spell(point))
        gone = [at for at, stone in before.items() if stone != color and at not in game.board]
        self._played.append(move)
        self._prisoners.append(len(gone))

    def _check(self, move: Move) -> None:
        """Raise Refusal if a legal move of the case did not come onto the board."""
        color, point = move
        game = self._current
        if broken := game.find_break(f" at {_name(move)}"):
            raise broken
        if point is not None and game.board.get(point) != color:
            self.close()
            raise Refusal(f"the game did not take the legal move {_name(move)}{last_words(game)}")


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
