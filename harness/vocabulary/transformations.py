"""Ways to ask the same question otherwise: how each command of a case file reads then. Pure.

A :class:`Transformation` is one of four kinds. None mixes with another, so that a program with a
fault on one side of the board, or with one color, fails the images of one kind only.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple, Protocol

from harness.core.text import plural
from harness.vocabulary import BoardKind
from oracle.errors import VertexError
from oracle.gtp.protocol import Engine
from oracle.position import NAMES, Grid, Point, Position, color_of, grid, parse_vertex, vertex
from oracle.symmetry import ALL, FLIP, MIRROR, TURN, image

SYMMETRY, COLORS, LARGER, ORDER = KINDS = ("symmetry", "colors", "larger", "order")
_LARGEST = 19  # what programs for people's boards know
_GROWTH = (1, 2, 3)  # rows and columns


class Transformation(NamedTuple):
    """Change of a question's position."""

    kind: str
    symmetry: int = 0  # of oracle.symmetry
    growth: int = 0  # rows and columns more, above and to the right

    def __str__(self) -> str:
        """As a phrase."""
        if self.kind == SYMMETRY:
            done = ["left and right"] * (self.symmetry & MIRROR > 0)
            done += ["top and bottom"] * (self.symmetry & FLIP > 0)
            done += ["rows and columns"] * (self.symmetry & TURN > 0)
            return f"{', then '.join(done)} exchanged"
        if self.kind == LARGER:
            return f"on a board with {self.growth} more {plural(self.growth, 'row')} and columns"
        return {COLORS: "colors exchanged", ORDER: "set up in another order"}[self.kind]

    def shape(self, shape: Grid) -> Grid:
        """Return the shape of the board."""
        return grid(shape.rows + self.growth, shape.columns + self.growth)

    def point(self, point: Point, shape: Grid) -> Point:
        """Return where a point of a board of this shape comes to lie."""
        return image(point, shape, self.symmetry)

    def color(self, color: int) -> int:
        """Return the color that takes this one's part."""
        return 3 - color if self.kind == COLORS else color

    def command(self, command: str, shape: Grid) -> str:
        """Return a command as it reads then; ``shape``: of the board it was about."""
        name, *words = command.split()
        if name == "komi" and self.kind == COLORS:
            return " ".join([name, *map(_negate, words)])
        return " ".join([name, *(self._word(word, shape) for word in words)])

    def _word(self, word: str, shape: Grid) -> str:
        color = color_of(word)
        if color is not None:
            return match_case(NAMES[self.color(color)][: len(word)], word)
        try:
            point = parse_vertex(word, shape.rows, shape.columns)
        except VertexError:
            return word  # no point of this board: not one of any
        return match_case(vertex(self.point(point, shape)), word)


UNCHANGED = Transformation("")


def match_case(text: str, model: str) -> str:
    """Return a text in small or capital letters, as another one is; without any, as it is."""
    if not model.upper().isupper():
        return text
    return text.lower() if model.islower() else text.upper() if model.isupper() else text.title()


def _negate(number: str) -> str:
    if number.startswith("-"):
        return number[1:]
    return f"-{number}" if number.strip("0.") else number


def draw(kind: str, shape: Grid, random: Random, usual: int = 0) -> Transformation | None:
    """Return a change of this kind, drawn for a board; None if there is none of this kind.

    ``usual``: the size of the board that the game is played on; 0: any.
    """
    if shape.rows != shape.columns:
        return None
    if kind == SYMMETRY:
        return Transformation(kind, symmetry=random.choice(ALL[1:]))
    if kind == LARGER:
        if shape.rows == usual:
            return None  # the game is played on no other
        fits = [growth for growth in _GROWTH if shape.rows + growth <= _LARGEST]
        return Transformation(kind, growth=random.choice(fits)) if fits else None
    return Transformation(kind)


# --- The beginning of a case file's scene, and other ways to ask its commands. Pure --------------


class Beginning(Protocol):
    """Position before a scene's first command."""

    def draw(self, kind: str, random: Random) -> Transformation | None:
        """Return a change of this kind; None if there is none."""

    def opening(self, settings: Sequence[str], change: Transformation) -> list[str]:
        """Return the commands that lead here under a change, with the settings in force."""

    def command(self, command: str, change: Transformation) -> str:
        """Return a command as it reads then."""

    def allows(self, engine: Engine, command: str) -> bool:
        """Whether the reference engine's answer to a command now is right for all."""


class OracleBeginning(NamedTuple):
    """A :class:`Beginning`: a position that the oracle knows."""

    position: Position
    board: BoardKind

    def draw(self, kind: str, random: Random) -> Transformation | None:
        return draw(kind, self.position.grid, random, self.board.size)

    def opening(self, settings: Sequence[str], change: Transformation) -> list[str]:
        shape = self.position.grid
        size = [] if self.board.is_fixed else [f"boardsize {change.shape(shape).rows}"]
        stones = [
            f"{'.BW'[change.color(color)]} {vertex(change.point(point, shape))}"
            for color, mask in enumerate((self.position.black, self.position.white), 1)
            for point in shape.points(mask)
        ]
        made = [change.command(text, shape) for text in settings]
        setup = [f"gogui-setup {' '.join(stones)}"] if stones else []
        return [*size, "clear_board", *made, *setup]

    def command(self, command: str, change: Transformation) -> str:
        return change.command(command, self.position.grid)

    def allows(self, engine: Engine, command: str) -> bool:
        return True  # what is left open, the oracle says
