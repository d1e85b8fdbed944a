"""Features in tests of go-scoring: regions, captures, the komi and the margin."""

from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from harness.vocabulary import made_positions, scenes
from harness.vocabulary.scenes import Feature, FeatureKind, SceneCommand, SceneMoment
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


# --- when a board has a feature -----------------------------------------------------------------


def _board(has: scenes.Has) -> scenes.Finder:
    """Return a finder of boards that have something; the kind of answer is the side that leads."""

    def find(moment: SceneMoment) -> str:
        lead = look(moment).lead if has(moment) else None
        return "" if lead is None else "B" if lead > 0 else "W" if lead < 0 else "0"

    return find


def _is_settled(moment: SceneMoment) -> bool:
    seen = look(moment)
    return seen.neutral.bit_count() * 4 <= moment.size**2 and seen.owned > 1


def _has_inner_region(moment: SceneMoment) -> bool:
    """Whether some region is away from the edge, so that territory is not all at the edge."""
    by_black, by_white, _ = area(moment.shape, *moment.board)
    territory, rim = (by_black | by_white) & ~moment.board.stones, scenes.rim(moment.shape)
    inner = any(not region & rim for region in regions(moment.shape, territory))
    return inner and bool(territory & rim)


_SETTLED = _board(_is_settled)

# --- what is asked ------------------------------------------------------------------------------


def _komi(value: float) -> SceneCommand:
    return SceneCommand(f"komi {value:g}")


def _usual(random: Random) -> list[SceneCommand]:
    return [_komi(random.choice(_KOMIS)), _ASK]


def _ask_score(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*scenes.as_it_lies(moment, random), *_usual(random)]


def _ask_score_after_move(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    return [*scenes.up_to_last(moment, random), *_usual(random)]


def _with_lead(*leads: float) -> scenes.Asker:
    """Ask with a komi that leaves Black one of these leads."""

    def steps(moment: SceneMoment, random: Random) -> list[SceneCommand]:
        komi = look(moment).lead - random.choice(leads)
        return [*scenes.as_it_lies(moment, random), _komi(komi), _ASK]

    return steps


def _ask_with_two_komis(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    first, second = random.sample(_KOMIS, 2)
    return [*scenes.as_it_lies(moment, random), _komi(first), _ASK, _komi(second), _ASK]


def _clear_first(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    """Play the board with colors exchanged first, and clear it."""
    black, white = moment.board
    return [
        *scenes.new_board(moment),
        *scenes.stones(moment, white, black, random),
        SceneCommand("clear_board"),
        *scenes.stones(moment, black, white, random),
        *_usual(random),
    ]


# --- positions made -----------------------------------------------------------------------------

_anytime = partial(made_positions.go_anytime, sizes=_SMALL)
_carve = partial(made_positions.carve, sizes=_PLAYED)


def _play_to_end(*sizes: int) -> scenes.Maker:
    return lambda random: made_positions.go_game(random, random.choice(sizes))


def _one_color(random: Random) -> SceneMoment:
    """A few stones of one color, on which the whole board hangs."""
    size = random.choice(_SMALL[1:])
    full = grid(size).full
    mask = any_bit(full, random) | made_positions.scatter(random, full, 0.05)
    board = scenes.StoneBits(mask) if random.random() < 0.5 else scenes.StoneBits(0, mask)
    return made_positions.board_moment(size, board)


FEATURES = (
    Feature("neutral-points", "single empty points next to both colors count for nobody",
            _board(lambda m: 1 in look(m).neutral_regions and look(m).owned > 1),
            _ask_score, _anytime, least=2),
    Feature("shared-regions", "empty regions that both colors share, as in a seki",
            _board(lambda m: (shared := look(m).neutral_regions)
                   and all(2 <= size <= 6 for size in shared)),
            _ask_score, _carve, least=2, sizes=_PLAYED),
    Feature("many-regions", "many regions, each counted once",
            _board(lambda m: look(m).owned >= m.size),
            _ask_score, _play_to_end(*_MIDDLE), sizes=_MIDDLE),
    Feature("capture", "the last move captures; its stones leave the board",
            _board(lambda m: 1 <= m.taken.bit_count() <= 2), _ask_score_after_move, _anytime),
    Feature("large-capture", "the last move captures three or more",
            _board(lambda m: m.taken.bit_count() >= 3), _ask_score_after_move, _anytime),
    Feature("ko", "a ko has just been taken; its point is empty as any other",
            _board(lambda m: m.ko), _ask_score_after_move,
            lambda random: made_positions.ko_fight(random, random.choice(_SMALL[1:]))),
    Feature("inner-regions", "regions at the edge and away from it", _board(_has_inner_region),
            _ask_score, _carve, sizes=_PLAYED),
    Feature("single-region", "one region only, which is territory",
            _board(lambda m: look(m).owned == 1 and not look(m).neutral), _ask_score, _one_color),
    Feature("nothing-owned", "stones, but no territory",
            _board(lambda m: 0 < m.board.stones.bit_count() <= 2 * m.size and not look(m).owned),
            _ask_score, lambda random: made_positions.go_game(
                random, random.choice(_PLAYED), random.randint(2, 9)), sizes=_PLAYED),
    Feature("margin-of-one", "one point decides", _SETTLED, _with_lead(1, -1), _carve,
            sizes=_PLAYED),
    Feature("margin-of-a-half", "half a point decides", _SETTLED, _with_lead(0.5, -0.5), _carve,
            sizes=_PLAYED),
    Feature("draw-by-komi", "the komi makes a draw",
            lambda m: "0" if _is_settled(m) and abs(look(m).lead) < 100 else "",
            _with_lead(0), _carve, sizes=_PLAYED),
    Feature("negative-komi", "a komi below 0 is Black's", _SETTLED,
            lambda m, random: [
                *scenes.as_it_lies(m, random), _komi(-random.choice(_KOMIS[1:])), _ASK],
            _carve, sizes=_PLAYED),
    Feature("asked-twice", "score changes nothing", _SETTLED, _ask_with_two_komis, _carve,
            sizes=_PLAYED),
    Feature("cleared-board", "clear_board removes every stone", _SETTLED, _clear_first, _carve,
            sizes=_PLAYED),
    Feature("empty-board", "the empty board is nobody's",
            lambda m: "" if m.board.stones else "0", _ask_score,
            lambda random: made_positions.board_moment(random.choice((2, 5, 7, 9, 13, 19)))),
    Feature("tiny-board", "boards of 2 by 2 and 3 by 3",
            _board(lambda m: m.size <= 3 and m.board.stones),
            _ask_score, _play_to_end(*_TINY), sizes=_TINY),
    Feature("large-board", "boards of 10 by 10 and more",
            _board(lambda m: m.size >= 10 and look(m).owned),
            _ask_score, _play_to_end(*_LARGE), sizes=_LARGE),
)  # fmt: skip

KIND = FeatureKind("go", range(2, 26), FEATURES, scenes.whole, swaps=True)
