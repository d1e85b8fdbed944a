"""Features in tests of gomoku-rules: lines, the end of the game, errors, turns, legal moves."""

from collections.abc import Callable
from functools import cache
from itertools import product
from random import Random

from harness.vocabulary import made_positions, scenes
from harness.vocabulary.made_positions import add_stones, after, find_win, is_over, without
from harness.vocabulary.scenes import Feature, SceneCommand, SceneMoment, StoneBits, when
from oracle.mistakes.gomoku_parts import pack
from oracle.montecarlo import any_bit
from oracle.position import GTP_LETTERS, NAMES, Grid, each_bit, grid
from oracle.rules import gomoku as rules
from oracle.rules.flood import neighbours
from oracle.rules.go import find_taken
from oracle.rules.gomoku import fives, steps

_RESULT = SceneCommand("gogui-rules_final_result", asked=True)
_LEGAL = SceneCommand("gogui-rules_legal_moves", asked=True)
_SMALL = (5, 6, 7, 8, 9)
_LISTED = 9  # from 10 by 10 on the order of legal moves is open
_CHOSEN = 7  # a test of genmove on an empty board names all points
_WRONG_COLORS = ("c", "x", "green", "red")


def _side(why: str) -> SceneCommand:
    return SceneCommand("gogui-rules_side_to_move", asked=True, why=why)


# --- when a board has a feature -----------------------------------------------------------------


def _won(has: scenes.Has = lambda moment: True) -> scenes.Finder:
    """Return a finder of wins that have something, whose kind of answer is who has won."""
    return lambda m: NAMES[m.color] if find_win(m) and has(m) else ""


def _going_on(has: scenes.Has = lambda moment: True) -> scenes.Finder:
    """Return a finder of moments that have something, and in which the game goes on."""
    return lambda m: "unknown" if _goes_on(m) and has(m) else ""


def _goes_on(moment: SceneMoment) -> bool:
    return moment.board.stones != 0 and not is_over(moment)


def _find_win_along(direction: str) -> scenes.Finder:
    """Return a finder of wins in one direction; the answer tells the edge, too."""

    def find(moment: SceneMoment) -> str:
        found = find_win(moment)
        if not found or found.direction != direction:
            return ""
        return f"{NAMES[moment.color]} {made_positions.edge(moment.shape, found.points)}".strip()

    return find


def _five(moment: SceneMoment) -> list[tuple[int, int]]:
    """Return the points of the line that has won, from its beginning; none where none has."""
    found = find_win(moment)
    return moment.shape.points(found.points) if found else []


def _nearly(rest: Callable[[StoneBits, int], int]) -> scenes.Finder:
    """Return a finder of windows of five with four stones of one color and one of ``rest``."""

    def has(moment: SceneMoment) -> bool:
        shape, board = moment.shape, moment.board
        for color in (1, 2):
            mine, others = board.of(color), rest(board, color) & shape.full
            for step in steps(shape):
                for start in each_bit(mine | others):
                    five = rules.window(start, step, 5)
                    is_whole = five & mine | five & others == five
                    if is_whole and (five & mine).bit_count() == 4:
                        return True
        return False

    return _going_on(has)


def _wraps(moment: SceneMoment) -> bool:
    """Whether only a board without edges would have a five."""
    width = moment.size
    flats = [pack(moment.shape, mask) for mask in moment.board]
    across = (1, width, width + 1, width - 1)
    return any(rules.fives_along(f, step) for f in flats for step in across)


def _has_one_left(moment: SceneMoment) -> bool:
    """Whether there is one empty point, on which neither color makes a five."""
    shape, board = moment.shape, moment.board
    left = shape.full & ~board.stones
    return left.bit_count() == 1 and not any(fives(shape, mask | left) for mask in board)


def _find_pocket(moment: SceneMoment) -> str:
    """One empty point, with stones of one color around it."""
    around = neighbours(moment.shape, moment.shape.full & ~moment.board.stones)
    if not _has_one_left(moment):
        return ""
    return next((NAMES[color] for color in (1, 2) if not around & ~moment.board.of(color)), "")


@cache
def _rides(shape: Grid) -> list[int]:
    """Return what five points can be that lie a knight's step apart, in one direction."""
    ways = product(shape.points(shape.full), ((1, 2), (2, 1), (1, -2), (2, -1)))
    fives = ([(r + n * up, c + n * right) for n in range(5)] for (r, c), (up, right) in ways)
    return [shape.mask(points) for points in fives if points[-1] in shape]


def _surrounded(moment: SceneMoment) -> int:
    """Return the stones that the last move would have taken in Go."""
    mine, theirs = moment.before.of(moment.color), moment.before.of(3 - moment.color)
    return find_taken(moment.shape, mine, theirs, moment.move)


def _hole(moment: SceneMoment) -> int:
    """Return an empty point with nothing but stones of the last color around it, or 0."""
    shape, board = moment.shape, moment.board
    other = shape.full & ~board.of(moment.color or 1)
    return shape.full & ~board.stones & ~neighbours(shape, other)


def _uneven(moment: SceneMoment) -> str:
    black, white = (mask.bit_count() for mask in moment.board)
    uneven = abs(black - white) > 1 and moment.move and not is_over(moment)
    return NAMES[moment.to_play] if uneven else ""


# --- what is asked ------------------------------------------------------------------------------


def _result(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*scenes.up_to_last(moment, random), _RESULT]


def _turn(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = f"The last stone was {NAMES[moment.color].capitalize()}'s, whoever played before it."
    return [*scenes.up_to_last(moment, random), _side(why)]


def _ask_error(
    reason: str,
    color: Callable[[SceneMoment, Random], str],
    point: Callable[[SceneMoment, Random], str],
) -> scenes.Asker:
    """Return what asks for an error, and whose turn it is after it."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        command = f"play {color(moment, random)} {point(moment, random)}"
        error = SceneCommand(command, asked=True, why=f"{reason} comes first.")
        turn = _side("An illegal move changes nothing: it is still the same color's turn.")
        return [*scenes.up_to_last(moment, random), error, turn]

    return steps


def _get_right_color(moment: SceneMoment, random: Random) -> str:
    return " bw"[moment.to_play]


def _off_board(moment: SceneMoment, random: Random) -> str:
    """Return a vertex one row or column beyond the edge."""
    size = moment.size
    beyond = GTP_LETTERS[size].lower()
    column, row = random.choice(GTP_LETTERS[:size]).lower(), random.randint(1, size)
    return random.choice((f"{column}{size + 1}", f"{beyond}{row}"))


def _genmove(color: str, why: str) -> SceneCommand:
    return SceneCommand(f"genmove {color}", asked=True, why=why)


def _take_again(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play on a stone that Go would have taken off."""
    again = scenes.play(moment, moment.to_play, next(each_bit(_surrounded(moment))))
    why = "Gomoku has no captures: the surrounded stone is still there."
    return [*scenes.up_to_last(moment, random), again._replace(asked=True, why=why)]


def _fill(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play on a point without liberties."""
    stone = scenes.play(moment, moment.to_play, next(each_bit(_hole(moment))))
    why = "Gomoku knows no suicide: any empty point will do, and the answer is empty."
    return [*scenes.up_to_last(moment, random), stone._replace(asked=True, why=why)]


def _resign(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = f"{NAMES[moment.color].capitalize()} has five in a row: the other color resigns."
    return [*scenes.up_to_last(moment, random), _genmove(" bw"[moment.to_play], why)]


def _pass(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    ask = _genmove(random.choice("bw"), "The board is full and nobody has won.")
    return [*scenes.up_to_last(moment, random), ask, _RESULT]


def _last_in_pocket(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Let the color that has all stones around the last point fill it."""
    ask = _genmove(_find_pocket(moment)[0], "One empty point is left. Gomoku knows no suicide.")
    return [*scenes.up_to_last(moment, random), ask]


def _last_point(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Let the color that is not to move fill the last point."""
    ask = _genmove(" bw"[moment.color], "One empty point is left.")
    name = NAMES[moment.color].capitalize()
    turn = _side(f"{name} has just played, though it was not its turn.")
    return [*scenes.up_to_last(moment, random), ask, turn, _RESULT]


def _not_asked(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*scenes.as_it_lies(moment, random), _RESULT]


# --- positions made -----------------------------------------------------------------------------


def _line(
    direction: int | None = None, length: int = 5, sizes: range = range(6, 11)
) -> scenes.Maker:
    def make(random: Random) -> SceneMoment | None:
        size, color = random.choice(sizes), random.choice((1, 2))
        along = random.randrange(4) if direction is None else direction
        points = made_positions.line(random, size, along, length)
        end = length == 5 and random.random() < 0.5
        return made_positions.complete_line(random, size, points, color, end=end)

    return make


def _four(others: bool) -> scenes.Maker:
    """Four in a window of five, with the fifth point empty or the other color's."""

    def make(random: Random) -> SceneMoment | None:
        found = _line(sizes=range(5, 9))(random)
        if found is None:
            return None
        board = found.before
        if others:
            board = add_stones(board, 3 - found.color, found.move)
        return _last_of(random, found.size, board)

    return make


def _last_of(random: Random, size: int, board: StoneBits) -> SceneMoment:
    """Return the moment in which one of the stones was the last."""
    color = random.choice([color for color in (1, 2) if board.of(color)])
    move = any_bit(board.of(color), random)
    return after(size, without(board, move), color, move, board)


def _across(random: Random) -> SceneMoment:
    """Make five that go on at the other edge."""
    size = random.choice(range(5, 9))
    shape = grid(size)
    row, first = random.randrange(size - 1), random.randint(1, 4)
    points = [(row, size - 1 - place) for place in range(first)]
    points += [(row + 1, place) for place in range(5 - first)]
    board = add_stones(StoneBits(), random.choice((1, 2)), shape.mask(points))
    return _last_of(random, size, made_positions.sprinkle(random, shape, board, 0, 5))


def _no_stone(*sizes: int) -> scenes.Maker:
    return lambda random: made_positions.board_moment(random.choice(sizes))


def _pocket(random: Random) -> SceneMoment:
    """Fill a board except for one point, which one color surrounds."""
    size, color = random.choice(_SMALL[:2]), random.choice((1, 2))
    shape, board = grid(size), made_positions.gomoku_full(random, size, 1).board
    around = neighbours(shape, shape.full & ~board.stones)
    return _last_of(random, size, add_stones(without(board, around), color, around))


def _ride(random: Random) -> SceneMoment:
    size, color = random.choice((9, 9, 10)), random.choice((1, 2))
    points = random.choice(_rides(grid(size)))
    return made_positions.complete_line(random, size, points, color, end=False)


def _anytime(random: Random) -> SceneMoment:
    size = random.choice(_SMALL)
    return made_positions.gomoku_game(random, size, random.randint(1, size * size), 0.3)


def _short(random: Random) -> SceneMoment:
    size = random.choice((5, 6, 7, 8, 9, 10, 13, 19))
    return made_positions.gomoku_game(random, size, random.randint(3, 12), 0.2)


def _uneven_game(random: Random) -> SceneMoment:
    size = random.choice(_SMALL)
    board = StoneBits(made_positions.scatter(random, grid(size).full, 0.12))
    if not board.black:
        return made_positions.board_moment(size)
    return _last_of(random, size, made_positions.sprinkle(random, grid(size), board, 0, 3))


def _encircle(random: Random) -> SceneMoment:
    """Surround a stone or a point on a board of few others."""
    size, color = random.choice(_SMALL), random.choice((1, 2))
    shape = grid(size)
    inner = any_bit(shape.full, random)
    around = neighbours(shape, inner)
    board = add_stones(StoneBits(), color, around)
    if random.random() < 0.5:
        board = add_stones(board, 3 - color, inner)
    board = made_positions.sprinkle(random, shape, board, inner | around, 4)
    move = any_bit(around, random)
    return after(size, without(board, move), color, move, board)


def _no_five(empty: int) -> scenes.Maker:
    return lambda random: made_positions.gomoku_full(random, random.choice(_SMALL[:3]), empty)


_IN_WORDS = ("row", "column", "rising line", "falling line")  # the directions
FEATURES = (
    *(
        Feature(f"{name}-of-five", f"five in a {_IN_WORDS[place]} win",
                _find_win_along(name), lambda m, random: [*_result(m, random), _LEGAL],
                _line(place))
        for place, name in enumerate(made_positions.DIRECTIONS)
    ),
    Feature("filled-from-within", "the last stone is not at an end of the five",
            _won(lambda m: m.shape.point(m.move) not in (_five(m)[0], _five(m)[-1])),
            _result, _line()),
    Feature("overline", "six or more in a row win too",
            _won(lambda m: len(_five(m)) > 5), _result, _line(length=6)),
    Feature("far-line", "rows of two digits, and columns behind I, which is not a column",
            _won(lambda m: any(row >= 9 or column >= 8 for row, column in _five(m))),
            _result, _line(sizes=range(10, 20)), least=2),
    Feature("four-of-five", "four in a row do not win",
            _nearly(lambda board, color: ~board.stones), _result, _four(False)),
    Feature("mixed-line", "a five of both colors does not win",
            _nearly(lambda board, color: board.of(3 - color)), _result, _four(True)),
    Feature("knight-ride", "a knight's steps are not a line",
            _going_on(lambda m: any(
                not one & ~mask for one in _rides(m.shape) for mask in m.board)), _result, _ride),
    Feature("around-the-edge", "a row ends at the edge", _going_on(_wraps), _result, _across),
    Feature("full-board", "a full board without a five is a draw",
            when("draw", lambda m: m.board.stones == m.shape.full and not any(
                fives(m.shape, mask) for mask in m.board)), _pass, _no_five(0)),
    Feature("last-point", "one empty point is left",
            when("unknown", _has_one_left), _last_point, _no_five(1)),
    Feature("nearly-full", "with one empty point the game still goes on",
            when("unknown", _has_one_left), _result, _no_five(1)),
    Feature("pocket", "genmove may go where Go would call it suicide",
            _find_pocket, _last_in_pocket, _pocket),
    Feature("empty-board", "nobody has won on an empty board",
            when("unknown", lambda m: not m.board.stones), _not_asked,
            _no_stone(5, 6, 7, 9, 13, 19)),
    Feature("first-move", "genmove begins on an empty board",
            when("unknown", lambda m: not m.board.stones and m.size <= _CHOSEN),
            lambda m, random: [
                *scenes.as_it_lies(m, random),
                _genmove(" bw"[m.to_play], "The board is empty: any point will do.")],
            _no_stone(5, 6)),
    Feature("resign", "genmove resigns after the other color's five", _won(), _resign, _line()),
    Feature("legal-moves", "all empty points, sorted as strings",
            when("moves", lambda m: m.size <= _LISTED and _goes_on(m)),
            lambda m, random: [*scenes.up_to_last(m, random), _LEGAL], _anytime),
    Feature("wrong-color", "the color is looked at first, then the point", _going_on(),
            _ask_error("The color", lambda moment, random: random.choice(_WRONG_COLORS),
                       _off_board), _short),
    Feature("wrong-coordinate", "a point beyond the edge", _going_on(),
            _ask_error("The point", _get_right_color, _off_board), _short),
    Feature("occupied", "a point that has a stone", _going_on(),
            _ask_error("The stone on the point", _get_right_color, lambda m, random: random.choice(
                scenes.names(m, m.board.stones)).lower()), _short),
    Feature("no-capture", "surrounded stones stay",
            when("occupied", lambda m: m.move and _goes_on(m) and _surrounded(m)),
            _take_again, _encircle),
    Feature("no-suicide", "a surrounded point may be filled",
            when("accepted", lambda m: m.color and _goes_on(m) and _hole(m)), _fill, _encircle),
    Feature("turn", "after a stone it is the other color's turn", _uneven, _turn, _uneven_game),
    Feature("new-game", "boardsize forgets who has won", _won(),
            lambda m, random: [
                *scenes.up_to_last(m, random), SceneCommand(f"boardsize {m.size}"), _RESULT],
            _line()),
    Feature("new-turn", "clear_board gives Black the first move",
            when("black", lambda m: m.color == 1 and not is_over(m)),
            lambda m, random: [
                *scenes.up_to_last(m, random), SceneCommand("clear_board"),
                _side("A new game begins with Black.")], _short),
    Feature("not-over", "the game goes on", _going_on(), _not_asked, _anytime),
)  # fmt: skip

KIND = scenes.FeatureKind("gomoku", range(5, 20), FEATURES, scenes.whole, swaps=True)
