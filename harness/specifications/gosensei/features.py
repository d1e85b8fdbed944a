"""Features in tests of gosensei: eyes, two eyes, eye spaces, the picture and board files."""

import hashlib
from collections.abc import Callable
from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions, scenes
from harness.vocabulary.scenes import Feature, FeatureKind, SceneCommand, SceneMoment
from oracle.montecarlo import any_bit
from oracle.position import SENSEI_LETTERS, grid
from oracle.rules import go as rules
from oracle.rules.flood import flood_diagonally, neighbours, regions

Change = Callable[[list[str], Random], list[str]]  # of the lines of a board file

SIZE = 9
_SHAPE = grid(SIZE)
_EDGE = _SHAPE.full & ~_SHAPE.mask([(r, c) for r in range(1, 8) for c in range(1, 8)])
_CORNERS = _SHAPE.mask([(0, 0), (0, 8), (8, 0), (8, 8)])
_NINTH = _SHAPE.mask([(row, 8) for row in range(SIZE)])  # the column that the document calls i
_EYES, _TWO, _SPACES, _DISPLAY = (
    SceneCommand(name, asked=True) for name in ("eyes", "twoeyes", "eyespaces", "display")
)


class EyeFacts(NamedTuple):
    """Facts of a board for Black: masks of points."""

    eyes: int
    false: int  # with black neighbors, but two diagonals or more that are not
    spaces: int
    near: int  # eyes with another near, in rows and in columns
    empty: int


@lru_cache(maxsize=8)
def look(moment: SceneMoment) -> EyeFacts:
    """Return what a board shows."""
    black, white = moment.board
    empty = _SHAPE.full & ~(black | white)
    inner = empty & ~neighbours(_SHAPE, _SHAPE.full & ~black)
    if not inner and moment.origin.game:  # most boards of games: nothing to see
        eyes = near = 0
    else:
        eyes = rules.eyes(_SHAPE, black, white)
        near = rules.close_two_eyes(_SHAPE, black, white)
    spaces = rules.eye_spaces(_SHAPE, black, white)
    return EyeFacts(eyes, inner & ~eyes, spaces, near, empty)


# --- when a board has a feature -----------------------------------------------------------------


def _find(count: Callable[[EyeFacts], int], has: scenes.Has) -> scenes.Finder:
    """Return a finder of boards that have something; the kind of answer is a number."""

    def find(moment: SceneMoment) -> str:
        if not has(moment):
            return ""
        return ("none", "one", "several")[min(count(look(moment)), 2)]

    return find


_eyes = partial(_find, lambda seen: seen.eyes.bit_count())
_two = partial(_find, lambda seen: seen.near.bit_count())  # eyes that have another near
_spaces = partial(_find, lambda seen: len(list(regions(_SHAPE, seen.spaces))))


def _diagonals(eyes: int) -> int:
    """Return the diagonal neighbors of points."""
    up, down = eyes << _SHAPE.stride, eyes >> _SHAPE.stride
    return (up << 1 | up >> 1 | down << 1 | down >> 1) & _SHAPE.full


def _inner_stones(moment: SceneMoment) -> int:
    """Return the black stones in the middle of black stones."""
    black = moment.board.black
    inner = black & ~neighbours(_SHAPE, _SHAPE.full & ~black)
    return inner & ~rules.false_corners(_SHAPE, black)


def _eyes_apart(moment: SceneMoment) -> int:
    """Return eyes that are near another, but neither in one line nor side by side."""
    seen = look(moment)
    if not seen.near:
        return 0
    both = rules.company(_SHAPE, seen.eyes, 2, 2)
    line = rules.company(_SHAPE, seen.eyes, 2, 0) | rules.company(_SHAPE, seen.eyes, 0, 2)
    return seen.eyes & both & ~line


def _has_shared_space(moment: SceneMoment) -> bool:
    """Whether a region has black and white stones around it, beside some black ones."""
    if not look(moment).spaces:
        return False
    by_black, by_white = rules.reach(_SHAPE, *moment.board)
    return by_black & by_white & look(moment).empty != 0


def _open_space(moment: SceneMoment) -> int:
    """Return the regions between black stones that are not connected."""
    black, white = moment.board
    by_black, by_white = rules.reach(_SHAPE, black, white)
    return by_black & ~black & ~by_white & ~look(moment).spaces


def _fits_file(moment: SceneMoment) -> bool:
    return 2 <= moment.board.stones.bit_count() <= 24


# --- what is asked ------------------------------------------------------------------------------


def _ask(*commands: SceneCommand) -> scenes.Asker:
    """Return what sets the board up by moves, if its stones have liberties, and asks."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        dead = any(rules.find_captured_of_both(_SHAPE, *moment.board))
        board = scenes.lay_stones(moment) if dead else scenes.as_it_lies(moment, random)
        return [*board[1:], *commands]  # the board is always 9 by 9

    return steps


def _second(*, other: bool) -> Change:
    """Repeat a stone, of the other color or of the same."""

    def change(lines: list[str], random: Random) -> list[str]:
        color, *point = random.choice(lines).split()
        again = ("w" if color == "b" else "b") if other else color
        return [*lines, " ".join([again, *point])]

    return change


def _bad(*stones: str) -> Change:
    """Add a line with an error."""

    def change(lines: list[str], random: Random) -> list[str]:
        place = random.randrange(len(lines) + 1)
        return [*lines[:place], random.choice(stones), *lines[place:]]

    return change


def _board_file(
    name: str,
    sentence: str,
    *,
    valid: bool,
    has: scenes.Has = _fits_file,
    change: Change = lambda lines, random: lines,
) -> Feature:
    """Return the feature of a board file: whether it is valid, and the eyes of one that is."""

    def files(moment: SceneMoment, random: Random) -> scenes.Files:
        found = [
            f"{sign} {SENSEI_LETTERS[column].lower()} {row + 1}"
            for sign, mask in zip("bw", moment.board, strict=True)
            for row, column in _SHAPE.points(mask)
        ]
        random.shuffle(found)
        content = "\n".join(change(found, random)) + "\n"
        # The name is made from what the file says, so that no two clash.
        return ((f"boards/{hashlib.sha256(content.encode()).hexdigest()[:12]}.txt", content),)

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        ((file, _),) = files(moment, random)
        why = f"{sentence[:1].upper()}{sentence[1:]}."
        ask = SceneCommand(f"is_valid {file}", asked=True, why=why)
        if valid:
            return [SceneCommand("clear_board"), ask, SceneCommand(f"load_board {file}"), _DISPLAY]
        return [*scenes.lay_stones(moment)[1:], ask, _DISPLAY]

    answer = "true" if valid else "false"
    return Feature(name, sentence, lambda m: answer if has(m) else "", steps, _few, files)


# --- positions made -----------------------------------------------------------------------------


def _board(black: int = 0, white: int = 0) -> SceneMoment:
    return made_positions.board_moment(SIZE, scenes.StoneBits(black, white))


def _around(random: Random, spots: int, size: int) -> SceneMoment:
    """Surround a few spots of so many points with black stones, some diagonals left out."""
    black = holes = 0
    for _ in range(spots):
        hole = any_bit(_SHAPE.full & ~black, random)
        for _ in range(size - 1):
            hole |= any_bit(neighbours(_SHAPE, hole) & ~hole or hole, random)
        beside = neighbours(_SHAPE, hole) & ~hole
        square = _grow(hole) & ~hole & ~beside
        black |= beside | made_positions.scatter(random, square, 0.7)
        holes |= hole
    black &= ~holes
    rest = _SHAPE.full & ~black & ~holes
    return _board(black, made_positions.scatter(random, rest, random.choice((0, 0.05, 0.2))))


def _grow(points: int) -> int:
    """Return the points and their neighbors, diagonal ones too."""
    row = points | points << 1 & _SHAPE.full | points >> 1 & _SHAPE.full
    return (row | row << _SHAPE.stride | row >> _SHAPE.stride) & _SHAPE.full


def _draw_eyes(random: Random) -> SceneMoment:
    return _around(random, random.choice((1, 1, 2, 2, 3, 4)), 1)


def _draw_spaces(random: Random) -> SceneMoment:
    return _around(random, random.choice((1, 1, 2, 3)), random.choice((2, 2, 3, 4)))


def _two_apart(random: Random) -> SceneMoment:
    """Make two eyes three rows and three columns from one another."""
    row, column, mirror = random.randrange(6), random.randrange(6), random.random() < 0.5
    points = [(row, column), (row + 3, column + 3)]
    holes = _SHAPE.mask([(r, 8 - c) if mirror else (r, c) for r, c in points])
    square = _grow(holes) & ~holes
    return _board(square & ~any_bit(square & ~neighbours(_SHAPE, holes), random))


def _bands(random: Random) -> SceneMoment:
    """Make a region between two walls that nothing connects, not even a diagonal."""
    low = random.randint(0, 4)
    high = random.randint(low + 3, 8)
    upright = random.random() < 0.5
    walls = [(line, place) for line in (low, high) for place in range(SIZE)]
    black = _SHAPE.mask([(place, line) if upright else (line, place) for line, place in walls])
    share = random.choice((0, 0.03))
    return _board(black, made_positions.scatter(random, _SHAPE.full & ~black, share))


def _swap_colors(make: Callable[[Random], SceneMoment]) -> scenes.Maker:
    """Return what makes the same for White, and something for Black beside it."""

    def swap(random: Random) -> SceneMoment:
        white, black = make(random).board.black, make(random).board.black
        return _board(black & ~_grow(_grow(white)), white)

    return swap


def _dense(random: Random) -> SceneMoment:
    share = random.uniform(0.6, 0.9)
    black = made_positions.scatter(random, _SHAPE.full, share)
    rest = random.choice((0, 0.1, 0.3))
    return _board(black, made_positions.scatter(random, _SHAPE.full & ~black, rest))


def _few(random: Random) -> SceneMoment:
    black, white = (made_positions.scatter(random, _SHAPE.full, 0.06) for _ in range(2))
    return _board(black, white & ~black)


_game = partial(made_positions.go_anytime, sizes=(SIZE,))

# --- boards of other sizes ----------------------------------------------------------------------


def _fitting(moment: SceneMoment) -> list[SceneMoment]:
    """Return the moment, or of a larger board one of its corners of 9 by 9."""
    if moment.size > SIZE:
        return [made_positions.corner(moment, SIZE, moment.number % 4)]
    return [moment] if moment.size == SIZE else []


FEATURES = (
    Feature("corner-eye", "an eye in a corner",
            _eyes(lambda m: look(m).eyes & _CORNERS), _ask(_EYES), _draw_eyes),
    Feature("edge-eye", "an eye at the edge",
            _eyes(lambda m: look(m).eyes & _EDGE & ~_CORNERS), _ask(_EYES), _draw_eyes),
    Feature("inner-eye", "an eye away from the edge",
            _eyes(lambda m: look(m).eyes & ~_EDGE), _ask(_EYES), _draw_eyes),
    Feature("empty-diagonal", "an eye with an empty diagonal neighbor",
            _eyes(lambda m: _diagonals(look(m).eyes) & look(m).empty), _ask(_EYES), _draw_eyes),
    Feature("white-diagonal", "an eye with a white diagonal neighbor",
            _eyes(lambda m: _diagonals(look(m).eyes) & m.board.white), _ask(_EYES), _draw_eyes),
    Feature("false-eye", "one diagonal too many is missing",
            _eyes(lambda m: look(m).false), _ask(_EYES), _draw_eyes, least=2),
    Feature("no-eye", "black stones, but no eye",
            lambda m: "none" if m.board.black and not look(m).eyes else "",
            _ask(_EYES, _TWO), _game),
    Feature("stone-in-the-middle", "a stone is not an eye",
            _eyes(_inner_stones), _ask(_EYES), _dense),
    Feature("white-eye", "White's eyes do not count",
            _eyes(lambda m: rules.eyes(_SHAPE, m.board.white, m.board.black)), _ask(_EYES),
            _swap_colors(_draw_eyes)),
    Feature("two-eyes", "eyes that have another near",
            _two(lambda m: look(m).near), _ask(_TWO), _draw_eyes),
    Feature("lonely-eye", "an eye that has no other near",
            _two(lambda m: look(m).eyes & ~look(m).near), _ask(_TWO), _draw_eyes, least=2),
    Feature("eyes-apart", "two eyes near each other, not in one line",
            _two(_eyes_apart), _ask(_TWO), _draw_eyes),
    Feature("three-eyes", "more than two eyes together",
            lambda m: "several" if look(m).near.bit_count() > 2 else "", _ask(_TWO), _draw_eyes),
    Feature("eyes-far-apart", "eyes three rows and columns apart are not near",
            _two(lambda m: look(m).eyes & rules.company(_SHAPE, look(m).eyes, 3, 3)
                 & ~look(m).near), _ask(_TWO), _two_apart),
    Feature("eye-space", "a space surrounded by one chain",
            _spaces(lambda m: look(m).spaces), _ask(_SPACES), _draw_spaces),
    Feature("space-at-edge", "a space at the edge",
            _spaces(lambda m: look(m).spaces & _EDGE), _ask(_SPACES), _draw_spaces),
    Feature("shared-space", "a region that touches White is none",
            _spaces(_has_shared_space), _ask(_SPACES), _draw_spaces),
    Feature("open-space", "a region between several chains is none",
            _spaces(_open_space), _ask(_SPACES), _bands),
    Feature("diagonal-spaces", "regions that touch along a diagonal are two",
            _spaces(lambda m: any(flood_diagonally(_SHAPE, one, look(m).spaces) != one
                                  for one in regions(_SHAPE, look(m).spaces))),
            _ask(_SPACES), _draw_spaces),
    Feature("white-space", "White's eye spaces do not count",
            _spaces(lambda m: rules.eye_spaces(_SHAPE, m.board.white, m.board.black)),
            _ask(_SPACES), _swap_colors(_draw_spaces)),
    Feature("no-space", "black stones, but no eye space",
            lambda m: "none" if m.board.black and not look(m).spaces else "",
            _ask(_SPACES), _game),
    Feature("empty-board", "the empty board has nothing",
            lambda m: "" if m.board.stones else "none", _ask(_SPACES), lambda random: _board()),
    Feature("no-black", "nothing but white stones",
            lambda m: "none" if m.board.white and not m.board.black else "", _ask(_TWO, _SPACES),
            lambda random: _board(white=made_positions.scatter(random, _SHAPE.full, 0.1))),
    Feature("picture", "the picture of the board",
            lambda m: "picture" if 3 <= m.board.stones.bit_count() <= 40 else "",
            _ask(_DISPLAY), _few),
    _board_file("board-file", "a board file in small letters", valid=True),
    _board_file("capital-letters", "capital and small letters mean the same", valid=True,
                change=lambda lines, random: [line.upper() if random.random() < 0.5 else line
                                              for line in lines]),
    _board_file("column-i", "the ninth column is i", valid=True,
                has=lambda m: _fits_file(m) and m.board.stones & _NINTH),
    _board_file("stone-twice", "a second stone on a point is an error", valid=False,
                change=_second(other=False)),
    _board_file("two-stones", "two colors on one point are an error", valid=False,
                change=_second(other=True)),
    _board_file("bad-line", "one bad line makes the file invalid", valid=False,
                change=_bad("x a 1", "b j 3", "w c 10", "b d 0", "w 4 e", "b f")),
    _board_file("row-first", "a row does not come before its column", valid=False,
                change=_bad("w 4 e", "b 7 a", "b 2 h")),
)  # fmt: skip

KIND = FeatureKind("go", range(9, 20), FEATURES, _fitting, swaps=False, marks=".bw")
