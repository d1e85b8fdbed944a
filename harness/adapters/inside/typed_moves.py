"""The way a game is played: what is typed for a move and a pass, and where the stone lies then.

The document leaves it open, so it is found by trying, unless the assignment says it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from .go_board import BLACK, Point, Refusal
from .terminal_game import NO_SUCH_CLASS, SIZE, TerminalGame, last_words

# No two ways to count agree on the first, nor do letters with I and without it.
_PROBES: tuple[Point, Point] = ((8, 3), (2, 4))
_PLAYERS = 2
_COUNTINGS = {
    f"from {base}, {side}": (base, side == "top") for base in (0, 1) for side in ("top", "bottom")
}


class TypingWay(NamedTuple):
    """How a game is played: found once, the same for all games of a submission."""

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
        ways = [TypingWay(main, form, *counting, "") for counting in self._countings(form)]
        typed = ways[0].spell(_PROBES[0])
        for asked in range(_PLAYERS + 1):
            game.type(typed)
            for way, point in product(ways, game.board):
                if way.spell(point) == typed:
                    return way._replace(start=(typed,) * asked)
        seen = "was seen where it belongs" if game.board else "was seen on a board"
        self._trouble = Refusal(f"no stone {seen} after {typed!r} was typed{last_words(game)}")
        return None

    def _countings(self, form: str) -> list[tuple[int, bool, bool]]:
        """Return base, from_top and swapped of the ways that may be meant."""
        wanted = self._settings["coordinates"]
        orders = (False, True) if "{x}" in form else (False,)
        ways = [way for name, way in _COUNTINGS.items() if wanted in ("auto", name)]
        return [(*way, swapped) for way, swapped in product(ways, orders)]

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
