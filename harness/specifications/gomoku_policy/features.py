"""Features in tests of gomoku-policy: each type of move, and what is easily overlooked in it."""

from functools import lru_cache, reduce
from itertools import starmap
from operator import or_
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions
from harness.vocabulary.made_positions import (
    DIRECTIONS,
    complete_line,
    find_win,
    is_over,
    line,
    windows,
)
from harness.vocabulary.scenes import (
    Feature,
    FeatureKind,
    Finder,
    Maker,
    SceneCommand,
    SceneMoment,
    StoneBits,
    new_board,
    play,
    stones,
    whole,
)
from oracle.mistakes.gomoku_parts import fives_made, pack, third_blocks, unpack
from oracle.montecarlo import any_bit
from oracle.position import each_bit, grid
from oracle.rules import gomoku as rules
from oracle.rules.gomoku import almost_open_fours, fives, long_lines, steps, window

_MOVES = SceneCommand("policy_moves", asked=True)
_RULES = SceneCommand("policy rule_based")
_SIZES = (7, 7, 7, 8, 9, 10)  # the assignment's own is 7


class PolicyFacts(NamedTuple):
    """The moves of each type for the side to move, whether they come first or not."""

    types: dict[str, int]
    first: str  # the type that counts; "" when the game is over
    mine: int
    theirs: int


@lru_cache(maxsize=8)
def look(moment: SceneMoment) -> PolicyFacts:
    """Return the moves of each type."""
    mine, theirs = moment.board.of(moment.to_play), moment.board.of(3 - moment.to_play)
    if is_over(moment) or (mine and not theirs):  # the next color must not have moved last
        return PolicyFacts({}, "", mine, theirs)
    found = dict(zip(rules.TYPES, rules.by_urgency(moment.shape, mine, theirs), strict=True))
    return PolicyFacts(found, next(kind for kind, moves in found.items() if moves), mine, theirs)


# --- when a board has a feature -----------------------------------------------------------------


def _type(kind: str) -> Finder:
    return lambda moment: kind if look(moment).first == kind else ""


def _several(kind: str) -> Finder:
    def find(moment: SceneMoment) -> str:
        seen = look(moment)
        return kind if seen.first == kind and seen.types[kind].bit_count() > 1 else ""

    return find


def _both(first: str, second: str) -> Finder:
    """Two types have different moves, and the first counts."""

    def find(moment: SceneMoment) -> str:
        seen = look(moment)
        differ = seen.first == first and seen.types[second] & ~seen.types[first]
        return first if differ else ""

    return find


def _gap(moment: SceneMoment) -> str:
    """A five is completed from within."""
    seen = look(moment)
    if seen.first not in ("Win", "BlockWin"):
        return ""
    side = seen.mine if seen.first == "Win" else seen.theirs
    empty = moment.shape.full & ~(seen.mine | seen.theirs)
    ends = 0
    for step in steps(moment.shape):
        four = side & side >> step & side >> 2 * step & side >> 3 * step
        ends |= (four >> step | four << 4 * step) & empty
    return seen.first if seen.types[seen.first] & ~ends else ""


def _along(direction: int) -> Finder:
    """Some move of the first type belongs to a line of one direction."""

    def find(moment: SceneMoment) -> str:
        seen, step = look(moment), steps(moment.shape)[direction]
        if seen.first in ("", "Random"):
            return ""
        side = seen.mine if seen.first in ("Win", "OpenFour") else seen.theirs
        others = [s for s in steps(moment.shape) if s != step]
        return seen.first if not _lines(moment, side, others, seen.first) else ""

    return find


def _lines(moment: SceneMoment, side: int, steps: list[int], kind: str) -> int:
    """Return the windows of a type in some directions."""
    shape = moment.shape
    empty, found = shape.full & ~moment.board.stones, 0
    for step in steps:
        if kind in ("OpenFour", "BlockOpenFour"):
            for starts in almost_open_fours(side, empty, step):
                found |= starts
        else:
            found |= fives_made(side, empty, step)
    return found


def _overline(moment: SceneMoment) -> str:
    """A winning move that makes six or more and no five."""
    seen = look(moment)
    if seen.first not in ("Win", "BlockWin"):
        return ""
    side = seen.mine if seen.first == "Win" else seen.theirs
    for move in each_bit(seen.types[seen.first]):
        lines = [line for line in long_lines(moment.shape, side | move) if line & move]
        if all(line.bit_count() > 5 for line in lines):
            return seen.first
    return ""


def _crossing(moment: SceneMoment) -> str:
    """A point completes lines of two directions: it is listed once."""
    seen = look(moment)
    if seen.first not in ("Win", "BlockWin"):
        return ""
    side = seen.mine if seen.first == "Win" else seen.theirs
    empty = moment.shape.full & ~moment.board.stones
    once = twice = 0
    for step in steps(moment.shape):
        points = 0
        for place in range(5):
            points |= fives_made(side, empty, step, (place,))
        twice, once = twice | once & points, once | points
    return seen.first if twice else ""


def _windows_of(moment: SceneMoment, side: int) -> list[tuple[int, int, int, int]]:
    empty = moment.shape.full & ~moment.board.stones
    return [almost_open_fours(side, empty, step) for step in steps(moment.shape)]


def _split(moment: SceneMoment) -> str:
    """The moves come from a three with a gap."""
    seen = look(moment)
    if seen.first not in ("OpenFour", "BlockOpenFour"):
        return ""
    side = seen.mine if seen.first == "OpenFour" else seen.theirs
    return seen.first if any(w[1] | w[2] for w in _windows_of(moment, side)) else ""


def _edge_blocked(moment: SceneMoment) -> str:
    """A three that can become an open four on one side only: three points block it."""
    seen = look(moment)
    if seen.first != "BlockOpenFour":
        return ""
    return seen.first if _third_blocks(moment) else ""


def _third_blocks(moment: SceneMoment) -> int:
    """Return the blocks two steps away from the other color's threes."""
    theirs = moment.board.of(3 - moment.to_play)
    along = zip(_windows_of(moment, theirs), steps(moment.shape), strict=True)
    return reduce(or_, starmap(third_blocks, along))


def _has_answer(moment: SceneMoment) -> str:
    """A third block leaves the other color no open four, but something to block in turn."""
    seen = look(moment)
    if seen.first != "BlockOpenFour":
        return ""
    for bit in each_bit(_third_blocks(moment)):
        _, block, four, other_block, _ = rules.by_urgency(
            moment.shape, seen.theirs, seen.mine | bit
        )
        if (block or other_block) and not four:
            return seen.first
    return ""


def _free_three(moment: SceneMoment) -> str:
    """A three that can become an open four on both sides: two points block it."""
    seen = look(moment)
    if seen.first != "BlockOpenFour":
        return ""
    pairs = zip(steps(moment.shape), _windows_of(moment, seen.theirs), strict=True)
    return seen.first if any(f[3] & f[0] << step for step, f in pairs) else ""


def _half_open(moment: SceneMoment) -> str:
    """Three or four with one end closed make no open four."""
    seen = look(moment)
    empty = moment.shape.full & ~moment.board.stones
    for step in steps(moment.shape):
        three = seen.mine & seen.mine >> step & seen.mine >> 2 * step
        one_end = (three << 3 * step | three >> step) & empty
        if seen.first == "Random" and three and one_end:
            return "Random"
    return ""


def _two_in_a_row(moment: SceneMoment) -> str:
    """Two stones with room around them are not three."""
    seen = look(moment)
    two = any(seen.mine & seen.mine >> step for step in steps(moment.shape))
    return "Random" if seen.first == "Random" and two else ""


def _wraps(moment: SceneMoment) -> str:
    """A win that only a board without edges would have."""
    seen = look(moment)
    if not seen.first or seen.types["Win"] | seen.types["BlockWin"]:
        return ""
    shape, width = moment.shape, moment.size
    empty = pack(shape, shape.full & ~moment.board.stones)
    for side in (seen.mine, seen.theirs):
        flat = pack(shape, side)
        for step in (1, width, width + 1, width - 1):
            if unpack(shape, fives_made(flat, empty, step)):
                return seen.first
    return ""


def _is_over(moment: SceneMoment) -> str:
    return "none" if find_win(moment) else ""


def _full(moment: SceneMoment) -> str:
    shape, board = moment.shape, moment.board
    drawn = board.stones == shape.full and not any(fives(shape, mask) for mask in board)
    return "none" if drawn else ""


def _one_choice(moment: SceneMoment) -> str:
    seen = look(moment)
    only = seen.first in ("Win", "BlockWin") and seen.types[seen.first].bit_count() == 1
    return seen.first if only else ""


def _urgent(moment: SceneMoment) -> str:
    """The rules would say something else than the random policy."""
    seen = look(moment)
    return "Random" if seen.first not in ("", "Random") else ""


# --- what is asked ------------------------------------------------------------------------------


def _set_up(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Return the commands for the board; the last stone is such that the right side moves."""
    if moment.move:
        before = stones(moment, *moment.before, random)
        return [*new_board(moment), *before, play(moment, moment.color, moment.move)]
    last = 3 - moment.to_play
    return [*new_board(moment), *stones(moment, *moment.board, random, last=last)]


def _rule_based(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [_RULES, *_set_up(moment, random), _MOVES]


def _random_policy(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [SceneCommand("policy random"), *_set_up(moment, random), _MOVES, _RULES, _MOVES]


def _default(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Ask before any policy is set: such a scene comes first in its file."""
    return [*_set_up(moment, random), _MOVES]


def _set_policy_first(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Set the policy before the board."""
    board = _set_up(moment, random)
    return [
        SceneCommand(f"boardsize {moment.size}"),
        _RULES,
        SceneCommand("clear_board"),
        *board,
        _MOVES,
    ]


def _genmove(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = "The policy leaves one move."
    ask = SceneCommand(f"genmove {' bw'[moment.to_play]}", asked=True, why=why)
    return [_RULES, *_set_up(moment, random), ask]


# --- positions made -----------------------------------------------------------------------------

# X is the side to move, O the other, a dot an empty point, ? any of them.
_WIN = ("XXXX.", ".XXXX", "XXX.X", "XX.XX", "X.XXX")
_OPEN = (".XXX..", "..XXX.", ".XX.X.", ".X.XX.")
_CLOSED = ("OXXX..", "..XXXO", "OXX.X.", "O.XXX.O", "OXXX.")


def _patterns(*patterns: str, most: int = 4) -> Maker:
    """Return what lays one to three of some patterns on a board, among a few other stones."""

    def make(random: Random) -> SceneMoment | None:
        size = random.choice(_SIZES)
        board, used = StoneBits(), 0
        for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
            laid = _lay(random, size, random.choice(patterns), board, used)
            if laid:
                board, used = laid
        board = made_positions.sprinkle(random, grid(size), board, used, most)
        to_play = random.choice((1, 2))
        board = board if to_play == 1 else StoneBits(board.white, board.black)
        return made_positions.board_moment("gomoku", size, board, 3 - to_play)

    return make


def _lay(
    random: Random, size: int, pattern: str, board: StoneBits, mask: int
) -> tuple[StoneBits, int] | None:
    """Lay a pattern somewhere, X as Black and O as White, where nothing has been laid."""
    shape = grid(size)
    direction = random.randrange(4)
    step = steps(shape)[direction]
    starts = windows(shape, direction, len(pattern))
    if not starts:
        return None
    start = random.choice(starts)
    bits = [start << place * step for place in range(len(pattern))]
    if any(bit & mask for bit in bits):
        return None
    for bit, sign in zip(bits, pattern, strict=True):
        if sign in "XO":
            board = made_positions.add_stones(board, 1 if sign == "X" else 2, bit)
        mask |= bit
    return board, mask


def _other(*patterns: str) -> tuple[str, ...]:
    """Return the patterns with the sides exchanged."""
    return tuple(one.translate(str.maketrans("XO", "OX")) for one in patterns)


def _across(random: Random) -> SceneMoment:
    """Make four that would be five with a point at the other edge."""
    size = random.choice(_SIZES)
    shape, first = grid(size), random.randint(1, 4)
    row = random.randrange(size - 1)
    points = [(row, size - 1 - place) for place in range(first)]
    points += [(row + 1, place) for place in range(5 - first)]
    points.pop(random.randrange(5))
    board = made_positions.sprinkle(random, shape, StoneBits(shape.mask(points)), 0, 3)
    board = board if random.random() < 0.5 else StoneBits(board.white, board.black)
    return made_positions.board_moment("gomoku", size, board, random.choice((1, 2)))


def _cross(random: Random) -> SceneMoment:
    """Make two fours that the same point completes."""
    size = random.choice(_SIZES)
    shape = grid(size)
    point = any_bit(shape.full, random)
    board = StoneBits()
    for direction in random.sample(range(4), 2):
        step = steps(shape)[direction]
        lines = [window(start, step, 5) for start in windows(shape, direction, 5)]
        lines = [one for one in lines if one & point]
        board = made_positions.add_stones(board, 1, random.choice(lines) & ~point if lines else 0)
    board = made_positions.sprinkle(random, shape, board, point, 6)
    board = board if random.random() < 0.5 else StoneBits(board.white, board.black)
    return made_positions.board_moment("gomoku", size, board, random.choice((1, 2)))


def _threatening(random: Random) -> SceneMoment | None:
    """Make a three whose third block belongs to a line of one's own."""
    size = random.choice(_SIZES)
    shape = grid(size)
    laid = _lay(random, size, random.choice(("X.OOO..", "..OOO.X")), StoneBits(), 0)
    if laid is None:
        return None
    board, used = laid
    third = _third_blocks(made_positions.board_moment("gomoku", size, board))
    step = random.choice(steps(shape))
    beside = (third << step, third << 2 * step, third >> step, third >> 2 * step)
    own = reduce(or_, random.sample(beside, random.choice((2, 2, 3))))
    board = made_positions.add_stones(board, 1, own & shape.full & ~used)
    color = random.choice((1, 2))
    board = board if color == 1 else StoneBits(board.white, board.black)
    return made_positions.board_moment("gomoku", size, board, 3 - color)


def _win(random: Random) -> SceneMoment | None:
    size = random.choice(_SIZES)
    five = line(random, size, random.randrange(4))
    return complete_line(random, size, five, random.choice((1, 2)), end=random.random() < 0.5)


def _no_five(random: Random) -> SceneMoment:
    return made_positions.gomoku_full(random, random.choice((5, 5, 6)))


def _few(random: Random) -> SceneMoment:
    size = random.choice(_SIZES)
    board = made_positions.sprinkle(random, grid(size), StoneBits(), 0, 6)
    return made_positions.board_moment("gomoku", size, board, random.choice((1, 2)))


def _fair(feature: Feature) -> Feature:
    """Return the feature of boards that players who take turns may have laid.

    gomoku-policy.txt: "play commands will be for the color toPlay", and Black begins.
    """

    def find(moment: SceneMoment) -> str:
        return feature.find(moment) if made_positions.is_in_turn(moment) else ""

    def make(random: Random) -> SceneMoment | None:
        moment = feature.make(random)
        return moment and made_positions.in_turn(random, moment)

    return feature._replace(find=find, make=make)


_ALL = (*_WIN, *_OPEN, *_other(*_WIN, *_OPEN))
_LONG = ("XXX.XX", "XX.XXX", "XXX.XXX", "XXXX.X")
_FEATURES = (
    Feature("default-policy", "before any policy command the policy is random",
            _urgent, _default, _patterns(*_ALL)),
    Feature("win", "every point that completes five", _type("Win"), _rule_based,
            _patterns(*_WIN)),
    Feature("block-win", "every point on which the other color would complete five",
            _type("BlockWin"), _rule_based, _patterns(*_other(*_WIN))),
    Feature("open-four", "every point that makes an open four", _type("OpenFour"), _rule_based,
            _patterns(*_OPEN)),
    Feature("block-open-four", "every point that stops an open four",
            _type("BlockOpenFour"), _rule_based, _patterns(*_other(*_OPEN)), least=2),
    Feature("nothing-urgent", "else any empty point", _type("Random"), _rule_based, _few),
    Feature("several-wins", "several lines can be completed", _several("Win"), _rule_based,
            _patterns(*_WIN, ".XXXX.")),
    Feature("several-threats", "several lines must be blocked, though not all can be",
            _several("BlockWin"), _rule_based, _patterns(*_other(*_WIN, ".XXXX."))),
    Feature("crossing-lines", "a point that completes two lines is listed once",
            _crossing, _rule_based, _cross),
    Feature("gapped-four", "a four with a gap", _gap, _rule_based,
            _patterns("XXX.X", "XX.XX", *_other("XXX.X", "XX.XX"))),
    Feature("split-three", "a three with a gap: .XX.X.", _split, _rule_based,
            _patterns(".XX.X.", ".X.XX.", *_other(".XX.X.", ".X.XX.")), least=2),
    Feature("free-three", "a three with room on both sides", _free_three, _rule_based,
            _patterns("..OOO..")),
    Feature("edge-blocked-three", "a three with an edge or a stone two steps away",
            _edge_blocked, _rule_based, _patterns("X.OOO..", "..OOO.X", ".OOO..")),
    Feature("answered-block", "a third block counts though the other color must answer it",
            _has_answer, _rule_based, _threatening),
    Feature("closed-three", "a line with one closed end makes no open four",
            _half_open, _rule_based, _patterns(*_CLOSED)),
    Feature("two-stones", "two stones make no open four", _two_in_a_row, _rule_based,
            _patterns(".XX..", "..XX.", ".X.X.")),
    Feature("win-before-block", "winning comes before blocking", _both("Win", "BlockWin"),
            _rule_based, _patterns(*_WIN, *_other(*_WIN))),
    Feature("block-before-four", "blocking a five comes before an open four",
            _both("BlockWin", "OpenFour"), _rule_based, _patterns(*_OPEN, *_other(*_WIN))),
    Feature("four-before-block", "an open four comes before blocking one",
            _both("OpenFour", "BlockOpenFour"), _rule_based,
            _patterns(*_OPEN, *_other(*_OPEN))),
    Feature("overline", "six or more in a row win", _overline, _rule_based,
            _patterns(*_LONG, *_other(*_LONG))),
    *(
        Feature(f"{name}-line", f"a line in the direction: {name}", _along(place), _rule_based,
                _patterns(*_ALL))
        for place, name in enumerate(DIRECTIONS)
    ),
    Feature("around-the-edge", "a row ends at the edge", _wraps, _rule_based, _across),
    Feature("game-over", "no move after a five", _is_over, _rule_based, _win),
    Feature("full-board", "no move on a full board", _full, _rule_based, _no_five),
    Feature("random-policy", "the random policy considers every point", _urgent, _random_policy,
            _patterns(*_ALL)),
    Feature("policy-kept", "the policy outlives the board", _urgent, _set_policy_first,
            _patterns(*_ALL)),
    Feature("genmove", "the player has no choice", _one_choice, _genmove,
            _patterns(*_WIN, *_other(*_WIN))),
)  # fmt: skip

FEATURES = tuple(map(_fair, _FEATURES))
KIND = FeatureKind("gomoku", range(5, 20), FEATURES, whole, swaps=False)
