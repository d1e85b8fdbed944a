"""The beginning of a case file's scene, and other ways to ask its commands. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple, Protocol

from harness.vocabulary.board_kinds import BoardKind
from harness.vocabulary.transformations import Transformation, draw
from oracle.color import BLACK, WHITE
from oracle.gtp.protocol import Engine
from oracle.position import Position
from oracle.vertex import vertex


class Beginning(Protocol):
    """What a scene's commands are about before the first of them."""

    def draw(self, kind: str, random: Random) -> Transformation | None:
        """Return a change of this kind; None if there is none."""

    def opening(self, settings: Sequence[str], change: Transformation) -> list[str]:
        """Return the commands that lead here under a change, with the settings in force."""

    def command(self, command: str, change: Transformation) -> str:
        """Return a command as it reads then."""

    def allows(self, engine: Engine, command: str) -> bool:
        """Whether the reference engine's answer to a command now is right for all."""


class OracleBeginning(NamedTuple):
    """A position that the oracle knows."""

    position: Position
    board: BoardKind

    def draw(self, kind: str, random: Random) -> Transformation | None:
        """Return a change of this kind; see :class:`Beginning`."""
        return draw(kind, self.position.grid, random, self.board.size)

    def opening(self, settings: Sequence[str], change: Transformation) -> list[str]:
        """Return the commands that lay the stones; see :class:`Beginning`."""
        shape = self.position.grid
        size = [] if self.board.is_fixed else [f"boardsize {change.shape(shape).rows}"]
        stones = [
            f"{'.BW'[change.color(color)]} {vertex(change.point(point, shape))}"
            for color in (BLACK, WHITE)
            for point in shape.points(self.position.stones(color))
        ]
        made = [change.command(text, shape) for text in settings]
        setup = [f"gogui-setup {' '.join(stones)}"] if stones else []
        return [*size, "clear_board", *made, *setup]

    def command(self, command: str, change: Transformation) -> str:
        """Return a command as it reads then; see :class:`Beginning`."""
        return change.command(command, self.position.grid)

    def allows(self, engine: Engine, command: str) -> bool:
        """Return that it does: what is left open, the oracle says; see :class:`Beginning`."""
        return True
