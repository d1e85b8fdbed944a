"""Who plays whom: pairs of games with one opening, in rounds. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations

from harness.match.records import Game, Plan
from harness.typed import NamedTuple
from oracle.position import BLACK, WHITE

ROUND_ROBIN, SWISS, GAUNTLET = FORMATS = ("round-robin", "swiss", "gauntlet")
_ROUNDS = 2  # of a Swiss, besides those that find a winner
_MOST_TRIES = 20_000  # of pairings of a round


class Schedule(NamedTuple):
    """How a tournament is held."""

    format: str
    players: int
    games: int  # of each pairing; two share an opening
    openings: int = 1
    rounds: int = 0  # of a Swiss; 0: as many as the players need

    @property
    def all_rounds(self) -> int:
        """Return how many rounds there are."""
        if self.format != SWISS:
            return 1
        most = self.players - 1 + self.players % 2  # then everybody has met everybody
        return min(most, self.rounds or (self.players - 1).bit_length() + _ROUNDS)

    def round(self, number: int, games: Mapping[int, Game]) -> list[Plan]:
        """Return the plans of a round; ``games``: of those before, by number."""
        if self.format == SWISS:
            before = [one for one in games.values() if one.plan.round < number]
            return self._plans(self._swiss(before), number)
        everybody = range(self.players)
        pairs = [(0, other) for other in everybody[1:]]
        return self._plans(pairs if self.format == GAUNTLET else [*combinations(everybody, 2)])

    def _plans(self, pairings: list[tuple[int, int]], number: int = 0) -> list[Plan]:
        """Return the games of pairings: the first pair of each, then the second, and so on."""
        per_pairing = -(-self.games // 2)
        first = number * (self.players // 2) * per_pairing  # Swiss: a round's pairs are as many
        return list(self._number(pairings, per_pairing, first, number))

    def _number(
        self, pairings: list[tuple[int, int]], count: int, pair: int, number: int
    ) -> Iterator[Plan]:
        for turn in range(count):
            for one, other in pairings:
                opening = (number * count + turn) % self.openings
                for place in range(min(2, self.games - 2 * turn)):
                    black, white = (other, one) if place else (one, other)
                    yield Plan(2 * pair + place, pair, black, white, opening, number)
                pair += 1

    def _swiss(self, games: list[Game]) -> list[tuple[int, int]]:
        """Pair players with as many points who have not met; if they are odd, one sits out."""
        points, missed = score(games), self.missed(games)
        order = sorted(range(self.players), key=lambda one: (-points[one] - missed[one], one))
        if self.players % 2:  # nobody sits out twice before all have
            least = min(missed[one] for one in order)
            order.remove(next(one for one in reversed(order) if missed[one] == least))
        met = {frozenset((game.plan.black, game.plan.white)) for game in games}
        found = _pair_up(order, met, [_MOST_TRIES])
        return found or list(zip(order[::2], order[1::2], strict=True))

    def missed(self, games: Collection[Game]) -> list[int]:
        """Return how many games of a Swiss each player sat out: each counts as a win."""
        if self.format != SWISS:
            return [0] * self.players
        played = Counter(one for game in games for one in (game.plan.black, game.plan.white))
        due = self.games * (1 + max((game.plan.round for game in games), default=-1))
        return [max(0, due - played[one]) for one in range(self.players)]


def _pair_up(
    order: list[int], met: set[frozenset[int]], tries: list[int]
) -> list[tuple[int, int]] | None:
    """Return pairs of neighbours who have not met; None if none were found in so many tries."""
    if not order:
        return []
    one, *rest = order
    for other in rest:
        if frozenset((one, other)) in met:
            continue
        tries[0] -= 1
        if tries[0] < 0:
            return None
        found = _pair_up([two for two in rest if two != other], met, tries)
        if found is not None:
            return [(one, other), *found]
    return None


def score(games: Iterable[Game]) -> defaultdict[int, float]:
    """Return the points of each player."""
    points: defaultdict[int, float] = defaultdict(float)
    for game in games:
        for color in (BLACK, WHITE):
            points[game.plan.player(color)] += game.points(color)
    return points
