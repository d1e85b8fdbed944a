"""Features in tests of java-go: captures, prisoners, legal moves, ko, snapback, the passes."""

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions
from harness.vocabulary.made_positions import corner_with_move
from harness.vocabulary.scenes import (
    Asker,
    Feature,
    FeatureKind,
    Finder,
    SceneCommand,
    SceneMoment,
    as_it_lies,
    lay_stones,
    names,
    new_board,
    play,
    rim,
    up_to_last,
)
from oracle.position import NAMES, each_bit
from oracle.rules.flood import flood, neighbours, regions
from oracle.rules.go import area, find_captured_of_both, find_taken, is_legal, liberties

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
        mine, theirs, empty, empty & ~neighbours(shape, empty), area(shape, *board)[2]
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
        if friend and liberties(shape, flood(shape, bit, mine), mine | theirs | bit):
            found[2] |= bit
        else:
            found[bool(find_taken(shape, mine, theirs, bit))] |= bit
    return Holes(*found)


def _holes(moment: SceneMoment, kind: str) -> int:
    """Return the points of one kind, for either color."""
    return int(getattr(holes(moment, 1), kind) | getattr(holes(moment, 2), kind))


# --- when a board has a feature -----------------------------------------------------------------


def _points(mask: int, answer: str) -> str:
    return answer if mask else ""


def _find_taken(least: int, most: int) -> Finder:
    def find(moment: SceneMoment) -> str:
        return "several" if least <= moment.taken.bit_count() <= most else ""

    return find


def _ko(moment: SceneMoment) -> str:
    return NAMES[moment.to_play] if moment.ko else ""


def _snapback(moment: SceneMoment) -> str:
    """The last move took one stone, and can be taken back with others at once."""
    seen = look(moment)
    if moment.taken.bit_count() != 1 or moment.ko:
        return ""
    back = find_taken(moment.shape, seen.mine, seen.theirs, moment.taken)
    return NAMES[moment.to_play] if back & moment.move and back.bit_count() > 1 else ""


def _several_chains(moment: SceneMoment) -> str:
    """The last move took two chains or more."""
    return "several" if sum(1 for _ in regions(moment.shape, moment.taken)) > 1 else ""


def _edge_taken(moment: SceneMoment) -> str:
    return "at the edge" if moment.taken & rim(moment.shape) else ""


def _suicide(moment: SceneMoment) -> str:
    return _points(_holes(moment, "suicides"), "false")


def _rescue(moment: SceneMoment) -> str:
    return _points(_holes(moment, "rescues"), "true")


def _join(moment: SceneMoment) -> str:
    return _points(_holes(moment, "joins"), "true")


def _friend(moment: SceneMoment) -> str:
    found = 0
    for color in (1, 2):
        beside = neighbours(moment.shape, moment.board.of(color))
        found |= holes(moment, color).suicides & beside
    return _points(found, "false")


def _territory(moment: SceneMoment) -> str:
    """Regions of more than a point that belong to one color, and some that do not."""
    neutral = look(moment).neutral
    own = look(moment).empty & ~neutral
    large = any(region.bit_count() > 1 for region in regions(moment.shape, own))
    return "both" if large and neutral else ""


def _is_settled(moment: SceneMoment) -> str:
    neutral = look(moment).neutral
    return "points" if moment.board.stones and neutral.bit_count() * 3 < moment.size**2 else ""


def _empty(moment: SceneMoment) -> str:
    return "nothing" if not moment.board.stones else ""


def _stones(moment: SceneMoment) -> str:
    return "move" if moment.move and moment.board.stones.bit_count() > 2 else ""


def _room(moment: SceneMoment) -> str:
    return _stones(moment) if _free(moment) else ""


def _free(moment: SceneMoment) -> list[int]:
    """Return the empty points beside another one: a stone may be put there."""
    empty = look(moment).empty
    return [bit for bit in each_bit(empty) if neighbours(moment.shape, bit) & empty]


def _find_exchange(moment: SceneMoment) -> str:
    """After a ko, both have a move elsewhere that changes nothing near it."""
    return NAMES[moment.to_play] if moment.ko and len(_elsewhere(moment)) == 2 else ""


def _elsewhere(moment: SceneMoment) -> list[int]:
    """Return a point for each color to play on, with room around, not near the ko."""
    shape, seen = moment.shape, look(moment)
    near = neighbours(shape, moment.ko | neighbours(shape, moment.ko)) | moment.ko
    inner = seen.empty & ~near
    free = [bit for bit in each_bit(inner) if not neighbours(shape, bit) & ~seen.empty]
    apart = [bit for bit in free[1:] if not neighbours(shape, bit) & free[0]]
    return [free[0], apart[-1]] if apart else []


# --- what is asked ------------------------------------------------------------------------------


def _color(moment: SceneMoment, *, last: bool) -> str:
    return NAMES[moment.color if last else moment.to_play]


def _ask_captured(name: str) -> SceneCommand:
    return SceneCommand(f"is_captured {name}", asked=True)


def _score(color: str) -> SceneCommand:
    return SceneCommand(f"score {color[0]}", asked=True)


def _legal(color: int, name: str) -> SceneCommand:
    return SceneCommand(f"is_legal {NAMES[color][0]} {name}", asked=True)


def _can(color: str, name: str, why: str) -> SceneCommand:
    return SceneCommand(f"can_play {color[0]} {name}", asked=True, why=why)


def _prisoners(color: str, why: str) -> SceneCommand:
    return SceneCommand(f"captures {color[0]}", asked=True, why=why)


def _lying(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Ask for a captured stone that still lies on the board, for the score, and for the stone
    again: asking changes nothing.
    """
    dead = random.choice(names(moment, _find_captured_now(moment)))
    owner = moment.color or 1
    return [*lay_stones(moment), _ask_captured(dead), _score(NAMES[owner]), _legal(owner, dead)]


def _beside_lying(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Ask for a captured stone, and for a stone beside it that is not."""
    dead = _find_captured_now(moment)
    alive = neighbours(moment.shape, dead) & moment.board.stones & ~dead
    asked = [_ask_captured(random.choice(names(moment, mask))) for mask in (dead, alive) if mask]
    return [*lay_stones(moment), *asked]


@lru_cache(maxsize=8)
def _find_captured_now(moment: SceneMoment) -> int:
    black, white = find_captured_of_both(moment.shape, *moment.board)
    return black | white


def _dead(moment: SceneMoment) -> str:
    count = _find_captured_now(moment).bit_count()
    return "" if not count else "one" if count == 1 else "several"


def _dead_chain(moment: SceneMoment) -> str:
    """A captured chain with a stone that has no opponent beside it."""
    shape, dead = moment.shape, _find_captured_now(moment)
    inner = dead & ~neighbours(shape, shape.full & ~dead)
    joined = any(region.bit_count() > 2 for region in regions(shape, dead))
    return "several" if inner or joined else ""


def _dead_at_edge(moment: SceneMoment) -> str:
    return "at the edge" if _find_captured_now(moment) & rim(moment.shape) else ""


def _living(moment: SceneMoment) -> str:
    """A chain whose only liberty is diagonal to, or far from, the stone asked for."""
    return _points(_inner_stones(moment), "false")


def _inner_stones(moment: SceneMoment) -> int:
    """Return stones without a liberty of their own in chains that have one."""
    shape, board = moment.shape, moment.board
    empty = shape.full & ~board.stones
    return board.stones & ~neighbours(shape, empty) & ~_find_captured_now(moment)


def _ask_living(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    stone = random.choice(names(moment, _inner_stones(moment)))
    return [*lay_stones(moment), _ask_captured(stone), _score(random.choice(("black", "white")))]


def _ask_territory(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    neutral = look(moment).neutral
    own = look(moment).empty & ~neutral
    large = [region for region in regions(moment.shape, own) if region.bit_count() > 1]
    inside = random.choice(names(moment, random.choice(large)))
    shared = random.choice(names(moment, neutral))
    return [*as_it_lies(moment, random), _ask_captured(inside), _ask_captured(shared)]


def _ask_score(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*as_it_lies(moment, random), _score("black"), _score("white")]


def _ask_empty(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    point = random.choice(names(moment, moment.shape.full))
    return [*new_board(moment), _ask_captured(point), _score(random.choice(("black", "white")))]


def _ask_legal(kind: str) -> Asker:
    """Return what asks for a point of one kind, for the color it concerns."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        points = {color: getattr(holes(moment, color), kind) for color in (1, 2)}
        color = random.choice([color for color, mask in points.items() if mask])
        name = random.choice(names(moment, points[color]))
        return [*as_it_lies(moment, random), _legal(color, name), _legal(3 - color, name)]

    return steps


def _ask_friend(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    colors = [
        color
        for color in (1, 2)
        if holes(moment, color).suicides & neighbours(moment.shape, moment.board.of(color))
    ]
    color = random.choice(colors)
    points = holes(moment, color).suicides & neighbours(moment.shape, moment.board.of(color))
    name = random.choice(names(moment, points))
    return [*as_it_lies(moment, random), _legal(color, name)]


def _ask_occupied(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    name = random.choice(names(moment, moment.board.stones))
    return [*as_it_lies(moment, random), _legal(random.choice((1, 2)), name)]


def _after_capture(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play the capture; ask for its prisoners, and whether their points are free."""
    color, name = _color(moment, last=True), random.choice(names(moment, moment.taken))
    count = moment.taken.bit_count()
    why = f"The last move took {count} {'stone' if count == 1 else 'stones'}."
    return [*up_to_last(moment, random), _prisoners(color, why), _ask_captured(name)]


def _ask_ko(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Try to take back at once: the game forbids it, the bare board does not; filling is free."""
    color, other = _color(moment, last=False), _color(moment, last=True)
    name = names(moment, moment.ko)[0]
    no = "It would take back at once the one stone that has just taken one: ko."
    return [
        *up_to_last(moment, random),
        _can(color, name, no),
        SceneCommand(f"is_legal {color[0]} {name}", asked=True),
        _can(other, name, "Ko does not keep the color that took from filling its point."),
    ]


def _ask_later(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Let both play elsewhere: then the ko may be taken."""
    first, second = _elsewhere(moment)
    name = names(moment, moment.ko)[0]
    color = _color(moment, last=False)
    away = [play(moment, moment.to_play, first), play(moment, moment.color, second)]
    why = "Both have played elsewhere since: the ko may be taken."
    return [*up_to_last(moment, random), *away, _can(color, name, why)]


def _ask_snapback(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Take back at once more than one stone: that is not a ko."""
    color = _color(moment, last=False)
    name = names(moment, moment.taken)[0]
    why = "It takes more than the one stone that has just taken: no ko."
    back = play(moment, moment.to_play, moment.taken)
    seen = look(moment)
    count = find_taken(moment.shape, seen.mine, seen.theirs, moment.taken).bit_count()
    many = _prisoners(color, f"The snapback took {count} stones.")
    return [*up_to_last(moment, random), _can(color, name, why), back, many]


def _ask_new_game(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    color = _color(moment, last=True)
    why = "A new game has no prisoners."
    return [*up_to_last(moment, random), SceneCommand("clear_board"), _prisoners(color, why)]


def _ask_passes(*passes: str) -> Asker:
    """Return what passes (W: a stone in between) and asks whether the game is over."""
    over = passes[-2:] == ("B", "W")
    why = "Black passed and White after it." if over else "Not Black and then White passed."

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        commands = [
            play(moment, 2, _free(moment)[0]) if one == "w" else SceneCommand(f"play {one} pass")
            for one in passes
        ]
        return [
            *up_to_last(moment, random),
            *commands,
            SceneCommand("is_over", asked=True, why=why),
        ]

    return steps


# --- positions made -----------------------------------------------------------------------------


def _anytime(random: Random) -> SceneMoment | None:
    return made_positions.go_anytime(random, _SIZES)


def _in_game(random: Random) -> SceneMoment | None:
    return made_positions.go_anytime(random, (_PLAYED_ON,))


def _short_game(random: Random) -> SceneMoment | None:
    return made_positions.go_game(random, _PLAYED_ON, random.randint(4, 9))


def _play_to_end(random: Random) -> SceneMoment | None:
    return made_positions.go_game(random, random.choice(_SIZES))


def _carve(random: Random) -> SceneMoment | None:
    return made_positions.carve(random, _SIZES)


def _short(random: Random) -> SceneMoment | None:
    size = random.choice(_SIZES[2:])
    return made_positions.go_game(random, size, random.randint(4, 9))


def _still_lying(random: Random) -> SceneMoment | None:
    """Return a capture before the captured stones have been taken off."""
    moment = _anytime(random)
    if moment is None or not moment.taken:
        return None
    board = made_positions.add_stones(moment.before, moment.color, moment.move)
    return moment._replace(before=board, board=board, move=0)


def _blank(random: Random) -> SceneMoment:
    return made_positions.board_moment("go", random.choice((1, 3, 5, 9, 11)))


def _snap(random: Random) -> SceneMoment | None:
    """Return a snapback: a stone thrown in is taken, and its taker with the rest."""
    for _ in range(20):
        size = _PLAYED_ON
        start = made_positions.go_game(random, size, random.randint(size * 2, size * size))
        if start:
            for moment in _throw_in(start):
                if _snapback(moment):
                    return moment
    return None


def _throw_in(start: SceneMoment) -> Iterator[SceneMoment]:
    """Yield moments in which a stone just played in was taken."""
    shape, color = start.shape, start.color
    mine, theirs = start.board.of(3 - color), start.board.of(color)
    for thrown in each_bit(shape.full & ~start.board.stones):
        if not is_legal(shape, mine, theirs, thrown) or find_taken(shape, mine, theirs, thrown):
            continue
        first = mine | thrown
        for answer in each_bit(shape.full & ~(first | theirs) & neighbours(shape, thrown)):
            if find_taken(shape, theirs, first, answer) == thrown:
                before = made_positions.sides(color, theirs, first)
                board = made_positions.sides(color, theirs | answer, mine)
                yield made_positions.after("go", start.size, before, color, answer, board)


def _ko_fight(random: Random) -> SceneMoment | None:
    return made_positions.ko_fight(random, _PLAYED_ON)


def _fitting(moment: SceneMoment) -> list[SceneMoment]:
    """Return the moment and, for a capture, its corner of 11 by 11 and the board it came from.

    On the last, the captured stones have not been taken off.
    """
    if not moment.taken:
        return [moment]
    if moment.size <= _PLAYED_ON:
        return [moment, _lying_still(moment)]
    cut = corner_with_move(moment, _PLAYED_ON)
    return [moment, cut, _lying_still(cut)] if cut else [moment]


def _lying_still(moment: SceneMoment) -> SceneMoment:
    board = made_positions.add_stones(moment.before, moment.color, moment.move)
    origin = moment.origin.but("the captured stones still on the board")
    return moment._replace(origin=origin, before=board, board=board, move=0)


_ON_BOARDS = (
    Feature("lying-stone", "a captured stone that still lies on the board is worth two",
            _dead, _lying, _still_lying, least=2),
    Feature("lying-chain", "a captured chain, of which no stone has a liberty",
            _dead_chain, _beside_lying, _still_lying),
    Feature("lying-at-edge", "a captured stone at the edge",
            _dead_at_edge, _beside_lying, _still_lying),
    Feature("living-chain", "a stone lives by a liberty of its chain",
            _living, _ask_living, _anytime),
    Feature("territory", "the empty points of a region share their fate",
            _territory, _ask_territory, _carve),
    Feature("score", "territory of both colors", _is_settled, _ask_score, _carve),
    Feature("empty-board", "the empty board is nobody's", _empty, _ask_empty, _blank),
    Feature("suicide", "a stone without a liberty that takes nothing is not legal",
            _suicide, _ask_legal("suicides"), _play_to_end),
    Feature("capture-first", "what a stone takes gives it liberties",
            _rescue, _ask_legal("rescues"), _anytime),
    Feature("joined-chain", "a stone has the liberties of the chain it joins",
            _join, _ask_legal("joins"), _anytime),
    Feature("useless-friend", "a friend without a further liberty does not help",
            _friend, _ask_friend, _anytime),
    Feature("occupied", "a point with a stone is not legal", _stones, _ask_occupied, _short),
)  # fmt: skip
_IN_GAMES = (
    Feature("capture", "captured stones leave the game's board and are counted",
            _find_taken(1, 2), _after_capture, _in_game),
    Feature("large-capture", "three stones and more at once",
            _find_taken(3, 400), _after_capture, _in_game),
    Feature("several-chains", "one move takes several chains",
            _several_chains, _after_capture, _in_game),
    Feature("edge-capture", "a capture at the edge", _edge_taken, _after_capture, _in_game),
    Feature("ko", "a ko may not be taken back at once", _ko, _ask_ko, _ko_fight, least=2),
    Feature("ko-later", "after other moves the ko may be taken",
            _find_exchange, _ask_later, _ko_fight),
    Feature("snapback", "taking back several stones at once is not a ko",
            _snapback, _ask_snapback, _snap),
    Feature("new-game", "a new game begins without prisoners",
            _find_taken(1, 400), _ask_new_game, _in_game),
    Feature("both-passed", "Black passes and White after it: the game is over",
            _stones, _ask_passes("B", "W"), _short_game),
    Feature("white-first", "White passes first: the game is not over",
            _stones, _ask_passes("W", "B"), _short_game),
    Feature("one-pass", "one pass does not end the game", _stones, _ask_passes("B"), _short_game),
    Feature("stone-between", "passes with a stone between them do not end the game",
            _room, _ask_passes("B", "w", "W"), _short_game),
)  # fmt: skip


def _only_where_played(feature: Feature) -> Feature:
    """Let a feature be found only where the game is played."""
    return feature._replace(find=lambda m: feature.find(m) if m.size == _PLAYED_ON else "")


FEATURES = (*_ON_BOARDS, *map(_only_where_played, _IN_GAMES))

KIND = FeatureKind("go", range(1, 26), FEATURES, _fitting, swaps=True)
