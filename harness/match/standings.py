"""What the games of a match show together: points by color and reason, and who beat whom. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

from harness.match.ratings import Rating, Ratings
from harness.match.records import Game, Player
from harness.match.sprt import REJECTED
from harness.match.tournament import MatchResult
from harness.typed import NamedTuple
from oracle.position import BLACK, WHITE, opponent


class Score(NamedTuple):
    """Wins, draws and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(self)

    @property
    def points(self) -> float:
        """A win is a point, a draw a half."""
        return self.wins + self.draws / 2

    def with_points(self, points: float) -> Score:
        """Return the score after one more game."""
        return Score(
            self.wins + (points == 1), self.draws + (points == 0.5), self.losses + (points == 0)
        )

    def __str__(self) -> str:
        return f"{self.wins}-{self.losses}" + (f"-{self.draws}" if self.draws else "")


class Standing:
    """How one player did. ``place``: among the players as they were named, from 0."""

    def __init__(self, place: int, player: Player) -> None:
        self.place, self.player = place, player
        self.colors = {BLACK: Score(), WHITE: Score()}
        self.against: defaultdict[int, Score] = defaultdict(Score)
        self.won: Counter[str] = Counter()  # by reason
        self.lost: Counter[str] = Counter()
        self.missed = 0  # games that it sat out
        self.disputed = 0  # in which it counted another winner than the referee
        self.seconds = 0.0
        self.moves = 0
        self.rating = Rating(0.0, 0.0)

    @property
    def score(self) -> Score:
        """All games."""
        return Score(*map(sum, zip(*self.colors.values(), strict=True)))

    @property
    def points(self) -> float:
        """The points that rank it: a game that it sat out is won."""
        return self.score.points + self.missed

    def note(self, game: Game, color: int) -> None:
        """Count a game in which it had a color."""
        points, other = game.points(color), game.plan.player(opponent(color))
        self.colors[color] = self.colors[color].with_points(points)
        self.against[other] = self.against[other].with_points(points)
        if points != 0.5:
            (self.won if points else self.lost)[game.reason] += 1
        self.seconds += game.seconds[color - 1]
        self.moves += sum(one == color for one, _ in game.moves)


class Comparison(NamedTuple):
    """Whether a player is weaker than the baseline."""

    player: int
    baseline: int
    difference: Rating
    is_weaker: bool

    def sentence(self, players: Sequence[Player]) -> str:
        """Say what was found."""
        one, other = players[self.player].name, players[self.baseline].name
        low, high = self.difference.interval
        found = f"{self.difference.elo:+.0f} Elo, 95 % interval {low:+.0f} to {high:+.0f}"
        return f"{one} is {'' if self.is_weaker else 'not '}weaker than {other}: {found}"


class Standings:
    """The standings of a match."""

    def __init__(self, result: MatchResult) -> None:
        self.result = result
        players = result.match.players
        self.rows = [Standing(place, player) for place, player in enumerate(players)]
        self.reasons: Counter[str] = Counter(game.reason for game in result.games)
        for game in result.games:
            for color in (BLACK, WHITE):
                self.rows[game.plan.player(color)].note(game, color)
        for row, missed in zip(self.rows, result.schedule.missed(result.games), strict=True):
            row.missed = missed
        self.ratings = Ratings(len(players), result.games)
        for row in self.rows:
            row.rating = self.ratings.of(row.place)

    @cached_property
    def ranked(self) -> list[Standing]:
        """The players, the best first: by points, then by rating, then as they were named."""
        return sorted(self.rows, key=lambda row: (-row.points, -row.rating.elo, row.place))

    @property
    def ranks(self) -> dict[int, int]:
        """Return the rank of each player, from 1; who has as many points has the same."""
        points = [row.points for row in self.rows]
        return {row.place: 1 + sum(one > row.points for one in points) for row in self.rows}

    @property
    def comparisons(self) -> list[Comparison]:
        """Compare everybody with the baseline, if there is one."""
        baseline = self.result.baseline
        if baseline is None:
            return []
        return [self._compare(row.place, baseline) for row in self.rows if row.place != baseline]

    def _compare(self, player: int, baseline: int) -> Comparison:
        found, course = self.ratings.difference(player, baseline), self.result.course
        if course and course.verdict:
            return Comparison(player, baseline, found, course.verdict == REJECTED)
        return Comparison(player, baseline, found, found.interval[1] < 0)
