"""Features in tests of java-go: captures, prisoners, legal moves, ko, snapback, the passes."""

from collections.abc import Iterator
from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions, scenes
from harness.vocabulary.scenes import Feature, FeatureKind, SceneCommand, SceneMoment, names, when
from oracle.position import NAMES, each_bit
from oracle.rules import go as rules
from oracle.rules.flood import flood, neighbours, regions

_SIZES = (3, 4, 5, 6, 7, 8, 9, 11)
# java-go.txt, "The Game": "The grid we will use for this assignment is an 11x11 board." The
# methods are given boards of any size; the game is played on no other.
_PLAYED_ON = 11


class CaptureFacts(NamedTuple):
    """Effects of the moves on a board, for the color to move."""

    mine: int
    theirs: int
    empty: int
    holes: int  # empty points without an empty neighbor
    neutral: int  # points of nobody


@lru_cache(maxsize=8)
def look(moment: SceneMoment) -> CaptureFacts:
    """Return what the moves on a board would do."""
    shape, board = moment.shape, moment.board
    mine, theirs = board.of(moment.to_play), board.of(3 - moment.to_play)
    empty = shape.full & ~board.stones
    return CaptureFacts(
        mine, theirs, empty, empty & ~neighbours(shape, empty), rules.area(shape, *board)[2]
    )


class Holes(NamedTuple):
    """Empty points without an empty neighbor, by what a stone of one color does there."""

    suicides: int  # it has no liberty and takes nothing
    rescues: int  # it has a liberty only by what it takes
    joins: int  # it has a liberty only by the chain it joins


@lru_cache(maxsize=16)
def holes(moment: SceneMoment, color: int) -> Holes:
    """Return what a color's stones do on the points without an empty neighbor."""
    mine, theirs = moment.board.of(color), moment.board.of(3 - color)
    shape, found = moment.shape, [0, 0, 0]
    for bit in each_bit(look(moment).holes):
        friend = neighbours(shape, bit) & mine
        if friend and rules.liberties(shape, flood(shape, bit, mine), mine | theirs | bit):
            found[2] |= bit
        else:
            found[bool(rules.find_taken(shape, mine, theirs, bit))] |= bit
    return Holes(*found)


def _holes(moment: SceneMoment, kind: str) -> int:
    """Return the points of one kind, for either color."""
    return int(getattr(holes(moment, 1), kind) | getattr(holes(moment, 2), kind))


# --- when a board has a feature -----------------------------------------------------------------


def _to_play(has: scenes.Has) -> scenes.Finder:
    """Return a finder of such moments, whose kind of answer is the color to move."""
    return lambda moment: NAMES[moment.to_play] if has(moment) else ""


def _takes(least: int, most: int = 400) -> scenes.Finder:
    return when("several", lambda moment: least <= moment.taken.bit_count() <= most)


def _is_snapback(moment: SceneMoment) -> bool:
    """Whether the last move took one stone, and can be taken back with others at once."""
    seen = look(moment)
    if moment.taken.bit_count() != 1 or moment.ko:
        return False
    back = rules.find_taken(moment.shape, seen.mine, seen.theirs, moment.taken)
    return bool(back & moment.move) and back.bit_count() > 1


def _useless_friends(moment: SceneMoment, color: int) -> int:
    """Return the points beside a color's stones on which its stone would have no liberty."""
    beside = neighbours(moment.shape, moment.board.of(color))
    return holes(moment, color).suicides & beside


def _find_owned(moment: SceneMoment) -> list[int]:
    """Return the regions of more than a point that belong to one color."""
    own = look(moment).empty & ~look(moment).neutral
    return [region for region in regions(moment.shape, own) if region.bit_count() > 1]


def _stones(moment: SceneMoment) -> str:
    return "move" if moment.move and moment.board.stones.bit_count() > 2 else ""


def _free(moment: SceneMoment) -> list[int]:
    """Return the empty points beside another one: a stone may be put there."""
    empty = look(moment).empty
    return [bit for bit in each_bit(empty) if neighbours(moment.shape, bit) & empty]


def _elsewhere(moment: SceneMoment) -> list[int]:
    """Return a point for each color to play on, with room around, not near the ko."""
    shape, seen = moment.shape, look(moment)
    near = neighbours(shape, moment.ko | neighbours(shape, moment.ko)) | moment.ko
    inner = seen.empty & ~near
    free = [bit for bit in each_bit(inner) if not neighbours(shape, bit) & ~seen.empty]
    apart = [bit for bit in free[1:] if not neighbours(shape, bit) & free[0]]
    return [free[0], apart[-1]] if apart else []


@lru_cache(maxsize=8)
def _find_captured_now(moment: SceneMoment) -> int:
    black, white = rules.find_captured_of_both(moment.shape, *moment.board)
    return black | white


def _has_captured_chain(moment: SceneMoment) -> bool:
    """Whether a captured chain has a stone that has no opponent beside it."""
    shape, dead = moment.shape, _find_captured_now(moment)
    inner = dead & ~neighbours(shape, shape.full & ~dead)
    return bool(inner) or any(region.bit_count() > 2 for region in regions(shape, dead))


def _inner_stones(moment: SceneMoment) -> int:
    """Return stones without a liberty of their own in chains that have one."""
    shape, board = moment.shape, moment.board
    empty = shape.full & ~board.stones
    return board.stones & ~neighbours(shape, empty) & ~_find_captured_now(moment)


# --- what is asked ------------------------------------------------------------------------------


def _test(command: str, why: str = "") -> SceneCommand:
    return SceneCommand(command, asked=True, why=why)


def _legal(color: int, name: str) -> SceneCommand:
    return _test(f"is_legal {NAMES[color][0]} {name}")


def _ask_lying(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Ask for a captured stone that still lies on the board, for the score, and for the stone
    again: asking changes nothing.
    """
    dead = random.choice(names(moment, _find_captured_now(moment)))
    owner = moment.color or 1
    asked = _test(f"is_captured {dead}"), _test(f"score {NAMES[owner][0]}"), _legal(owner, dead)
    return [*scenes.lay_stones(moment), *asked]


def _ask_beside_lying(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Ask for a captured stone, and for a stone beside it that is not."""
    dead = _find_captured_now(moment)
    alive = neighbours(moment.shape, dead) & moment.board.stones & ~dead
    asked = [random.choice(names(moment, mask)) for mask in (dead, alive) if mask]
    return [*scenes.lay_stones(moment), *(_test(f"is_captured {name}") for name in asked)]


def _ask_living(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    stone = random.choice(names(moment, _inner_stones(moment)))
    score = _test(f"score {random.choice(('black', 'white'))[0]}")
    return [*scenes.lay_stones(moment), _test(f"is_captured {stone}"), score]


def _ask_territory(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    inside = random.choice(names(moment, random.choice(_find_owned(moment))))
    shared = random.choice(names(moment, look(moment).neutral))
    asked = _test(f"is_captured {inside}"), _test(f"is_captured {shared}")
    return [*scenes.as_it_lies(moment, random), *asked]


def _ask_empty(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    point = random.choice(names(moment, moment.shape.full))
    score = _test(f"score {random.choice(('black', 'white'))[0]}")
    return [*scenes.new_board(moment), _test(f"is_captured {point}"), score]


def _ask_legal(kind: str) -> scenes.Asker:
    """Return what asks for a point of one kind, for the color it concerns."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        points = {color: getattr(holes(moment, color), kind) for color in (1, 2)}
        color = random.choice([color for color, mask in points.items() if mask])
        name = random.choice(names(moment, points[color]))
        board = scenes.as_it_lies(moment, random)
        return [*board, _legal(color, name), _legal(3 - color, name)]

    return steps


def _ask_friend(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    color = random.choice([color for color in (1, 2) if _useless_friends(moment, color)])
    name = random.choice(names(moment, _useless_friends(moment, color)))
    return [*scenes.as_it_lies(moment, random), _legal(color, name)]


def _ask_occupied(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    name = random.choice(names(moment, moment.board.stones))
    return [*scenes.as_it_lies(moment, random), _legal(random.choice((1, 2)), name)]


def _ask_prisoners(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play the capture; ask for its prisoners, and whether their points are free."""
    name, count = random.choice(names(moment, moment.taken)), moment.taken.bit_count()
    why = f"The last move took {count} {'stone' if count == 1 else 'stones'}."
    prisoners = _test(f"captures {NAMES[moment.color][0]}", why)
    return [*scenes.up_to_last(moment, random), prisoners, _test(f"is_captured {name}")]


def _ask_ko(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Try to take back at once: the game forbids it, the bare board does not; filling is free."""
    color, other = NAMES[moment.to_play][0], NAMES[moment.color][0]
    name = names(moment, moment.ko)[0]
    no = "It would take back at once the one stone that has just taken one: ko."
    fills = "Ko does not keep the color that took from filling its point."
    return [
        *scenes.up_to_last(moment, random),
        _test(f"can_play {color} {name}", no),
        _test(f"is_legal {color} {name}"),
        _test(f"can_play {other} {name}", fills),
    ]


def _ask_later(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Let both play elsewhere: then the ko may be taken."""
    first, second = _elsewhere(moment)
    why = "Both have played elsewhere since: the ko may be taken."
    return [
        *scenes.up_to_last(moment, random),
        scenes.play(moment, moment.to_play, first),
        scenes.play(moment, moment.color, second),
        _test(f"can_play {NAMES[moment.to_play][0]} {names(moment, moment.ko)[0]}", why),
    ]


def _ask_snapback(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Take back at once more than one stone: that is not a ko."""
    color, seen = NAMES[moment.to_play][0], look(moment)
    why = "It takes more than the one stone that has just taken: no ko."
    taken = rules.find_taken(moment.shape, seen.mine, seen.theirs, moment.taken)
    return [
        *scenes.up_to_last(moment, random),
        _test(f"can_play {color} {names(moment, moment.taken)[0]}", why),
        scenes.play(moment, moment.to_play, moment.taken),
        _test(f"captures {color}", f"The snapback took {taken.bit_count()} stones."),
    ]


def _ask_passes(*passes: str) -> scenes.Asker:
    """Return what passes (W: a stone in between) and asks whether the game is over."""
    over = passes[-2:] == ("B", "W")
    why = "Black passed and White after it." if over else "Not Black and then White passed."

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        commands = [
            scenes.play(moment, 2, _free(moment)[0])
            if one == "w"
            else SceneCommand(f"play {one} pass")
            for one in passes
        ]
        return [*scenes.up_to_last(moment, random), *commands, _test("is_over", why)]

    return steps


# --- positions made -----------------------------------------------------------------------------

_anytime = partial(made_positions.go_anytime, sizes=_SIZES)
_in_game = partial(made_positions.go_anytime, sizes=(_PLAYED_ON,))
_carve = partial(made_positions.carve, sizes=_SIZES)
_ko_fight = partial(made_positions.ko_fight, size=_PLAYED_ON)


def _short_game(random: Random) -> SceneMoment | None:
    return made_positions.go_game(random, _PLAYED_ON, random.randint(4, 9))


def _still_lying(random: Random) -> SceneMoment | None:
    """Return a capture before the captured stones have been taken off."""
    moment = _anytime(random)
    if moment is None or not moment.taken:
        return None
    return _lying_still(moment)._replace(origin=moment.origin)


def _snap(random: Random) -> SceneMoment | None:
    """Return a snapback: a stone thrown in is taken, and its taker with the rest."""
    for _ in range(20):
        size = _PLAYED_ON
        start = made_positions.go_game(random, size, random.randint(size * 2, size * size))
        if start:
            for moment in _throw_in(start):
                if _is_snapback(moment):
                    return moment
    return None


def _throw_in(start: SceneMoment) -> Iterator[SceneMoment]:
    """Yield moments in which a stone just played in was taken."""
    shape, color = start.shape, start.color
    mine, theirs = start.board.of(3 - color), start.board.of(color)
    for thrown in each_bit(shape.full & ~start.board.stones):
        if not rules.is_legal(shape, mine, theirs, thrown):
            continue
        if rules.find_taken(shape, mine, theirs, thrown):
            continue
        first = mine | thrown
        for answer in each_bit(shape.full & ~(first | theirs) & neighbours(shape, thrown)):
            if rules.find_taken(shape, theirs, first, answer) == thrown:
                before = made_positions.sides(color, theirs, first)
                board = made_positions.sides(color, theirs | answer, mine)
                yield made_positions.after(start.size, before, color, answer, board)


def _fitting(moment: SceneMoment) -> list[SceneMoment]:
    """Return the moment and, for a capture, its corner of 11 by 11 and the board it came from.

    On the last, the captured stones have not been taken off.
    """
    if not moment.taken:
        return [moment]
    if moment.size <= _PLAYED_ON:
        return [moment, _lying_still(moment)]
    cut = made_positions.corner_with_move(moment, _PLAYED_ON)
    return [moment, cut, _lying_still(cut)] if cut else [moment]


def _lying_still(moment: SceneMoment) -> SceneMoment:
    board = made_positions.add_stones(moment.before, moment.color, moment.move)
    origin = moment.origin.but("the captured stones still on the board")
    return moment._replace(origin=origin, before=board, board=board, move=0)


_ON_BOARDS = (
    Feature("lying-stone", "a captured stone that still lies on the board is worth two",
            lambda m: ("", "one", "several")[min(_find_captured_now(m).bit_count(), 2)],
            _ask_lying, _still_lying, least=2),
    Feature("lying-chain", "a captured chain, of which no stone has a liberty",
            when("several", _has_captured_chain), _ask_beside_lying, _still_lying),
    Feature("lying-at-edge", "a captured stone at the edge",
            when("at the edge", lambda m: _find_captured_now(m) & scenes.rim(m.shape)),
            _ask_beside_lying, _still_lying),
    Feature("living-chain", "a stone lives by a liberty of its chain",
            when("false", _inner_stones), _ask_living, _anytime),
    Feature("territory", "the empty points of a region share their fate",
            when("both", lambda m: _find_owned(m) and look(m).neutral), _ask_territory, _carve),
    Feature("score", "territory of both colors",
            when("points", lambda m: (
                look(m).neutral.bit_count() * 3 < m.size**2 and m.board.stones)),
            lambda m, random: [
                *scenes.as_it_lies(m, random), _test("score b"), _test("score w")], _carve),
    Feature("empty-board", "the empty board is nobody's",
            when("nothing", lambda m: not m.board.stones), _ask_empty,
            lambda random: made_positions.board_moment(random.choice((1, 3, 5, 9, 11)))),
    Feature("suicide", "a stone without a liberty that takes nothing is not legal",
            when("false", lambda m: _holes(m, "suicides")), _ask_legal("suicides"),
            lambda random: made_positions.go_game(random, random.choice(_SIZES))),
    Feature("capture-first", "what a stone takes gives it liberties",
            when("true", lambda m: _holes(m, "rescues")), _ask_legal("rescues"), _anytime),
    Feature("joined-chain", "a stone has the liberties of the chain it joins",
            when("true", lambda m: _holes(m, "joins")), _ask_legal("joins"), _anytime),
    Feature("useless-friend", "a friend without a further liberty does not help",
            when("false", lambda m: _useless_friends(m, 1) | _useless_friends(m, 2)),
            _ask_friend, _anytime),
    Feature("occupied", "a point with a stone is not legal", _stones, _ask_occupied,
            lambda random: made_positions.go_game(
                random, random.choice(_SIZES[2:]), random.randint(4, 9))),
)  # fmt: skip
_IN_GAMES = (
    Feature("capture", "captured stones leave the game's board and are counted",
            _takes(1, 2), _ask_prisoners, _in_game),
    Feature("large-capture", "three stones and more at once", _takes(3), _ask_prisoners, _in_game),
    Feature("several-chains", "one move takes several chains",
            when("several", lambda m: len(list(regions(m.shape, m.taken))) > 1),
            _ask_prisoners, _in_game),
    Feature("edge-capture", "a capture at the edge",
            when("at the edge", lambda m: m.taken & scenes.rim(m.shape)),
            _ask_prisoners, _in_game),
    Feature("ko", "a ko may not be taken back at once",
            _to_play(lambda m: m.ko), _ask_ko, _ko_fight, least=2),
    Feature("ko-later", "after other moves the ko may be taken",
            _to_play(lambda m: m.ko and _elsewhere(m)), _ask_later, _ko_fight),
    Feature("snapback", "taking back several stones at once is not a ko",
            _to_play(_is_snapback), _ask_snapback, _snap),
    Feature("new-game", "a new game begins without prisoners", _takes(1),
            lambda m, random: [
                *scenes.up_to_last(m, random), SceneCommand("clear_board"),
                _test(f"captures {NAMES[m.color][0]}", "A new game has no prisoners.")], _in_game),
    Feature("both-passed", "Black passes and White after it: the game is over",
            _stones, _ask_passes("B", "W"), _short_game),
    Feature("white-first", "White passes first: the game is not over",
            _stones, _ask_passes("W", "B"), _short_game),
    Feature("one-pass", "one pass does not end the game", _stones, _ask_passes("B"), _short_game),
    Feature("stone-between", "passes with a stone between them do not end the game",
            lambda m: _stones(m) if _free(m) else "", _ask_passes("B", "w", "W"), _short_game),
)  # fmt: skip


def _only_where_played(feature: Feature) -> Feature:
    """Let a feature be found only where the game is played."""
    return feature._replace(find=lambda m: feature.find(m) if m.size == _PLAYED_ON else "")


FEATURES = (*_ON_BOARDS, *map(_only_where_played, _IN_GAMES))

KIND = FeatureKind("go", range(1, 26), FEATURES, _fitting, swaps=True)
