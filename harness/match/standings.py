"""Standings of a match: points, ratings, and weaker players; also as text. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from harness.core.text import at_most, number_of, one_line
from harness.core.typed import NamedTuple
from harness.match.ratings import REJECTED, Rating, Ratings, SprtCourse
from harness.match.records import BOTH, Game, Match, Player
from harness.match.tournament import MatchResult
from oracle.position import BLACK, WHITE, opponent

_NAME = 24  # columns
_SHOWN = 5  # games that were not played


class Score(NamedTuple):
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return sum(self)

    @property
    def points(self) -> float:
        """A win is a point, a draw a half."""
        return self.wins + self.draws / 2

    def __add__(self, other: "Score") -> "Score":  # type: ignore[override]
        return Score(*map(sum, zip(self, other, strict=True)))

    def __str__(self) -> str:
        return f"{self.wins}-{self.losses}" + (f"-{self.draws}" if self.draws else "")


_OF_GAME = {1.0: Score(1, 0, 0), 0.5: Score(0, 1, 0), 0.0: Score(0, 0, 1)}  # by its points


class Standing:
    """Result of a player. ``place``: among the players as they were named, from 0."""

    def __init__(self, place: int, player: Player, missed: int, rating: Rating) -> None:
        self.place, self.player = place, player
        self.colors = {BLACK: Score(), WHITE: Score()}
        self.against: defaultdict[int, Score] = defaultdict(Score)
        self.won: Counter[str] = Counter()  # by reason
        self.lost: Counter[str] = Counter()
        self.missed = missed  # games that it sat out
        self.seconds = 0.0
        self.moves = 0
        self.rating = rating

    @property
    def score(self) -> Score:
        """All games."""
        return self.colors[BLACK] + self.colors[WHITE]

    @property
    def points(self) -> float:
        """The points that rank it: a game that it sat out is won."""
        return self.score.points + self.missed

    def add(self, game: Game, color: int) -> None:
        """Count a game in which it had a color."""
        points, other = game.points(color), game.plan.player(opponent(color))
        self.colors[color] += _OF_GAME[points]
        self.against[other] += _OF_GAME[points]
        if points != 0.5:
            (self.won if points else self.lost)[game.reason] += 1
        self.seconds += game.seconds[color - 1]
        self.moves += sum(one == color for one, _ in game.moves)


class Comparison(NamedTuple):
    """Whether a player is weaker than the baseline."""

    player: Player
    baseline: Player
    difference: Rating
    is_weaker: bool

    def __str__(self) -> str:
        low, high = self.difference.interval
        found = f"{self.difference.elo:+.0f} Elo, 95 % interval {low:+.0f} to {high:+.0f}"
        is_weaker = "is" if self.is_weaker else "is not"
        return f"{self.player.name} {is_weaker} weaker than {self.baseline.name}: {found}"


class Standings:
    def __init__(self, result: MatchResult) -> None:
        self.result = result
        players, games = result.match.players, result.games
        self.ratings = Ratings(
            len(players),
            [
                (one.plan.black, one.plan.white, one.points(BLACK), one.plan.pair)
                for one in games
                if one.reason != BOTH
            ],
        )
        missed = result.schedule.missed(games)
        self.rows = [
            Standing(place, player, missed[place], self.ratings.of(place))
            for place, player in enumerate(players)
        ]
        self.reasons: Counter[str] = Counter(game.reason for game in games)
        for game in games:
            for color in (BLACK, WHITE):
                self.rows[game.plan.player(color)].add(game, color)

    @cached_property
    def ranked(self) -> list[Standing]:
        """The players, the best first: by points, then by rating, then as they were named."""
        return sorted(self.rows, key=lambda row: (-row.points, -row.rating.elo, row.place))

    @cached_property
    def ranks(self) -> dict[int, int]:
        """Return the rank of each player, from 1; who has as many points has the same."""
        points = [row.points for row in self.rows]
        return {row.place: 1 + sum(one > row.points for one in points) for row in self.rows}

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Compare everybody with the baseline, if there is one."""
        players, baseline = self.result.match.players, self.result.baseline
        verdict = self.result.course and self.result.course.verdict
        found = []
        for place, player in enumerate(players):
            if baseline is None or place == baseline:
                continue
            difference = self.ratings.difference(place, baseline)
            is_weaker = verdict == REJECTED if verdict else difference.interval[1] < 0
            found.append(Comparison(player, players[baseline], difference, is_weaker))
        return found


# --- As text, for a terminal ---------------------------------------------------------------------


def lines(standings: Standings) -> Iterator[str]:
    """Yield the report of a match."""
    result = standings.result
    yield f"{number_of(len(result.games), 'game')} of {result.match.rules.title}"
    yield ""
    names = [one_line(row.player.name, _NAME) for row in standings.ranked]
    width = max(6, *map(len, names))
    yield f"{'engine':{width}}  points  games  as Black  as White  Elo (95 %)"
    for name, row in zip(names, standings.ranked, strict=True):
        black, white = map(str, row.colors.values())
        shown = f"{row.points:6g}  {row.score.games:5}  {black:>8}  {white:>8}"
        yield f"{name:{width}}  {shown}  {row.rating}"
    yield ""
    yield f"ended by: {counts(standings.reasons)}" if standings.reasons else "no games"
    for name, row in zip(names, standings.ranked, strict=True):
        if row.lost:
            yield f"{name} lost by: {counts(row.lost)}"
    if result.course:
        yield from sprt_lines(result.course)
    yield from map(str, standings.comparisons)
    if disputed := sum(game.disputed for game in result.games):
        yield f"an engine counts another winner than the referee in {number_of(disputed, 'game')}"
    for line in at_most(unplayed(result), _SHOWN):
        yield f"not played, because the harness failed: {line}"
    if not result.is_whole:
        yield "the match is not over; with --journal the same command continues it"


def unplayed(result: MatchResult) -> list[str]:
    """Return a line for each game that the harness failed at."""
    return [f"game {plan.number + 1}: {why}" for plan, why in result.unplayed]


def sprt_lines(course: SprtCourse) -> Iterator[str]:
    """Yield how the test of a match went."""
    sprt, (low, high) = course.sprt, course.sprt.bounds
    verdict = {
        "H1": f"H1 accepted: stronger by {sprt.elo1:g} Elo rather than {sprt.elo0:g}",
        "H0": f"H0 accepted: stronger by {sprt.elo0:g} Elo rather than {sprt.elo1:g}",
    }.get(course.verdict or "", "not decided")
    llr = f"{course.last:.2f} ({low:.2f} to {high:.2f})"
    yield f"SPRT: LLR {llr} after {len(course.llr)} pairs: {verdict}"
    yield f"pairs with 0, 1/2, 1, 3/2, 2 points: {', '.join(map(str, course.counts))}"
    told = ", ".join(f"{count:.0f} at {elo:+g}" for elo, count in course.expected_games.items())
    yield f"expected games: {told} Elo"


def counts(reasons: Mapping[str, int]) -> str:
    """Return how often each reason came, the most frequent first."""
    ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{reason} {count}" for reason, count in ordered if count)


def game_line(game: Game, match: Match) -> str:
    black, white = match.names(game, _NAME)
    why = f"{game.reason}: {game.detail}" if game.detail else game.reason
    return f"game {game.plan.number + 1}: {black} - {white}  {game.result}  ({one_line(why, 100)})"
