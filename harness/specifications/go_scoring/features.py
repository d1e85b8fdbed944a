"""Features in tests of go-scoring: regions, captures, the komi and the margin."""

from functools import lru_cache
from random import Random
from typing import NamedTuple

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
    new_board,
    rim,
    stones,
    up_to_last,
    whole,
)
from oracle.montecarlo import any_bit
from oracle.position import grid
from oracle.rules.flood import regions
from oracle.rules.go import area

_ASK = SceneCommand("score", asked=True)
_SMALL = (2, 3, 4, 5, 6, 7, 8, 9)
_PLAYED, _MIDDLE, _TINY, _LARGE = _SMALL[2:], (5, 6, 7, 8, 9), (2, 3), (10, 13, 19)
_KOMIS = (0, 0.5, 2.5, 3.5, 5.5, 6.5, 7.5)


class ScoreFacts(NamedTuple):
    """Value of a board: the points of nobody, Black's lead, and the empty regions."""

    neutral: int
    lead: int
    neutral_regions: tuple[int, ...]  # their sizes
    owned: int  # regions of one color


@lru_cache(maxsize=8)
def look(moment: SceneMoment) -> ScoreFacts:
    """Return what a board is worth."""
    shape, (black, white) = moment.shape, moment.board
    by_black, by_white, neutral = area(shape, black, white)
    shared = tuple(region.bit_count() for region in regions(shape, neutral))
    territory = (by_black | by_white) & ~(black | white)
    owned = sum(1 for _ in regions(shape, territory)) if territory else 0
    return ScoreFacts(neutral, by_black.bit_count() - by_white.bit_count(), shared, owned)


def _side(lead: float) -> str:
    return "B" if lead > 0 else "W" if lead < 0 else "0"


def _on_board(moment: SceneMoment) -> str:
    return _side(look(moment).lead)


# --- when a board has a feature -----------------------------------------------------------------


def _neutral_points(moment: SceneMoment) -> str:
    seen = look(moment)
    return _on_board(moment) if 1 in seen.neutral_regions and seen.owned > 1 else ""


def _shared_regions(moment: SceneMoment) -> str:
    seen = look(moment)
    shared = [size for size in seen.neutral_regions if 2 <= size <= 6]
    return _on_board(moment) if shared and len(shared) == len(seen.neutral_regions) else ""


def _many_regions(moment: SceneMoment) -> str:
    return _on_board(moment) if look(moment).owned >= moment.size else ""


def _capture(least: int, most: int) -> Finder:
    def find(moment: SceneMoment) -> str:
        taken = moment.taken.bit_count()
        return _on_board(moment) if least <= taken <= most else ""

    return find


def _ko(moment: SceneMoment) -> str:
    return _on_board(moment) if moment.ko else ""


def _is_settled(moment: SceneMoment) -> str:
    seen = look(moment)
    few = seen.neutral.bit_count() * 4 <= moment.size**2
    return _on_board(moment) if few and seen.owned > 1 else ""


def _draw(moment: SceneMoment) -> str:
    return "0" if _is_settled(moment) and abs(look(moment).lead) < 100 else ""


def _tiny(moment: SceneMoment) -> str:
    return _on_board(moment) if moment.size <= 3 and moment.board.stones else ""


def _large(moment: SceneMoment) -> str:
    return _on_board(moment) if moment.size >= 10 and look(moment).owned else ""


def _single_region(moment: SceneMoment) -> str:
    seen = look(moment)
    return _on_board(moment) if seen.owned == 1 and not seen.neutral else ""


def _nothing_owned(moment: SceneMoment) -> str:
    few = 0 < moment.board.stones.bit_count() <= 2 * moment.size
    return _on_board(moment) if few and not look(moment).owned else ""


def _empty(moment: SceneMoment) -> str:
    return "0" if not moment.board.stones else ""


def _inner_region(moment: SceneMoment) -> str:
    """Some region away from the edge, so that territory is not all at the edge."""
    shape, board = moment.shape, moment.board
    by_black, by_white, _ = area(shape, *board)
    territory = (by_black | by_white) & ~board.stones
    inner = any(not region & rim(shape) for region in regions(shape, territory))
    return _on_board(moment) if inner and territory & rim(shape) else ""


# --- what is asked ------------------------------------------------------------------------------


def _komi(value: float) -> SceneCommand:
    return SceneCommand(f"komi {value:g}")


def _usual(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [_komi(random.choice(_KOMIS)), _ASK]


def _ask_score(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*as_it_lies(moment, random), *_usual(moment, random)]


def _ask_score_after_move(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*up_to_last(moment, random), *_usual(moment, random)]


def _with_komi(*offsets: float) -> Asker:
    """Ask with a komi that leaves Black one of these leads."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        komi = look(moment).lead - random.choice(offsets)
        return [*as_it_lies(moment, random), _komi(komi), _ASK]

    return steps


def _twice(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Ask, and ask again with another komi."""
    first, second = random.sample(_KOMIS, 2)
    return [*as_it_lies(moment, random), _komi(first), _ASK, _komi(second), _ASK]


def _set_komi_below_zero(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*as_it_lies(moment, random), _komi(-random.choice(_KOMIS[1:])), _ASK]


def _clear_first(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play the board with colors exchanged first, and clear it."""
    black, white = moment.board
    old = stones(moment, white, black, random)
    board = [
        *new_board(moment),
        *old,
        SceneCommand("clear_board"),
        *stones(moment, black, white, random),
    ]
    return [*board, *_usual(moment, random)]


# --- positions made -----------------------------------------------------------------------------


def _anytime(random: Random) -> SceneMoment | None:
    return made_positions.go_anytime(random, _SMALL)


def _play_to_end(*sizes: int) -> Maker:
    def make(random: Random) -> SceneMoment | None:
        return made_positions.go_game(random, random.choice(sizes))

    return make


def _ko_fight(random: Random) -> SceneMoment | None:
    return made_positions.ko_fight(random, random.choice(_SMALL[1:]))


def _opening(random: Random) -> SceneMoment | None:
    return made_positions.go_game(random, random.choice(_PLAYED), random.randint(2, 9))


def _no_stone(random: Random) -> SceneMoment:
    return made_positions.board_moment("go", random.choice((2, 5, 7, 9, 13, 19)))


def _one_color(random: Random) -> SceneMoment:
    """A few stones of one color, on which the whole board hangs."""
    size = random.choice(_SMALL[1:])
    shape = grid(size)
    mask = any_bit(shape.full, random) | made_positions.scatter(random, shape.full, 0.05)
    return made_positions.board_moment(
        "go", size, StoneBits(mask) if random.random() < 0.5 else StoneBits(0, mask)
    )


def _carve(random: Random) -> SceneMoment | None:
    return made_positions.carve(random, _PLAYED)


_END = _carve

FEATURES = (
    Feature("neutral-points", "single empty points next to both colors count for nobody",
            _neutral_points, _ask_score, _anytime, least=2),
    Feature("shared-regions", "empty regions that both colors share, as in a seki",
            _shared_regions, _ask_score, _carve, least=2, sizes=_PLAYED),
    Feature("many-regions", "many regions, each counted once", _many_regions, _ask_score,
            _play_to_end(*_MIDDLE), sizes=_MIDDLE),
    Feature("capture", "the last move captures; its stones leave the board",
            _capture(1, 2), _ask_score_after_move, _anytime),
    Feature("large-capture", "the last move captures three or more",
            _capture(3, 400), _ask_score_after_move, _anytime),
    Feature("ko", "a ko has just been taken; its point is empty as any other",
            _ko, _ask_score_after_move, _ko_fight),
    Feature("inner-regions", "regions at the edge and away from it", _inner_region, _ask_score,
            _END, sizes=_PLAYED),
    Feature("single-region", "one region only, which is territory",
            _single_region, _ask_score, _one_color),
    Feature("nothing-owned", "stones, but no territory", _nothing_owned, _ask_score, _opening,
            sizes=_PLAYED),
    Feature("margin-of-one", "one point decides", _is_settled, _with_komi(1, -1), _END,
            sizes=_PLAYED),
    Feature("margin-of-a-half", "half a point decides", _is_settled, _with_komi(0.5, -0.5), _END,
            sizes=_PLAYED),
    Feature("draw-by-komi", "the komi makes a draw", _draw, _with_komi(0), _END,
            sizes=_PLAYED),
    Feature("negative-komi", "a komi below 0 is Black's", _is_settled, _set_komi_below_zero, _END,
            sizes=_PLAYED),
    Feature("asked-twice", "score changes nothing", _is_settled, _twice, _END,
            sizes=_PLAYED),
    Feature("cleared-board", "clear_board removes every stone", _is_settled, _clear_first, _END,
            sizes=_PLAYED),
    Feature("empty-board", "the empty board is nobody's", _empty, _ask_score, _no_stone),
    Feature("tiny-board", "boards of 2 by 2 and 3 by 3", _tiny, _ask_score, _play_to_end(*_TINY),
            sizes=_TINY),
    Feature("large-board", "boards of 10 by 10 and more", _large, _ask_score,
            _play_to_end(*_LARGE), sizes=_LARGE),
)  # fmt: skip

KIND = FeatureKind("go", range(2, 26), FEATURES, whole, swaps=True)
