"""Features in tests of gosensei: eyes, two eyes, eye spaces, the picture and board files."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions
from harness.vocabulary.made_positions import corner
from harness.vocabulary.scenes import (
    Asker,
    Feature,
    FeatureKind,
    Files,
    Finder,
    Maker,
    SceneCommand,
    SceneMoment,
    StoneBits,
    as_it_lies,
    lay_stones,
)
from oracle.montecarlo import any_bit
from oracle.position import SENSEI_LETTERS, Grid, each_bit, grid
from oracle.rules import go as rules
from oracle.rules.flood import flood_diagonally, neighbours, regions
from oracle.rules.go import find_captured_of_both, reach

Change = Callable[[list[str], Random], list[str]]  # of the lines of a board file

SIZE = 9
_SHAPE = grid(SIZE)
_EDGE = _SHAPE.full & ~_SHAPE.mask([(r, c) for r in range(1, 8) for c in range(1, 8)])
_CORNERS = _SHAPE.mask([(0, 0), (0, 8), (8, 0), (8, 8)])
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


def _many(count: int) -> str:
    return "none" if not count else "one" if count == 1 else "several"


def _parts(mask: int) -> int:
    return sum(1 for _ in regions(_SHAPE, mask))


# --- when a board has a feature -----------------------------------------------------------------


def _eye_at(within: int) -> Finder:
    def find(moment: SceneMoment) -> str:
        seen = look(moment)
        return _many(seen.eyes.bit_count()) if seen.eyes & within else ""

    return find


def _missing(moment: SceneMoment, by_white: bool) -> str:
    """An eye one of whose diagonal neighbors is empty, or white."""
    seen, white = look(moment), moment.board.white
    other = white if by_white else seen.empty
    up = _SHAPE.stride
    for bit in each_bit(seen.eyes):
        corners = (bit << up << 1 | bit << up >> 1 | bit >> up << 1 | bit >> up >> 1) & _SHAPE.full
        if corners & other:
            return _many(seen.eyes.bit_count())
    return ""


def _false_eye(moment: SceneMoment) -> str:
    seen = look(moment)
    return _many(seen.eyes.bit_count()) if seen.false else ""


def _no_eye(moment: SceneMoment) -> str:
    seen = look(moment)
    return "none" if moment.board.black and not seen.eyes else ""


def _stone_eye(moment: SceneMoment) -> str:
    """A black stone in the middle of black stones."""
    black = moment.board.black
    inner = black & ~neighbours(_SHAPE, _SHAPE.full & ~black)
    full = inner & ~rules.false_corners(_SHAPE, black)
    return _many(look(moment).eyes.bit_count()) if full else ""


def _white_eye(moment: SceneMoment) -> str:
    found = rules.eyes(_SHAPE, moment.board.white, moment.board.black)
    return _many(look(moment).eyes.bit_count()) if found else ""


def _two_eyes(moment: SceneMoment) -> str:
    seen = look(moment)
    return _many(seen.near.bit_count()) if seen.near else ""


def _lonely_eye(moment: SceneMoment) -> str:
    """Eyes, one of them without another nearby."""
    seen = look(moment)
    return _many(seen.near.bit_count()) if seen.eyes & ~seen.near else ""


def _eyes_apart(moment: SceneMoment) -> str:
    """Two eyes that are near, but neither in one line nor side by side."""
    seen = look(moment)
    if not seen.near:
        return ""
    both = rules.company(_SHAPE, seen.eyes, 2, 2)
    line = rules.company(_SHAPE, seen.eyes, 2, 0) | rules.company(_SHAPE, seen.eyes, 0, 2)
    return _many(seen.near.bit_count()) if seen.eyes & both & ~line else ""


def _three_apart(moment: SceneMoment) -> str:
    """Eyes that are three rows and three columns from one another: not near."""
    seen = look(moment)
    near, wider = seen.near, rules.company(_SHAPE, seen.eyes, 3, 3)
    return _many(near.bit_count()) if seen.eyes & wider & ~near else ""


def _three_eyes(moment: SceneMoment) -> str:
    return "several" if look(moment).near.bit_count() > 2 else ""


def _space(moment: SceneMoment) -> str:
    seen = look(moment)
    return _many(_parts(seen.spaces)) if seen.spaces else ""


def _space_at_edge(moment: SceneMoment) -> str:
    seen = look(moment)
    return _many(_parts(seen.spaces)) if seen.spaces & _EDGE else ""


def _shared_space(moment: SceneMoment) -> str:
    """A region with black and white stones around it, beside some black ones."""
    if not look(moment).spaces:
        return ""
    by_black, by_white = reach(_SHAPE, *moment.board)
    shared = by_black & by_white & look(moment).empty
    return _many(_parts(look(moment).spaces)) if shared else ""


def _open_space(moment: SceneMoment) -> str:
    """A region between black stones that are not connected."""
    black, white = moment.board
    by_black, by_white = reach(_SHAPE, black, white)
    several = by_black & ~black & ~by_white & ~look(moment).spaces
    return _many(_parts(look(moment).spaces)) if several else ""


def _diagonal_spaces(moment: SceneMoment) -> str:
    """Spaces that touch along a diagonal."""
    spaces = look(moment).spaces
    first = next(regions(_SHAPE, spaces), 0)
    joined = any(
        flood_diagonally(_SHAPE, region, spaces) != region for region in regions(_SHAPE, spaces)
    )
    return _many(_parts(spaces)) if first and joined else ""


def _white_space(moment: SceneMoment) -> str:
    found = rules.eye_spaces(_SHAPE, moment.board.white, moment.board.black)
    return _many(_parts(look(moment).spaces)) if found else ""


def _no_space(moment: SceneMoment) -> str:
    return "none" if moment.board.black and not look(moment).spaces else ""


def _empty(moment: SceneMoment) -> str:
    return "none" if not moment.board.stones else ""


def _one_color(moment: SceneMoment) -> str:
    return "none" if moment.board.white and not moment.board.black else ""


def _stones(moment: SceneMoment) -> str:
    return "picture" if 3 <= moment.board.stones.bit_count() <= 40 else ""


def _for_file(moment: SceneMoment) -> str:
    return "true" if 2 <= moment.board.stones.bit_count() <= 24 else ""


def _nine(moment: SceneMoment) -> str:
    """A board file with a stone in its ninth column, which the document calls i."""
    ninth = _SHAPE.mask([(row, 8) for row in range(SIZE)])
    return _for_file(moment) if moment.board.stones & ninth else ""


# --- what is asked ------------------------------------------------------------------------------


def _ask(*commands: SceneCommand) -> Asker:
    """Return what sets the board up by moves, if its stones have liberties, and asks."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        dead = any(find_captured_of_both(_SHAPE, *moment.board))
        board = lay_stones(moment) if dead else as_it_lies(moment, random)
        return [*board[1:], *commands]  # the board is always 9 by 9

    return steps


def _name(content: str) -> str:
    """Return the name of a board file: made from what it says, so that no two clash."""
    return f"boards/{hashlib.sha256(content.encode()).hexdigest()[:12]}.txt"


def _capitals(lines: list[str], random: Random) -> list[str]:
    return [line.upper() if random.random() < 0.5 else line for line in lines]


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


def _good(lines: list[str], random: Random) -> list[str]:
    return lines


def _board_file(name: str, sentence: str, find: Finder, change: Change, *, valid: bool) -> Feature:
    """Return the feature of a board file: whether it is valid, and the eyes of one that is."""

    def files(moment: SceneMoment, random: Random) -> Files:
        found = [
            f"{sign} {SENSEI_LETTERS[column].lower()} {row + 1}"
            for sign, mask in zip("bw", moment.board, strict=True)
            for row, column in _SHAPE.points(mask)
        ]
        random.shuffle(found)
        content = "\n".join(change(found, random)) + "\n"
        return ((_name(content), content),)

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        ((file, _),) = files(moment, random)
        ask = SceneCommand(
            f"is_valid {file}", asked=True, why=f"{sentence[:1].upper()}{sentence[1:]}."
        )
        if valid:
            return [SceneCommand("clear_board"), ask, SceneCommand(f"load_board {file}"), _DISPLAY]
        return [*lay_stones(moment)[1:], ask, _DISPLAY]

    return Feature(
        name,
        sentence,
        lambda moment: (valid and find(moment)) or (find(moment) and "false") or "",
        steps,
        _few,
        files,
    )


# --- positions made -----------------------------------------------------------------------------


def _around(random: Random, spots: int, size: int) -> StoneBits:
    """Surround a few spots of so many points with black stones, some diagonals left out."""
    black = holes = 0
    for _ in range(spots):
        hole = any_bit(_SHAPE.full & ~black, random)
        for _ in range(size - 1):
            hole |= any_bit(neighbours(_SHAPE, hole) & ~hole or hole, random)
        beside = neighbours(_SHAPE, hole) & ~hole
        square = flood_once(_SHAPE, hole) & ~hole & ~beside
        black |= beside | made_positions.scatter(random, square, 0.7)
        holes |= hole
    black &= ~holes
    rest = _SHAPE.full & ~black & ~holes
    white = made_positions.scatter(random, rest, random.choice((0, 0.05, 0.2)))
    return StoneBits(black, white)


def flood_once(shape: Grid, points: int) -> int:
    """Return the points and their neighbors, diagonal ones too."""
    row = points | points << 1 & shape.full | points >> 1 & shape.full
    return (row | row << shape.stride | row >> shape.stride) & shape.full


def _draw_eyes(random: Random) -> SceneMoment:
    board = _around(random, random.choice((1, 1, 2, 2, 3, 4)), 1)
    return made_positions.board_moment("go", SIZE, board)


def _draw_spaces(random: Random) -> SceneMoment:
    board = _around(random, random.choice((1, 1, 2, 3)), random.choice((2, 2, 3, 4)))
    return made_positions.board_moment("go", SIZE, board)


def _two_apart(random: Random) -> SceneMoment:
    """Make two eyes three rows and three columns from one another."""
    row, column, mirror = random.randrange(6), random.randrange(6), random.random() < 0.5
    points = [(row, column), (row + 3, column + 3)]
    holes = _SHAPE.mask([(r, 8 - c) if mirror else (r, c) for r, c in points])
    square = flood_once(_SHAPE, holes) & ~holes
    beside = neighbours(_SHAPE, holes)
    return made_positions.board_moment(
        "go",
        SIZE,
        StoneBits(square & ~any_bit(flood_once(_SHAPE, holes) & ~beside & ~holes, random)),
    )


def _bands(random: Random) -> SceneMoment:
    """Make a region between two walls that nothing connects, not even a diagonal."""
    low = random.randint(0, 4)
    high = random.randint(low + 3, 8)
    upright = random.random() < 0.5
    walls = [(line, place) for line in (low, high) for place in range(SIZE)]
    black = _SHAPE.mask([(place, line) if upright else (line, place) for line, place in walls])
    board = StoneBits(
        black, made_positions.scatter(random, _SHAPE.full & ~black, random.choice((0, 0.03)))
    )
    return made_positions.board_moment("go", SIZE, board)


def _swap_colors(make: Maker) -> Maker:
    """Return what makes the same for White, and something for Black beside it."""

    def swap(random: Random) -> SceneMoment | None:
        first, second = make(random), make(random)
        if first is None or second is None:
            return None
        white, black = first.board.black, second.board.black
        near = flood_once(_SHAPE, flood_once(_SHAPE, white))
        board = StoneBits(black & ~near, white)
        return made_positions.board_moment("go", SIZE, board)

    return swap


def _dense(random: Random) -> SceneMoment:
    share = random.uniform(0.6, 0.9)
    black = made_positions.scatter(random, _SHAPE.full, share)
    white = made_positions.scatter(random, _SHAPE.full & ~black, random.choice((0, 0.1, 0.3)))
    return made_positions.board_moment("go", SIZE, StoneBits(black, white))


def _few(random: Random) -> SceneMoment:
    board = StoneBits(*(made_positions.scatter(random, _SHAPE.full, 0.06) for _ in range(2)))
    return made_positions.board_moment(
        "go", SIZE, StoneBits(board.black, board.white & ~board.black)
    )


def _blank(random: Random) -> SceneMoment:
    return made_positions.board_moment("go", SIZE)


def _only_white(random: Random) -> SceneMoment:
    return made_positions.board_moment(
        "go", SIZE, StoneBits(0, made_positions.scatter(random, _SHAPE.full, 0.1))
    )


def _game(random: Random) -> SceneMoment | None:
    return made_positions.go_anytime(random, (SIZE,))


# --- boards of other sizes ----------------------------------------------------------------------


def _fitting(moment: SceneMoment) -> list[SceneMoment]:
    """Return the moment, or of a larger board one of its corners of 9 by 9."""
    if moment.size == SIZE:
        return [moment]
    return [corner(moment, SIZE, moment.number % 4)] if moment.size > SIZE else []


_CENTER = _SHAPE.full & ~_EDGE
FEATURES = (
    Feature("corner-eye", "an eye in a corner", _eye_at(_CORNERS), _ask(_EYES), _draw_eyes),
    Feature("edge-eye", "an eye at the edge", _eye_at(_EDGE & ~_CORNERS), _ask(_EYES), _draw_eyes),
    Feature("inner-eye", "an eye away from the edge", _eye_at(_CENTER), _ask(_EYES), _draw_eyes),
    Feature("empty-diagonal", "an eye with an empty diagonal neighbor",
            lambda moment: _missing(moment, by_white=False), _ask(_EYES), _draw_eyes),
    Feature("white-diagonal", "an eye with a white diagonal neighbor",
            lambda moment: _missing(moment, by_white=True), _ask(_EYES), _draw_eyes),
    Feature("false-eye", "one diagonal too many is missing", _false_eye, _ask(_EYES), _draw_eyes,
            least=2),
    Feature("no-eye", "black stones, but no eye", _no_eye, _ask(_EYES, _TWO), _game),
    Feature("stone-in-the-middle", "a stone is not an eye", _stone_eye, _ask(_EYES), _dense),
    Feature("white-eye", "White's eyes do not count", _white_eye, _ask(_EYES),
            _swap_colors(_draw_eyes)),
    Feature("two-eyes", "eyes that have another near", _two_eyes, _ask(_TWO), _draw_eyes),
    Feature("lonely-eye", "an eye that has no other near", _lonely_eye, _ask(_TWO), _draw_eyes,
            least=2),
    Feature("eyes-apart", "two eyes near each other, not in one line",
            _eyes_apart, _ask(_TWO), _draw_eyes),
    Feature("three-eyes", "more than two eyes together", _three_eyes, _ask(_TWO), _draw_eyes),
    Feature("eyes-far-apart", "eyes three rows and columns apart are not near",
            _three_apart, _ask(_TWO), _two_apart),
    Feature("eye-space", "a space surrounded by one chain", _space, _ask(_SPACES), _draw_spaces),
    Feature("space-at-edge", "a space at the edge", _space_at_edge, _ask(_SPACES), _draw_spaces),
    Feature("shared-space", "a region that touches White is none",
            _shared_space, _ask(_SPACES), _draw_spaces),
    Feature("open-space", "a region between several chains is none",
            _open_space, _ask(_SPACES), _bands),
    Feature("diagonal-spaces", "regions that touch along a diagonal are two",
            _diagonal_spaces, _ask(_SPACES), _draw_spaces),
    Feature("white-space", "White's eye spaces do not count",
            _white_space, _ask(_SPACES), _swap_colors(_draw_spaces)),
    Feature("no-space", "black stones, but no eye space", _no_space, _ask(_SPACES), _game),
    Feature("empty-board", "the empty board has nothing", _empty, _ask(_SPACES), _blank),
    Feature("no-black", "nothing but white stones", _one_color, _ask(_TWO, _SPACES), _only_white),
    Feature("picture", "the picture of the board", _stones, _ask(_DISPLAY), _few),
    _board_file("board-file", "a board file in small letters", _for_file, _good, valid=True),
    _board_file("capital-letters", "capital and small letters mean the same",
                _for_file, _capitals, valid=True),
    _board_file("column-i", "the ninth column is i", _nine, _good, valid=True),
    _board_file("stone-twice", "a second stone on a point is an error",
                _for_file, _second(other=False), valid=False),
    _board_file("two-stones", "two colors on one point are an error",
                _for_file, _second(other=True), valid=False),
    _board_file("bad-line", "one bad line makes the file invalid", _for_file,
                _bad("x a 1", "b j 3", "w c 10", "b d 0", "w 4 e", "b f"), valid=False),
    _board_file("row-first", "a row does not come before its column", _for_file,
                _bad("w 4 e", "b 7 a", "b 2 h"), valid=False),
)  # fmt: skip

KIND = FeatureKind("go", range(9, 20), FEATURES, _fitting, swaps=False, marks=".bw")
