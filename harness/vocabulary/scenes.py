"""Positions that tests are made about, from game records or from nothing. All immutable.

Game record → :class:`PlayedGame` → :class:`SceneMoment` → :class:`Find` (a moment and one of its
features) → :class:`Scene` (commands).

Boards travel between processes as integers: the bits of :mod:`oracle.position`.
"""

from collections.abc import Callable, Iterable
from functools import cache
from random import Random
from typing import NamedTuple

from oracle.position import Grid, Position, each_bit, grid, vertex
from oracle.rules.flood import neighbours


class SceneOrigin(NamedTuple):
    """Origin of a position."""

    text: str  # for a reader: file and game
    game: str  # names the game, whatever file it is in and however it is turned; "" if made
    changes: tuple[str, ...] = ()  # what has been done to the position, for a reader

    def but(self, change: str) -> "SceneOrigin":
        """Return the origin of a changed position."""
        return self._replace(changes=(*self.changes, change))

    @property
    def sentence(self) -> str:
        """The text with all changes."""
        return f"{self.text} ({'; '.join(self.changes)})" if self.changes else self.text


MADE = SceneOrigin("made at random", "")


class StoneBits(NamedTuple):
    """Stones: one integer of bits for each color."""

    black: int = 0
    white: int = 0

    def of(self, color: int) -> int:
        """Return one color's stones."""
        return self[color - 1]

    @property
    def stones(self) -> int:
        """All stones."""
        return self.black | self.white


EMPTY = StoneBits()


class PlayedGame(NamedTuple):
    """A game as far as it can be played: ``boards[n]`` is the board after ``n`` moves."""

    origin: SceneOrigin
    kind: str  # "go" or "gomoku"
    size: int
    moves: list[tuple[int, int]]  # color, and its bit; 0: a pass, or a move that rules forbid
    boards: list[StoneBits]
    notes: tuple[str, ...] = ()  # what is odd about it


class SceneMoment(NamedTuple):
    """A board, and the move that led to it."""

    origin: SceneOrigin
    size: int
    number: int  # moves so far
    before: StoneBits
    color: int  # of the last move; 0 when there was none
    move: int  # its bit; 0 for a pass or none
    board: StoneBits

    @property
    def shape(self) -> Grid:
        """The board's geometry."""
        return grid(self.size)

    @property
    def taken(self) -> int:
        """The stones that the last move has taken."""
        return self.before.stones & ~self.board.stones

    @property
    def ko(self) -> int:
        """The point on which the last move may not be taken back at once, or 0."""
        one = self.taken if self.taken.bit_count() == 1 else 0
        others = self.board.of(self.to_play)
        return one if one and neighbours(self.shape, self.move) & ~others == one else 0

    @property
    def to_play(self) -> int:
        """Color to move: the other one than the last move's, Black at the beginning."""
        return 3 - self.color if self.color else 1

    def position(self) -> Position:
        """Return the board as the oracle's functions take it."""
        return Position(self.shape, *self.board)


class Find(NamedTuple):
    """A moment that has a feature."""

    rank: int  # the lowest ranks are kept: a number that the key gives
    feature: str
    answer: str  # what kind of answer is expected, such as "B" or "draw"
    moment: SceneMoment


class SceneCommand(NamedTuple):
    """A command of a scene."""

    command: str
    asked: bool = False  # whether it is a test
    why: str = ""  # the reason of its answer, where the oracle explains none


class Scene(NamedTuple):
    """A position that is set up and asked about: a few tests that belong together."""

    find: Find
    steps: tuple[SceneCommand, ...]
    files: tuple[tuple[str, str], ...] = ()  # board files: name and content


# --- The features that an assignment looks for in positions, and how it asks about them ----------
# ``features.py`` of each specification makes a :class:`FeatureKind` of these.

Files = tuple[tuple[str, str], ...]
Has = Callable[[SceneMoment], object]  # whether a moment has something
Finder = Callable[[SceneMoment], str]
Asker = Callable[[SceneMoment, Random], list[SceneCommand]]
Maker = Callable[[Random], SceneMoment | None]


class Feature(NamedTuple):
    """Something that a position may have, and that a test can be about."""

    name: str
    sentence: str  # what a test with it asks for
    find: Finder  # the kind of answer, "" when the moment does not have it
    steps: Asker
    make: Maker  # a moment which may have it
    files: Callable[[SceneMoment, Random], Files] = lambda moment, random: ()
    least: int = 1  # scenes with it, where there is room
    sizes: tuple[int, ...] = ()  # of all boards that ``make`` gives; none: of any


class FeatureKind(NamedTuple):
    """Kind of features that tests cover."""

    game: str  # whose records it reads: "go" or "gomoku"
    sizes: range  # of boards
    features: tuple[Feature, ...]
    fitting: Callable[[SceneMoment], Iterable[SceneMoment]]  # the moment itself, or a part of it
    swaps: bool  # whether exchanging the colors leaves the meaning as it is
    marks: str = ".XO"  # empty, black and white in the pictures of comments


def when(answer: str, has: Has) -> Finder:
    """Return a finder of moments that have something, which all have the same kind of answer."""
    return lambda moment: answer if has(moment) else ""


def whole(moment: SceneMoment) -> list[SceneMoment]:
    """Return the moment as it is."""
    return [moment]


@cache
def rim(shape: Grid) -> int:
    """Return the points at the edge of a board."""
    last = shape.rows - 1
    return shape.mask([p for p in shape.points(shape.full) if 0 in p or last in p])


# --- commands ----------------------------------------------------------------------------------


def names(moment: SceneMoment, mask: int) -> list[str]:
    """Return the vertices of a mask."""
    shape = moment.shape
    return [vertex(shape.point(bit)) for bit in each_bit(mask)]


def play(moment: SceneMoment, color: int, bit: int) -> SceneCommand:
    """Return the command that plays a stone."""
    return SceneCommand(f"play {' BW'[color]} {vertex(moment.shape.point(bit))}")


def new_board(moment: SceneMoment) -> list[SceneCommand]:
    """Return the commands that begin a game."""
    return [SceneCommand(f"boardsize {moment.size}"), SceneCommand("clear_board")]


def stones(
    moment: SceneMoment, black: int, white: int, random: Random, last: int = 0
) -> list[SceneCommand]:
    """Return ``play`` commands for stones, one color after the other as long as both have some.

    The order is drawn, and any order is legal where the stones are: a chain that is not complete
    has a liberty where its missing stone will lie, and a complete one its own. ``last`` is the
    color of the last stone, where it matters and that color has one.
    """
    left = {1: list(each_bit(black)), 2: list(each_bit(white))}
    for bits in left.values():
        random.shuffle(bits)
    # That with more stones begins, else Black, unless Black is to be last.
    color = 2 if len(left[2]) > len(left[1]) else 1
    if last and len(left[1]) == len(left[2]):
        color = 3 - last
    steps = []
    while left[1] or left[2]:
        color = color if left[color] else 3 - color
        steps.append(play(moment, color, left[color].pop()))
        color = 3 - color
    if last and (white if last == 2 else black) and steps[-1].command[5] != " BW"[last]:
        place = max(i for i, step in enumerate(steps) if step.command[5] == " BW"[last])
        steps.append(steps.pop(place))
    return steps


def up_to_last(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Return the commands for the board before the last move, and that move."""
    before = moment.before
    steps = [*new_board(moment), *stones(moment, before.black, before.white, random)]
    return [*steps, play(moment, moment.color, moment.move)] if moment.move else steps


def as_it_lies(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Return the commands for the board, whatever moves led to it."""
    return [*new_board(moment), *stones(moment, *moment.board, random)]


def lay_stones(moment: SceneMoment) -> list[SceneCommand]:
    """Return the commands that lay the stones without playing, as few as possible."""
    commands = new_board(moment)
    for color, mask in zip("BW", moment.board, strict=True):
        if mask:
            words = " ".join(f"{color} {name}" for name in names(moment, mask))
            commands.append(SceneCommand(f"gogui-setup {words}"))
    return commands
