"""Matches for tests: of players that draw their moves, and of games that nobody played."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.core.options import Limits, Options
from harness.match.game import Arbiter
from harness.match.records import Game, Match, Plan, Player, Rules
from harness.match.tournament import ROUND_ROBIN, Journal, MatchResult, Schedule, Tournament
from oracle.position import BLACK, WHITE

PLAYER = str(Path(__file__).parents[2] / "engines" / "players.py")
PYTHON = (sys.executable, "-S", "-E")  # which start soon
LIMITS = Limits(timeout=1.0, startup=20.0)


def player(name: str, habit: str = "", dice: int = 1) -> Player:
    """Return a player with a habit."""
    return Player(name, habit, (*PYTHON, PLAYER, habit, str(dice)))


def match(*players: Player, **more: Any) -> Match:
    """Return a match on a small board."""
    rules = Rules(size=(5, 5), komi="0.5")._replace(**more.pop("rules", {}))
    options = Options(limits=LIMITS, jobs=1)._replace(**more.pop("options", {}))
    return Match(players, rules, options=options, place=str(Path.cwd()))._replace(**more)


@contextmanager
def arbiter(result: Match) -> Iterator[Arbiter]:
    """Give what plays single games."""
    found = Arbiter(result)
    try:
        yield found
    finally:
        found.close()


def hold(of: Match, games: int = 2, **more: Any) -> MatchResult:
    """Hold a match and return what came of it."""
    schedule = Schedule(ROUND_ROBIN, len(of.players), games, len(of.openings))
    schedule = schedule._replace(**more.pop("schedule", {}))
    with arbiter(of) as found:
        tournament = Tournament(found, schedule, more.pop("journal", None) or Journal(), **more)
        tournament.hold()
        return tournament.result()


def made(number: int, winner: int, players: tuple[int, int] = (0, 1), **more: Any) -> Game:
    """Return a game that nobody played: the players exchange colors in every second one."""
    black, white = players if number % 2 == 0 else players[::-1]
    plan = Plan(number, number // 2, black, white, 0, more.pop("round", 0))
    return Game(plan, winner, more.pop("reason", "score"), **more)


def by_first(points: Iterable[float]) -> list[Game]:
    """Return games of two in which the first one made these points."""
    colors = {0: BLACK, 1: WHITE}
    return [
        made(number, 0 if one == 0.5 else colors[number % 2] if one else 3 - colors[number % 2])
        for number, one in enumerate(points)
    ]
