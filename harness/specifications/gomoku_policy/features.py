"""Features in tests of gomoku-policy: each type of move, and what is easily overlooked in it."""

from functools import lru_cache, reduce
from operator import or_
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions, scenes
from harness.vocabulary.made_positions import add_stones, board_moment, sprinkle
from harness.vocabulary.scenes import Feature, SceneCommand, SceneMoment, StoneBits, when
from oracle.mistakes.gomoku_parts import fives_made, pack, third_blocks, unpack
from oracle.montecarlo import any_bit
from oracle.position import each_bit, grid
from oracle.rules import gomoku as rules
from oracle.rules.gomoku import almost_open_fours, steps

_MOVES = SceneCommand("policy_moves", asked=True)
_RULES = SceneCommand("policy rule_based")
_SIZES = (7, 7, 7, 8, 9, 10)  # the assignment's own is 7
_FIVES, _FOURS = ("Win", "BlockWin"), ("OpenFour", "BlockOpenFour")


class PolicyFacts(NamedTuple):
    """The moves of each type for the side to move, whether they come first or not."""

    types: dict[str, int]
    first: str  # the type that counts; "" when the game is over
    mine: int
    theirs: int

    @property
    def moves(self) -> int:
        """The moves of the type that counts."""
        return self.types[self.first]

    @property
    def side(self) -> int:
        """The stones whose lines make the type that counts, if it is a five or a four."""
        return self.mine if self.first in ("Win", "OpenFour") else self.theirs


@lru_cache(maxsize=8)
def look(moment: SceneMoment) -> PolicyFacts:
    """Return the moves of each type, none when the game is over; all are masks of points."""
    mine, theirs = moment.board.of(moment.to_play), moment.board.of(3 - moment.to_play)
    # The color to move must not have moved last.
    if made_positions.is_over(moment) or (mine and not theirs):
        return PolicyFacts({}, "", mine, theirs)
    types = dict(zip(rules.TYPES, rules.by_urgency(moment.shape, mine, theirs), strict=True))
    return PolicyFacts(types, next(kind for kind, moves in types.items() if moves), mine, theirs)


# --- when a board has a feature -----------------------------------------------------------------


def _counts(*kinds: str, has: scenes.Has = lambda moment: True) -> scenes.Finder:
    """Return a finder of boards on which one of these types counts, and that have something."""

    def find(moment: SceneMoment) -> str:
        first = look(moment).first
        return first if first in kinds and has(moment) else ""

    return find


def _both(first: str, second: str) -> scenes.Finder:
    """Return a finder of boards on which the first type counts, and the second has other moves."""
    return _counts(first, has=lambda moment: look(moment).types[second] & ~look(moment).moves)


def _empty(moment: SceneMoment) -> int:
    return moment.shape.full & ~moment.board.stones


def _inner_moves(moment: SceneMoment) -> int:
    """Return the moves that complete a five from within."""
    side, empty, ends = look(moment).side, _empty(moment), 0
    for step in steps(moment.shape):
        four = side & side >> step & side >> 2 * step & side >> 3 * step
        ends |= (four >> step | four << 4 * step) & empty
    return look(moment).moves & ~ends


def _along(direction: int) -> scenes.Finder:
    """Return a finder of boards whose fives or fours that count lie in one direction alone."""

    def has(moment: SceneMoment) -> bool:
        facts, empty, others = look(moment), _empty(moment), 0
        for place, step in enumerate(steps(moment.shape)):
            if place != direction and facts.first in _FOURS:
                others |= reduce(or_, almost_open_fours(facts.side, empty, step))
            elif place != direction:
                others |= fives_made(facts.side, empty, step)
        return not others

    return _counts(*_FIVES, *_FOURS, has=has)


def _makes_overline(moment: SceneMoment) -> bool:
    """Whether a winning move makes six or more and no five."""
    for move in each_bit(look(moment).moves):
        lines = rules.long_lines(moment.shape, look(moment).side | move)
        if all(line.bit_count() > 5 for line in lines if line & move):
            return True
    return False


def _crossings(moment: SceneMoment) -> int:
    """Return the points that complete lines of two directions."""
    side, empty = look(moment).side, _empty(moment)
    once = twice = 0
    for step in steps(moment.shape):
        points = 0
        for place in range(5):
            points |= fives_made(side, empty, step, (place,))
        twice, once = twice | once & points, once | points
    return twice


def _windows_of(moment: SceneMoment, side: int) -> list[tuple[int, int, int, int]]:
    return [almost_open_fours(side, _empty(moment), step) for step in steps(moment.shape)]


def _third_blocks(moment: SceneMoment) -> int:
    """Return the blocks two steps away from the other color's threes.

    Such a three can become an open four on one side only: three points block it.
    """
    theirs = moment.board.of(3 - moment.to_play)
    along = zip(_windows_of(moment, theirs), steps(moment.shape), strict=True)
    return reduce(or_, (third_blocks(second, fifth, step) for (second, *_, fifth), step in along))


def _has_answer(moment: SceneMoment) -> bool:
    """Whether after a third block the other color must block in turn, and has no open four."""
    facts = look(moment)
    for bit in each_bit(_third_blocks(moment)):
        _, block, four, other_block, _ = rules.by_urgency(
            moment.shape, facts.theirs, facts.mine | bit
        )
        if (block or other_block) and not four:
            return True
    return False


def _has_free_three(moment: SceneMoment) -> bool:
    """Whether a three can become an open four on both sides: two points block it."""
    pairs = zip(steps(moment.shape), _windows_of(moment, look(moment).theirs), strict=True)
    return any(windows[3] & windows[0] << step for step, windows in pairs)


def _has_half_open_three(moment: SceneMoment) -> bool:
    """Whether three or four in a row have an empty end."""
    mine, empty = look(moment).mine, _empty(moment)
    threes = [(step, mine & mine >> step & mine >> 2 * step) for step in steps(moment.shape)]
    return any((three << 3 * step | three >> step) & empty for step, three in threes)


def _wraps(moment: SceneMoment) -> bool:
    """Whether only a board without edges would have a win."""
    shape, width = moment.shape, moment.size
    empty = pack(shape, _empty(moment))
    return any(
        unpack(shape, fives_made(side, empty, step))
        for side in (pack(shape, look(moment).mine), pack(shape, look(moment).theirs))
        for step in (1, width, width + 1, width - 1)
    )


def _urgent(moment: SceneMoment) -> str:
    """Return "Random" where the rules allow fewer moves than the random policy."""
    return "Random" if look(moment).first in (*_FIVES, *_FOURS) else ""


# --- what is asked ------------------------------------------------------------------------------


def _set_up(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Return the commands for the board; its last stone is of the color that is not to move."""
    if moment.move:
        return scenes.up_to_last(moment, random)
    stones = scenes.stones(moment, *moment.board, random, last=3 - moment.to_play)
    return [*scenes.new_board(moment), *stones]


def _rule_based(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [_RULES, *_set_up(moment, random), _MOVES]


def _set_policy_first(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Set the policy before the board."""
    size, clear = scenes.new_board(moment)
    return [size, _RULES, clear, *_set_up(moment, random), _MOVES]


def _genmove(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    why = "The policy leaves one move."
    ask = SceneCommand(f"genmove {' bw'[moment.to_play]}", asked=True, why=why)
    return [_RULES, *_set_up(moment, random), ask]


# --- positions made -----------------------------------------------------------------------------

# X is the side to move, O the other, a dot an empty point, ? any of them.
_WIN = ("XXXX.", ".XXXX", "XXX.X", "XX.XX", "X.XXX")
_OPEN = (".XXX..", "..XXX.", ".XX.X.", ".X.XX.")
_CLOSED = ("OXXX..", "..XXXO", "OXX.X.", "O.XXX.O", "OXXX.")


def _patterns(*patterns: str) -> scenes.Maker:
    """Return a maker of boards with one to three of some patterns, among a few other stones."""

    def make(random: Random) -> SceneMoment | None:
        size = random.choice(_SIZES)
        board, used = StoneBits(), 0
        for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
            laid = _lay(random, size, random.choice(patterns), board, used)
            if laid:
                board, used = laid
        return _for_either(random, size, sprinkle(random, grid(size), board, used, 4))

    return make


def _for_either(random: Random, size: int, board: StoneBits) -> SceneMoment:
    """Return the moment in which one of the colors has Black's stones, and is to move."""
    color = random.choice((1, 2))
    board = board if color == 1 else StoneBits(board.white, board.black)
    return board_moment(size, board, 3 - color)


def _of_either(random: Random, size: int, board: StoneBits) -> SceneMoment:
    """Return a moment in which one of the colors has Black's stones, and any is to move."""
    board = board if random.random() < 0.5 else StoneBits(board.white, board.black)
    return board_moment(size, board, random.choice((1, 2)))


def _lay(
    random: Random, size: int, pattern: str, board: StoneBits, mask: int
) -> tuple[StoneBits, int] | None:
    """Return the board with a pattern, X as Black and O as White, and the mask with its points.

    None if it does not fit on the board, or its random place has points of the ``mask``.
    """
    direction = random.randrange(4)
    step = steps(grid(size))[direction]
    starts = made_positions.windows(grid(size), direction, len(pattern))
    if not starts:
        return None
    start = random.choice(starts)
    bits = [start << place * step for place in range(len(pattern))]
    if any(bit & mask for bit in bits):
        return None
    for bit, sign in zip(bits, pattern, strict=True):
        if sign in "XO":
            board = add_stones(board, 1 if sign == "X" else 2, bit)
        mask |= bit
    return board, mask


def _other(*patterns: str) -> tuple[str, ...]:
    """Return the patterns with the sides exchanged."""
    return tuple(one.translate(str.maketrans("XO", "OX")) for one in patterns)


def _across(random: Random) -> SceneMoment:
    """Return a moment with four that would be five if a row went on in the next one."""
    size = random.choice(_SIZES)
    shape, first = grid(size), random.randint(1, 4)
    row = random.randrange(size - 1)
    points = [(row, size - 1 - place) for place in range(first)]
    points += [(row + 1, place) for place in range(5 - first)]
    points.pop(random.randrange(5))
    board = sprinkle(random, shape, StoneBits(shape.mask(points)), 0, 3)
    return _of_either(random, size, board)


def _cross(random: Random) -> SceneMoment:
    """Return a moment with two fours that the same point completes."""
    size = random.choice(_SIZES)
    shape = grid(size)
    point = any_bit(shape.full, random)
    board = StoneBits()
    for direction in random.sample(range(4), 2):
        step = steps(shape)[direction]
        starts = made_positions.windows(shape, direction, 5)
        lines = [one for one in (rules.window(n, step, 5) for n in starts) if one & point]
        board = add_stones(board, 1, random.choice(lines) & ~point if lines else 0)
    return _of_either(random, size, sprinkle(random, shape, board, point, 6))


def _threatening(random: Random) -> SceneMoment | None:
    """Return a moment with a three whose third block extends a line of the side to move."""
    size = random.choice(_SIZES)
    laid = _lay(random, size, random.choice(("X.OOO..", "..OOO.X")), StoneBits(), 0)
    if laid is None:
        return None
    board, used = laid
    third = _third_blocks(board_moment(size, board))
    step = random.choice(steps(grid(size)))
    nearby = (third << step, third << 2 * step, third >> step, third >> 2 * step)
    line = reduce(or_, random.sample(nearby, random.choice((2, 2, 3))))
    return _for_either(random, size, add_stones(board, 1, line & grid(size).full & ~used))


def _win(random: Random) -> SceneMoment | None:
    size = random.choice(_SIZES)
    five = made_positions.line(random, size, random.randrange(4))
    color = random.choice((1, 2))
    return made_positions.complete_line(random, size, five, color, end=random.random() < 0.5)


def _few(random: Random) -> SceneMoment:
    size = random.choice(_SIZES)
    board = sprinkle(random, grid(size), StoneBits(), 0, 6)
    return board_moment(size, board, random.choice((1, 2)))


def _fair(feature: Feature) -> Feature:
    """Return the feature of boards that players who take turns may have laid.

    gomoku-policy.txt: "play commands will be for the color toPlay", and Black begins.
    """

    def find(moment: SceneMoment) -> str:
        black, white = (mask.bit_count() for mask in moment.board)
        return feature.find(moment) if black - white == moment.to_play - 1 else ""

    def make(random: Random) -> SceneMoment | None:
        moment = feature.make(random)
        return moment and made_positions.in_turn(random, moment)

    return feature._replace(find=find, make=make)


_ALL = (*_WIN, *_OPEN, *_other(*_WIN, *_OPEN))
_LONG = ("XXX.XX", "XX.XXX", "XXX.XXX", "XXXX.X")
_FEATURES = (
    Feature("default-policy", "before any policy command the policy is random",
            # Such a scene comes first in its file.
            _urgent, lambda m, random: [*_set_up(m, random), _MOVES], _patterns(*_ALL)),
    Feature("win", "every point that completes five",
            _counts("Win"), _rule_based, _patterns(*_WIN)),
    Feature("block-win", "every point on which the other color would complete five",
            _counts("BlockWin"), _rule_based, _patterns(*_other(*_WIN))),
    Feature("open-four", "every point that makes an open four",
            _counts("OpenFour"), _rule_based, _patterns(*_OPEN)),
    Feature("block-open-four", "every point that stops an open four",
            _counts("BlockOpenFour"), _rule_based, _patterns(*_other(*_OPEN)), least=2),
    Feature("nothing-urgent", "else any empty point", _counts("Random"), _rule_based, _few),
    Feature("several-wins", "several lines can be completed",
            _counts("Win", has=lambda m: look(m).moves.bit_count() > 1), _rule_based,
            _patterns(*_WIN, ".XXXX.")),
    Feature("several-threats", "several lines must be blocked, though not all can be",
            _counts("BlockWin", has=lambda m: look(m).moves.bit_count() > 1), _rule_based,
            _patterns(*_other(*_WIN, ".XXXX."))),
    Feature("crossing-lines", "a point that completes two lines is listed once",
            _counts(*_FIVES, has=_crossings), _rule_based, _cross),
    Feature("gapped-four", "a four with a gap", _counts(*_FIVES, has=_inner_moves), _rule_based,
            _patterns("XXX.X", "XX.XX", *_other("XXX.X", "XX.XX"))),
    Feature("split-three", "a three with a gap: .XX.X.",
            _counts(*_FOURS, has=lambda moment: any(
                one[1] | one[2] for one in _windows_of(moment, look(moment).side))),
            _rule_based, _patterns(".XX.X.", ".X.XX.", *_other(".XX.X.", ".X.XX.")), least=2),
    Feature("free-three", "a three with room on both sides",
            _counts("BlockOpenFour", has=_has_free_three), _rule_based, _patterns("..OOO..")),
    Feature("edge-blocked-three", "a three with an edge or a stone two steps away",
            _counts("BlockOpenFour", has=_third_blocks), _rule_based,
            _patterns("X.OOO..", "..OOO.X", ".OOO..")),
    Feature("answered-block", "a third block counts though the other color must answer it",
            _counts("BlockOpenFour", has=_has_answer), _rule_based, _threatening),
    Feature("closed-three", "a line with one closed end makes no open four",
            _counts("Random", has=_has_half_open_three), _rule_based, _patterns(*_CLOSED)),
    Feature("two-stones", "two stones make no open four",
            _counts("Random", has=lambda m: any(
                look(m).mine & look(m).mine >> step for step in steps(m.shape))),
            _rule_based, _patterns(".XX..", "..XX.", ".X.X.")),
    Feature("win-before-block", "winning comes before blocking",
            _both("Win", "BlockWin"), _rule_based, _patterns(*_WIN, *_other(*_WIN))),
    Feature("block-before-four", "blocking a five comes before an open four",
            _both("BlockWin", "OpenFour"), _rule_based, _patterns(*_OPEN, *_other(*_WIN))),
    Feature("four-before-block", "an open four comes before blocking one",
            _both("OpenFour", "BlockOpenFour"), _rule_based, _patterns(*_OPEN, *_other(*_OPEN))),
    Feature("overline", "six or more in a row win",
            _counts(*_FIVES, has=_makes_overline), _rule_based,
            _patterns(*_LONG, *_other(*_LONG))),
    *(
        Feature(f"{name}-line", f"a line in the direction: {name}", _along(place), _rule_based,
                _patterns(*_ALL))
        for place, name in enumerate(made_positions.DIRECTIONS)
    ),
    Feature("around-the-edge", "a row ends at the edge",
            _counts(*_FOURS, "Random", has=_wraps), _rule_based, _across),
    Feature("game-over", "no move after a five",
            when("none", made_positions.find_win), _rule_based, _win),
    Feature("full-board", "no move on a full board",
            when("none", lambda m: m.board.stones == m.shape.full and not any(
                rules.fives(m.shape, mask) for mask in m.board)), _rule_based,
            lambda random: made_positions.gomoku_full(random, random.choice((5, 5, 6)))),
    Feature("random-policy", "the random policy considers every point",
            _urgent, lambda m, random: [
                SceneCommand("policy random"), *_set_up(m, random), _MOVES, _RULES, _MOVES],
            _patterns(*_ALL)),
    Feature("policy-kept", "the policy outlives the board",
            _urgent, _set_policy_first, _patterns(*_ALL)),
    Feature("genmove", "the player has no choice",
            _counts(*_FIVES, has=lambda m: look(m).moves.bit_count() == 1), _genmove,
            _patterns(*_WIN, *_other(*_WIN))),
)  # fmt: skip

FEATURES = tuple(map(_fair, _FEATURES))
KIND = scenes.FeatureKind("gomoku", range(5, 20), FEATURES, scenes.whole, swaps=False)
