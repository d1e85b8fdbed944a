"""What an engine remembers between two commands."""

from __future__ import annotations

from oracle.color import BLACK
from oracle.grid import grid
from oracle.position import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random
    from typing import Any

    from oracle.grid import Grid
    from oracle.gtp.protocol import Table


class Session:
    """The state behind one engine; a subclass for each game says how a game begins.

    Attributes: ``commands``, the engine's table; ``game``, the game in progress; ``running``,
    false after ``quit``; ``seed`` and ``playouts``, the options for ``genmove``.
    """

    __slots__ = ("_random", "commands", "game", "playouts", "running", "seed")

    sizes = range(2, 26)  # what boardsize accepts
    size = 19  # before the first boardsize

    def __init__(self, commands: Table, seed: int, playouts: int) -> None:
        self.commands = commands
        self.seed = seed
        self.playouts = playouts
        self.running = True
        self._random: Random | None = None
        self.game = self.new_game(Position(grid(self.size)), BLACK)

    def new_game(self, position: Position, to_play: int) -> Any:
        """Return a game of this kind that begins with a position."""
        raise NotImplementedError

    def clear(self, shape: Grid) -> None:
        """Begin a new game on an empty board; Black is to play."""
        self.game = self.new_game(Position(shape), BLACK)

    @property
    def random(self) -> Random:
        """The source of random moves: the same seed gives the same moves after every start."""
        if self._random is None:
            self._random = self.new_random()
        return self._random

    def new_random(self) -> Random:
        """Return the source as it was at the start."""
        from random import Random  # costs a third of the whole start

        return Random(self.seed)
