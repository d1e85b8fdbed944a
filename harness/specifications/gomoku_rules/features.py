"""Features in tests of gomoku-rules: lines, the end of the game, errors, turns, legal moves."""

from collections.abc import Callable
from functools import cache
from itertools import product
from random import Random

from harness.vocabulary import made_positions
from harness.vocabulary.scenes import (
    Asker,
    Feature,
    FeatureKind,
    Finder,
    Maker,
    SceneCommand,
    SceneMoment,
    StoneBits,
    as_it_lies,
    names,
    play,
    up_to_last,
    whole,
)
from oracle.mistakes.gomoku_parts import pack
from oracle.montecarlo import any_bit
from oracle.position import GTP_LETTERS, NAMES, Grid, each_bit, grid
from oracle.rules.flood import neighbours
from oracle.rules.go import find_taken
from oracle.rules.gomoku import fives, fives_along, steps, window

_RESULT = SceneCommand("gogui-rules_final_result", asked=True)
_LEGAL = SceneCommand("gogui-rules_legal_moves", asked=True)
_SMALL = (5, 6, 7, 8, 9)
_LISTED = 9  # from 10 by 10 on the order of legal moves is open
_CHOSEN = 7  # a test of genmove on an empty board names all points
_WRONG_COLORS = ("c", "x", "green", "red")


def _side(why: str) -> SceneCommand:
    return SceneCommand("gogui-rules_side_to_move", asked=True, why=why)


# --- when a board has a feature -----------------------------------------------------------------


def _find_win_along(direction: str) -> Finder:
    """Return a finder of wins in one direction; the answer tells the edge, too."""

    def find(moment: SceneMoment) -> str:
        found = made_positions.find_win(moment)
        if not found or found.direction != direction:
            return ""
        return f"{NAMES[moment.color]} {made_positions.edge(moment.shape, found.points)}".strip()

    return find


def _find_win_from_within(moment: SceneMoment) -> str:
    found = made_positions.find_win(moment)
    ends = moment.shape.points(found.points) if found else []
    within = found and moment.shape.point(moment.move) not in (ends[0], ends[-1])
    return NAMES[moment.color] if within else ""


def _overline(moment: SceneMoment) -> str:
    found = made_positions.find_win(moment)
    return NAMES[moment.color] if found and found.points.bit_count() > 5 else ""


def _far_line(moment: SceneMoment) -> str:
    """A line that reaches row 10 or the column J."""
    found = made_positions.find_win(moment)
    places = moment.shape.points(found.points) if found else []
    far = any(row >= 9 for row, _ in places) or any(column >= 8 for _, column in places)
    return NAMES[moment.color] if far else ""


def _has_won(moment: SceneMoment) -> str:
    return NAMES[moment.color] if made_positions.find_win(moment) else ""


def _goes_on(moment: SceneMoment) -> str:
    return "unknown" if moment.board.stones and not made_positions.is_over(moment) else ""


def _nearly(count: int, rest: Callable[[StoneBits, int], int]) -> Finder:
    """Return a finder of windows of five with ``count`` stones of one color among ``rest``."""

    def find(moment: SceneMoment) -> str:
        if not _goes_on(moment):
            return ""
        return "unknown" if _has_window(moment, count, rest) else ""

    return find


def _has_window(moment: SceneMoment, count: int, rest: Callable[[StoneBits, int], int]) -> bool:
    shape, board = moment.shape, moment.board
    for color in (1, 2):
        mine, others = board.of(color), rest(board, color) & shape.full
        for step in steps(shape):
            for start in each_bit(mine | others):
                five = window(start, step, 5)
                if five & mine | five & others == five and (five & mine).bit_count() == count:
                    return True
    return False


def _wraps(moment: SceneMoment) -> str:
    """A five that only a board without edges would have."""
    if not _goes_on(moment):
        return ""
    width = moment.size
    flats = [pack(moment.shape, mask) for mask in moment.board]
    across = (1, width, width + 1, width - 1)
    return "unknown" if any(fives_along(f, step) for f in flats for step in across) else ""


def _full(moment: SceneMoment) -> str:
    full = moment.board.stones == moment.shape.full
    return "draw" if full and not any(fives(moment.shape, mask) for mask in moment.board) else ""


def _one_left(moment: SceneMoment) -> str:
    """One empty point, on which neither color makes a five."""
    shape, board = moment.shape, moment.board
    left = shape.full & ~board.stones
    if left.bit_count() != 1 or any(fives(shape, mask | left) for mask in board):
        return ""
    return "unknown"


def _find_pocket(moment: SceneMoment) -> str:
    """One empty point, with stones of one color around it."""
    around = neighbours(moment.shape, moment.shape.full & ~moment.board.stones)
    if not _one_left(moment):
        return ""
    return next((NAMES[color] for color in (1, 2) if not around & ~moment.board.of(color)), "")


def _blank(moment: SceneMoment) -> str:
    return "" if moment.board.stones else "unknown"


def _small_blank(moment: SceneMoment) -> str:
    """An empty board on which all that genmove may answer can be read."""
    return _blank(moment) if moment.size <= _CHOSEN else ""


def _knight(moment: SceneMoment) -> str:
    """Five stones of a color, each a knight's step from the last, are not a line."""
    found = [one for one in _rides(moment.shape) for mask in moment.board if not one & ~mask]
    return _goes_on(moment) if found else ""


@cache
def _rides(shape: Grid) -> list[int]:
    """Return what five points can be that lie a knight's step apart, in one direction."""
    ways = product(shape.points(shape.full), ((1, 2), (2, 1), (1, -2), (2, -1)))
    fives = ([(r + n * up, c + n * right) for n in range(5)] for (r, c), (up, right) in ways)
    return [shape.mask(points) for points in fives if points[-1] in shape]


def _legal(moment: SceneMoment) -> str:
    return "moves" if moment.size <= _LISTED and _goes_on(moment) else ""


def _find_surrounded(moment: SceneMoment) -> str:
    """Stones without liberties, that the last move would have taken in Go."""
    if not moment.move or not _goes_on(moment):
        return ""
    mine, theirs = moment.before.of(moment.color), moment.before.of(3 - moment.color)
    return "occupied" if find_taken(moment.shape, mine, theirs, moment.move) else ""


def _hole(moment: SceneMoment) -> int:
    """Return an empty point with nothing but stones of the last color around it, or 0."""
    shape, board = moment.shape, moment.board
    other = shape.full & ~board.of(moment.color or 1)
    return shape.full & ~board.stones & ~neighbours(shape, other)


def _suicide(moment: SceneMoment) -> str:
    return "accepted" if moment.color and _goes_on(moment) and _hole(moment) else ""


def _black_moved(moment: SceneMoment) -> str:
    return "black" if moment.color == 1 and not made_positions.is_over(moment) else ""


def _uneven(moment: SceneMoment) -> str:
    black, white = (mask.bit_count() for mask in moment.board)
    uneven = abs(black - white) > 1 and moment.move and not made_positions.is_over(moment)
    return NAMES[moment.to_play] if uneven else ""


# --- what is asked ------------------------------------------------------------------------------


def _result(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*up_to_last(moment, random), _RESULT]


def _result_and_list(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    listed = [_LEGAL] if moment.size <= _LISTED or made_positions.is_over(moment) else []
    return [*up_to_last(moment, random), _RESULT, *listed]


def _list(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*up_to_last(moment, random), _LEGAL]


def _turn(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = f"The last stone was {NAMES[moment.color].capitalize()}'s, whoever played before it."
    return [*up_to_last(moment, random), _side(why)]


def _new_game(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*up_to_last(moment, random), SceneCommand(f"boardsize {moment.size}"), _RESULT]


def _new_turn(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    side = _side("A new game begins with Black.")
    return [*up_to_last(moment, random), SceneCommand("clear_board"), side]


def _error(reason: str, *words: Callable[[SceneMoment, Random], str]) -> Asker:
    """Return what asks for an error, and whose turn it is after it."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        color, point = (word(moment, random) for word in words)
        error = SceneCommand(f"play {color} {point}", asked=True, why=f"{reason} comes first.")
        turn = _side("An illegal move changes nothing: it is still the same color's turn.")
        return [*up_to_last(moment, random), error, turn]

    return steps


def _get_right_color(moment: SceneMoment, random: Random) -> str:
    return " bw"[moment.to_play]


def _draw_wrong_color(moment: SceneMoment, random: Random) -> str:
    return random.choice(_WRONG_COLORS)


def _off_board(moment: SceneMoment, random: Random) -> str:
    """Return a vertex one row or column beyond the edge."""
    size = moment.size
    beyond = GTP_LETTERS[size].lower()
    column, row = random.choice(GTP_LETTERS[:size]).lower(), random.randint(1, size)
    return random.choice((f"{column}{size + 1}", f"{beyond}{row}"))


def _stone(moment: SceneMoment, random: Random) -> str:
    return random.choice(names(moment, moment.board.stones)).lower()


def _take_again(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play on a stone that Go would have taken off."""
    mine, theirs = moment.before.of(moment.color), moment.before.of(3 - moment.color)
    dead = next(each_bit(find_taken(moment.shape, mine, theirs, moment.move)))
    again = play(moment, moment.to_play, dead)
    why = "Gomoku has no captures: the surrounded stone is still there."
    return [*up_to_last(moment, random), again._replace(asked=True, why=why)]


def _fill(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play on a point without liberties."""
    stone = play(moment, moment.to_play, next(each_bit(_hole(moment))))
    why = "Gomoku knows no suicide: any empty point will do, and the answer is empty."
    return [*up_to_last(moment, random), stone._replace(asked=True, why=why)]


def _resign(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = f"{NAMES[moment.color].capitalize()} has five in a row: the other color resigns."
    ask = SceneCommand(f"genmove {' bw'[moment.to_play]}", asked=True, why=why)
    return [*up_to_last(moment, random), ask]


def _pass(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    ask = SceneCommand(
        f"genmove {random.choice('bw')}", asked=True, why="The board is full and nobody has won."
    )
    return [*up_to_last(moment, random), ask, _RESULT]


def _genmove(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = "The board is empty: any point will do."
    ask = SceneCommand(f"genmove {' bw'[moment.to_play]}", asked=True, why=why)
    return [*as_it_lies(moment, random), ask]


def _last_in_pocket(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Let the color that has all stones around the last point fill it."""
    why = "One empty point is left. Gomoku knows no suicide."
    ask = SceneCommand(f"genmove {_find_pocket(moment)[0]}", asked=True, why=why)
    return [*up_to_last(moment, random), ask]


def _last_point(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Let the color that is not to move fill the last point."""
    color = moment.color
    ask = SceneCommand(f"genmove {' bw'[color]}", asked=True, why="One empty point is left.")
    turn = _side(f"{NAMES[color].capitalize()} has just played, though it was not its turn.")
    return [*up_to_last(moment, random), ask, turn, _RESULT]


def _not_asked(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*as_it_lies(moment, random), _RESULT]


# --- positions made -----------------------------------------------------------------------------


def _line(direction: int | None = None, length: int = 5, sizes: range = range(6, 11)) -> Maker:
    def make(random: Random) -> SceneMoment | None:
        size, color = random.choice(sizes), random.choice((1, 2))
        along = random.randrange(4) if direction is None else direction
        points = made_positions.line(random, size, along, length)
        return made_positions.complete_line(
            random, size, points, color, end=length == 5 and random.random() < 0.5
        )

    return make


def _four(others: bool) -> Maker:
    """Four in a window of five, with the fifth point empty or the other color's."""

    def make(random: Random) -> SceneMoment | None:
        found = _line(sizes=range(5, 9))(random)
        if found is None:
            return None
        board = found.before
        if others:
            board = made_positions.add_stones(board, 3 - found.color, found.move)
        return _last_of(random, found.size, board)

    return make


def _last_of(random: Random, size: int, board: StoneBits) -> SceneMoment:
    """Return the moment in which one of the stones was the last."""
    color = random.choice([color for color in (1, 2) if board.of(color)])
    move = any_bit(board.of(color), random)
    return made_positions.after(
        "gomoku", size, made_positions.without(board, move), color, move, board
    )


def _across(random: Random) -> SceneMoment:
    """Make five that go on at the other edge."""
    size = random.choice(range(5, 9))
    shape = grid(size)
    row, first = random.randrange(size - 1), random.randint(1, 4)
    points = [(row, size - 1 - place) for place in range(first)]
    points += [(row + 1, place) for place in range(5 - first)]
    color = random.choice((1, 2))
    board = made_positions.add_stones(StoneBits(), color, shape.mask(points))
    return _last_of(random, size, made_positions.sprinkle(random, shape, board, 0, 5))


def _no_stone(*sizes: int) -> Maker:
    return lambda random: made_positions.board_moment("gomoku", random.choice(sizes))


def _pocket(random: Random) -> SceneMoment:
    """Fill a board except for one point, which one color surrounds."""
    size, color = random.choice(_SMALL[:2]), random.choice((1, 2))
    shape, board = grid(size), made_positions.gomoku_full(random, size, 1).board
    around = neighbours(shape, shape.full & ~board.stones)
    return _last_of(
        random,
        size,
        made_positions.add_stones(made_positions.without(board, around), color, around),
    )


def _ride(random: Random) -> SceneMoment:
    size, color = random.choice((9, 9, 10)), random.choice((1, 2))
    return made_positions.complete_line(
        random, size, random.choice(_rides(grid(size))), color, end=False
    )


def _anytime(random: Random) -> SceneMoment:
    size = random.choice(_SMALL)
    return made_positions.gomoku_game(random, size, random.randint(1, size * size), 0.3)


def _short(random: Random) -> SceneMoment:
    size = random.choice((5, 6, 7, 8, 9, 10, 13, 19))
    return made_positions.gomoku_game(random, size, random.randint(3, 12), 0.2)


def _uneven_game(random: Random) -> SceneMoment:
    size = random.choice(_SMALL)
    shape = grid(size)
    board = StoneBits(made_positions.scatter(random, shape.full, 0.12))
    return (
        _last_of(random, size, made_positions.sprinkle(random, shape, board, 0, 3))
        if (board.black)
        else made_positions.board_moment("gomoku", size)
    )


def _encircle(random: Random) -> SceneMoment:
    """Surround a stone or a point on a board of few others."""
    size, color = random.choice(_SMALL), random.choice((1, 2))
    shape = grid(size)
    inner = any_bit(shape.full, random)
    around = neighbours(shape, inner)
    board = made_positions.add_stones(StoneBits(), color, around)
    if random.random() < 0.5:
        board = made_positions.add_stones(board, 3 - color, inner)
    board = made_positions.sprinkle(random, shape, board, inner | around, 4)
    move = any_bit(around, random)
    return made_positions.after(
        "gomoku", size, made_positions.without(board, move), color, move, board
    )


def _no_five(empty: int) -> Maker:
    def make(random: Random) -> SceneMoment:
        return made_positions.gomoku_full(random, random.choice(_SMALL[:3]), empty)

    return make


def _empty_of(board: StoneBits, color: int) -> int:
    return ~board.stones


def _opponent_of(board: StoneBits, color: int) -> int:
    return board.of(3 - color)


_WON = _line()
_IN_WORDS = ("row", "column", "rising line", "falling line")  # the directions
FEATURES = (
    *(
        Feature(f"{name}-of-five", f"five in a {_IN_WORDS[place]} win",
                _find_win_along(name), _result_and_list, _line(place))
        for place, name in enumerate(made_positions.DIRECTIONS)
    ),
    Feature("filled-from-within", "the last stone is not at an end of the five",
            _find_win_from_within, _result, _line()),
    Feature("overline", "six or more in a row win too", _overline, _result, _line(length=6)),
    Feature("far-line", "rows of two digits, and columns behind I, which is not a column",
            _far_line, _result, _line(sizes=range(10, 20)), least=2),
    Feature("four-of-five", "four in a row do not win",
            _nearly(4, _empty_of), _result, _four(False)),
    Feature("mixed-line", "a five of both colors does not win",
            _nearly(4, _opponent_of), _result, _four(True)),
    Feature("knight-ride", "a knight's steps are not a line", _knight, _result, _ride),
    Feature("around-the-edge", "a row ends at the edge", _wraps, _result, _across),
    Feature("full-board", "a full board without a five is a draw", _full, _pass, _no_five(0)),
    Feature("last-point", "one empty point is left", _one_left, _last_point, _no_five(1)),
    Feature("nearly-full", "with one empty point the game still goes on",
            _one_left, _result, _no_five(1)),
    Feature("pocket", "genmove may go where Go would call it suicide",
            _find_pocket, _last_in_pocket, _pocket),
    Feature("empty-board", "nobody has won on an empty board",
            _blank, _not_asked, _no_stone(5, 6, 7, 9, 13, 19)),
    Feature("first-move", "genmove begins on an empty board", _small_blank, _genmove,
            _no_stone(5, 6)),
    Feature("resign", "genmove resigns after the other color's five", _has_won, _resign, _WON),
    Feature("legal-moves", "all empty points, sorted as strings", _legal, _list, _anytime),
    Feature("wrong-color", "the color is looked at first, then the point",
            _goes_on, _error("The color", _draw_wrong_color, _off_board), _short),
    Feature("wrong-coordinate", "a point beyond the edge",
            _goes_on, _error("The point", _get_right_color, _off_board), _short),
    Feature("occupied", "a point that has a stone",
            _goes_on, _error("The stone on the point", _get_right_color, _stone), _short),
    Feature("no-capture", "surrounded stones stay", _find_surrounded, _take_again, _encircle),
    Feature("no-suicide", "a surrounded point may be filled", _suicide, _fill, _encircle),
    Feature("turn", "after a stone it is the other color's turn", _uneven, _turn, _uneven_game),
    Feature("new-game", "boardsize forgets who has won", _has_won, _new_game, _WON),
    Feature("new-turn", "clear_board gives Black the first move",
            _black_moved, _new_turn, _short),
    Feature("not-over", "the game goes on", _goes_on, _not_asked, _anytime),
)  # fmt: skip

KIND = FeatureKind("gomoku", range(5, 20), FEATURES, whole, swaps=True)
