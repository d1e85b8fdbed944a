"""A match from its first game to its last: in parallel, resumed, stopped when it is decided."""

import fcntl
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import combinations
from typing import Any

from harness.core.errors import BusyError, UsageError
from harness.core.processes import processors
from harness.core.typed import NamedTuple
from harness.match.game import Arbiter
from harness.match.ratings import Sprt, SprtCourse
from harness.match.records import Game, Match, Plan, game_from_json
from harness.running.jobs import Fault, run_all
from oracle.position import BLACK, WHITE

# --- Who plays whom: pairs of games with one opening, in rounds. Pure ----------------------------

ROUND_ROBIN, SWISS, GAUNTLET = FORMATS = ("round-robin", "swiss", "gauntlet")
_ROUNDS = 2  # of a Swiss, besides those that find a winner
_MOST_TRIES = 20_000  # of pairings of a round
Pairings = list[tuple[int, int]]


class Schedule(NamedTuple):
    format: str
    players: int
    games: int  # of each pairing; two share an opening
    openings: int = 1
    rounds: int = 0  # of a Swiss; 0: as many as the players need

    @property
    def all_rounds(self) -> int:
        if self.format != SWISS:
            return 1
        most = self.players - 1 + self.players % 2  # then everybody has met everybody
        return min(most, self.rounds or (self.players - 1).bit_length() + _ROUNDS)

    def round(self, number: int, games: Mapping[int, Game]) -> list[Plan]:
        """Return the plans of a round; ``games``: of those before, by number.

        The first pair of each pairing is played, then the second, and so on.
        """
        if self.format == SWISS:
            *_, pairings = self._swiss(number + 1, games.values())
        elif self.format == GAUNTLET:
            pairings = [(0, other) for other in range(1, self.players)]
        else:
            pairings = [*combinations(range(self.players), 2)]
        count = -(-self.games // 2)  # pairs of games of each pairing
        pair = number * (self.players // 2) * count  # Swiss: a round's pairs are as many
        plans = []
        for turn in range(count):
            opening = (number * count + turn) % self.openings
            for one, other in pairings:
                colors = ((one, other), (other, one))[: self.games - 2 * turn]
                for place, (black, white) in enumerate(colors):
                    plans.append(Plan(2 * pair + place, pair, black, white, opening, number))
                pair += 1
        return plans

    def _swiss(self, rounds: int, games: Iterable[Game]) -> Iterator[Pairings]:
        """Yield the pairings of rounds: players with as many points who have not met.

        If players are odd, one sits out, and nobody twice before all have; that counts as a win.
        """
        points: defaultdict[int, float] = defaultdict(float)
        missed, met = [0] * self.players, set[frozenset[int]]()
        by_round: defaultdict[int, list[Game]] = defaultdict(list)
        for game in games:
            by_round[game.plan.round].append(game)
        for number in range(rounds):
            order = sorted(range(self.players), key=lambda one: (-points[one] - missed[one], one))
            if self.players % 2:
                least = min(missed)
                resting = next(one for one in reversed(order) if missed[one] == least)
                order.remove(resting)
                missed[resting] += self.games
            found = _pair_up(order, met, [_MOST_TRIES])
            yield found or list(zip(order[::2], order[1::2], strict=True))
            for game in by_round[number]:
                met.add(frozenset((game.plan.black, game.plan.white)))
                for color in (BLACK, WHITE):
                    points[game.plan.player(color)] += game.points(color)

    def missed(self, games: Collection[Game]) -> list[int]:
        """Return how many games of a Swiss each player sat out: each counts as a win."""
        if self.format != SWISS:
            return [0] * self.players
        rounds = 1 + max((game.plan.round for game in games), default=-1)
        paired = Counter(one for some in self._swiss(rounds, games) for two in some for one in two)
        return [self.games * (rounds - paired[one]) for one in range(self.players)]


def _pair_up(
    order: list[int], pairs_played: set[frozenset[int]], tries: list[int]
) -> Pairings | None:
    """Return pairs of neighbours who have not met; None if none were found in so many tries."""
    if not order:
        return []
    one, *rest = order
    for other in rest:
        if frozenset((one, other)) in pairs_played:
            continue
        tries[0] -= 1
        if tries[0] < 0:
            return None
        found = _pair_up([two for two in rest if two != other], pairs_played, tries)
        if found is not None:
            return [(one, other), *found]
    return None


# --- The games on disk ---------------------------------------------------------------------------

SCHEMA, VERSION = "gtp-harness/match-journal", 1


class Journal:
    """The games so far, by their numbers: a match that was killed continues from here.

    A line of JSON each; the first one says what is played. A line is written at once and whole, or
    it is cut off when the file is opened again: no game counts twice, and none that was counted is
    lost. A file that is refused stays as it is.
    """

    def __init__(self, path: str = "", about: Mapping[str, Any] | None = None) -> None:
        """Open the file, or begin one; ``path``: "" keeps all in memory.

        ``about``: what is played: a match with other rules or players does not continue here.

        Raises:
            UsageError: the file is of another match, is damaged or cannot be written.
        """
        self.games: dict[int, Game] = {}
        self._name, self._file = f"--journal {path}", -1
        if path:
            head = {"schema": SCHEMA, "version": VERSION, **(about or {})}
            try:
                self._open(path, json.loads(json.dumps(head)))
            except OSError as error:
                raise UsageError(f"{self._name}: {error.strerror}") from None

    def _open(self, path: str, head: dict[str, Any]) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            # (flock would stay with processes that play games when this one is killed.)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"{self._name}: another process is at this match") from None
        size = os.fstat(self._file).st_size
        *lines, torn = os.pread(self._file, size, 0).split(b"\n")
        if not lines and not json.dumps(head).encode().startswith(torn):
            lines = [b""]  # the file is not even the beginning of a journal
        for number, line in enumerate(lines):
            try:
                if number:
                    game = game_from_json(json.loads(line))
                    self.games[game.plan.number] = game
                else:
                    self._compare(json.loads(line), head)
            except (ValueError, KeyError, TypeError):
                where = f"{self._name}: line {number + 1}"
                raise UsageError(f"{where} is not a game of a match; name a new file") from None
        os.ftruncate(self._file, size - len(torn))
        os.lseek(self._file, 0, os.SEEK_END)
        if not lines:
            self._write(head)

    def _compare(self, first_line: Any, head: Mapping[str, Any]) -> None:
        if first_line["schema"] != SCHEMA:
            raise ValueError
        for key, value in head.items():
            if first_line.get(key) != value:
                raise UsageError(
                    f"{self._name}: it is of another match: {key} was"
                    f" {json.dumps(first_line.get(key))[:200]}, and is {json.dumps(value)[:200]};"
                    " name a new file"
                )

    def add(self, game: Game) -> None:
        """Keep a game, on the disk before anybody is told.

        Raises:
            OSError: it cannot be written.
        """
        self.games[game.plan.number] = game
        if self._file >= 0:
            self._write(game.as_json())

    def _write(self, value: object) -> None:
        data = json.dumps(value).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Let others continue the match."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


# --- The match -----------------------------------------------------------------------------------

_ATTEMPTS = 3  # at a game that the harness failed at
_TOO_LATE = "the harness failed when its round was played"


class MatchResult(NamedTuple):
    match: Match
    schedule: Schedule
    games: tuple[Game, ...]  # that count, in the order of their numbers
    unplayed: tuple[tuple[Plan, str], ...] = ()  # the harness failed: why
    course: SprtCourse | None = None  # of the test
    is_whole: bool = True  # all games were played that were asked for, or the test has decided
    sandbox: str = "off"
    baseline: int | None = None  # the player that others must not be weaker than


class Tournament:
    """Holds a match. ``games`` are those so far, by their numbers."""

    def __init__(  # noqa: PLR0913, PLR0917 - what is played, how, and who is told
        self,
        arbiter: Arbiter,
        schedule: Schedule,
        journal: Journal,
        sprt: Sprt | None = None,
        on_game: Callable[[Game, Mapping[int, Game]], object] = lambda *_: None,
        baseline: int | None = None,
    ) -> None:
        """``on_game``: told of each game when it is kept, with all so far.

        ``baseline``: the player that others must not be weaker than, and that a test of two
        compares the other one with; None: the second in a test.
        """
        self._arbiter, self._schedule, self._journal = arbiter, schedule, journal
        self._course, self._on_game = SprtCourse(sprt) if sprt else None, on_game
        self.games: Mapping[int, Game] = journal.games
        self._baseline = 1 if sprt and baseline is None else baseline
        self._tested = 1 - (self._baseline or 0)
        self._pair = 0  # the first one that the test has not seen
        self._attempts: Counter[int] = Counter()  # that failed, by the number of the game
        self._faults: dict[int, tuple[Plan, str]] = {}
        self._is_over = False

    def hold(self) -> None:
        """Play all games that are not played yet.

        Raises:
            KeyboardInterrupt: what was played is kept.
        """
        last = max((game.plan.round for game in self.games.values()), default=0)
        for number in range(self._schedule.all_rounds):
            plans = self._schedule.round(number, self.games)
            if number < last:  # later pairings stay what they are: they were made without these
                left = [plan for plan in plans if plan.number not in self.games]
                self._faults |= {plan.number: (plan, _TOO_LATE) for plan in left}
                continue
            while not self._decided():
                left = [plan for plan in plans if plan.number not in self.games]
                left = [plan for plan in left if self._attempts[plan.number] < _ATTEMPTS]
                if not left:
                    break
                self._play(left)
        self._is_over = True

    def _play(self, plans: list[Plan]) -> None:
        """Play games, until the test decides or waits for one that the harness failed at."""
        arbiter, at_a_time = self._arbiter, self._arbiter.match.options.jobs or processors()
        ended = run_all(
            plans, arbiter.play, at_a_time, lambda *_: None, arbiter.close, forked=True
        )
        with arbiter.dealing_cores(min(at_a_time, len(plans))), closing(ended):
            for index, found in ended:
                number = plans[index].number
                if isinstance(found, Fault):
                    self._attempts[number] += 1
                    self._faults[number] = plans[index], found.message
                    if self._course:
                        break
                    continue
                self._faults.pop(number, None)
                self._journal.add(found)
                self._on_game(found, self.games)
                if self._decided():
                    break

    def _decided(self) -> bool:
        """Whether the test has decided by the pairs before the first one that is not complete.

        So it does not matter which games end first, nor where a match was continued. A pair does
        not count if the harness has failed at one of its games for the last time.
        """
        course = self._course
        while course and not course.verdict:
            numbers = 2 * self._pair, 2 * self._pair + 1
            if all(one in self.games for one in numbers):
                games = [self.games[one] for one in numbers]
                course.add(sum(one.points_of(self._tested) for one in games))
            elif all(self._attempts[one] < _ATTEMPTS for one in numbers):
                break
            self._pair += 1
        return course is not None and course.verdict is not None

    def result(self) -> MatchResult:
        """Return all that is known, at the end or when the match is broken off."""
        most = self._pair if (decided := self._decided()) else float("inf")
        games = [self.games[number] for number in sorted(self.games)]
        faults = [self._faults[number] for number in sorted(self._faults)]
        return MatchResult(
            self._arbiter.match,
            self._schedule,
            tuple(game for game in games if game.plan.pair < most),
            tuple(fault for fault in faults if fault[0].pair < most),
            self._course,
            decided or (self._is_over and not faults),
            self._arbiter.sandbox,
            self._baseline,
        )
