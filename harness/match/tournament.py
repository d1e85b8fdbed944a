"""A match from its first game to its last: in parallel, resumed, stopped when it is decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing

from harness.match.arbiter import Arbiter
from harness.match.journal import Journal
from harness.match.records import Game, Match, Plan
from harness.match.schedule import Schedule
from harness.match.sprt import Course, Sprt, SprtProgress
from harness.processes import processors
from harness.running.jobs import Fault, run_all
from harness.typed import NamedTuple
from oracle.position import BLACK, WHITE

_ATTEMPTS = 3  # at a game that the harness failed at


class MatchResult(NamedTuple):
    """What became of a match."""

    match: Match
    schedule: Schedule
    games: tuple[Game, ...]  # that count, in the order of their numbers
    unplayed: tuple[tuple[Plan, str], ...] = ()  # the harness failed: why
    sprt: Sprt | None = None
    course: Course | None = None  # of the test
    is_whole: bool = True  # all games were played that were asked for, or the test has decided
    sandbox: str = "off"
    baseline: int | None = None  # the player that others must not be weaker than


Listener = Callable[[Game, Mapping[int, Game]], object]


class Tournament:
    """Holds a match. ``games`` are those so far, by their numbers."""

    def __init__(
        self,
        arbiter: Arbiter,
        schedule: Schedule,
        journal: Journal,
        sprt: Sprt | None = None,
        on_game: Listener = lambda *_: None,
    ) -> None:
        """``on_game``: told of each game when it is kept, with all so far."""
        self._arbiter, self._schedule, self._journal = arbiter, schedule, journal
        self._sprt, self._on_game = sprt, on_game
        self._test = SprtProgress(sprt) if sprt else None
        self.games: Mapping[int, Game] = journal.games
        self._faults: dict[int, tuple[Plan, str]] = {}
        self._left = 0  # games that are still to be played

    def hold(self) -> None:
        """Play all games that are not played yet.

        Raises:
            KeyboardInterrupt: what was played is kept.
        """
        for number in range(self._schedule.all_rounds):
            plans = self._schedule.round(number, self.games)
            self._left = 1  # rounds after it, at least, if it is broken off
            self._play_round(plans)
        self._left = 0

    def _play_round(self, plans: Collection[Plan]) -> None:
        attempts: Counter[int] = Counter()
        left = [plan for plan in plans if plan.number not in self.games]
        while left and not self._decided():
            again = [plan for plan in self._play(left) if attempts[plan.number] < _ATTEMPTS - 1]
            attempts.update(plan.number for plan in again)
            left = again

    def _play(self, plans: list[Plan]) -> list[Plan]:
        """Play games, until the test decides; return those that the harness failed at."""
        failed: list[Plan] = []
        arbiter, at_a_time = self._arbiter, self._arbiter.match.options.jobs or processors()
        ended = run_all(
            plans,
            arbiter.play,
            at_a_time,
            lambda *_: None,
            arbiter.close,
            forked=True,
        )
        with arbiter.dealing_cores(min(at_a_time, len(plans))), closing(ended):
            for index, found in ended:
                if isinstance(found, Fault):
                    failed.append(plans[index])
                    self._faults[plans[index].number] = plans[index], found.message
                    continue
                self._faults.pop(found.plan.number, None)
                self._journal.add(found)
                self._on_game(found, self.games)
                if self._decided():
                    break
        return failed

    def _decided(self) -> bool:
        """Whether the test has decided by the pairs before the first one that is not complete.

        So it does not matter which games end first, nor where a match was continued.
        """
        if self._test is None:
            return False
        self._test.go_on(_pairs(self.games, self._test.pairs))
        return self._test.verdict is not None

    def result(self, baseline: int | None = None) -> MatchResult:
        """Return all that is known, at the end or when the match is broken off."""
        decided = self._decided()
        games = [self.games[number] for number in sorted(self.games)]
        if decided and self._test:
            games = [game for game in games if game.plan.pair < self._test.pairs]
        return MatchResult(
            self._arbiter.match,
            self._schedule,
            tuple(games),
            tuple(self._faults[number] for number in sorted(self._faults)),
            self._sprt,
            self._test.course if self._test else None,
            decided or not (self._left or self._faults),
            self._arbiter.sandbox,
            baseline,
        )


def _pairs(games: Mapping[int, Game], first: int) -> Iterator[float]:
    """Yield the points of the first player in each pair, up to one that is not complete."""
    number = 2 * first
    while number in games and number + 1 in games:
        both = games[number], games[number + 1]
        yield sum(one.points(BLACK if one.plan.black == 0 else WHITE) for one in both)
        number += 2
