"""Questions about a game: each is asked of one that is played from its beginning.

What happens to a move is read from the board that the game prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .go_board import BLACK, WHITE, AdapterBoard, Point, Refusal, other
from .terminal_game import SIZE, TerminalGame, last_words
from .typed_moves import TypingWays

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

    def accepts(self, moves: list[Move], tried: Move) -> bool:
        """Whether the game takes a stone after some moves, in which colors need not alternate."""
        *before, last = alternate([*moves, tried])
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

    # --- a game as far as some moves ---

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
