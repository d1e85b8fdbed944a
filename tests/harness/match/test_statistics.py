"""Ratings and the sequential test against simulated matches of known strength."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from harness.match.ratings import (
    ACCEPTED,
    ELO,
    REJECTED,
    Ratings,
    Sprt,
    SprtCourse,
    expected_score,
)
from harness.match.records import Game
from tests.harness.match.made_matches import by_first, made
from tests.tiers import one_in

MATCHES = 2_000


def simulate(share: float, matches: int, pairs: int, draws: float, luck: float, seed: int) -> Any:
    """Return the first player's points in each pair of many matches.

    ``share``: of the points, on average. ``luck``: how much an opening helps one color.
    """
    dice = np.random.default_rng(seed)
    helped = dice.choice([-luck, luck], size=(matches, pairs))
    points = np.zeros((matches, pairs))
    for sign in (1, -1):
        drawn = dice.random((matches, pairs))
        wins = share - draws / 2 + sign * helped
        points += np.where(drawn < wins, 1.0, np.where(drawn < wins + draws, 0.5, 0.0))
    return points


def of_pairs(points: Any) -> list[tuple[int, int, float, int]]:
    """Return results of two players, from the first one's points in each pair."""
    return [(0, 1, one / 2, pair) for pair, one in enumerate(points) for _ in range(2)]


def rated(players: int, games: list[Game]) -> Ratings:
    """Return the ratings after some games."""
    plans = [game.plan for game in games]
    return Ratings(
        players,
        [(one.black, one.white, game.points(1), one.pair)
         for one, game in zip(plans, games, strict=True)],
    )  # fmt: skip


def decide(sprt: Sprt, course: Any) -> tuple[int | None, str | None]:
    """Return after which pair, from 0, a test was decided, and how."""
    low, high = sprt.bounds
    over = np.flatnonzero((course <= low) | (course >= high))
    if not len(over):
        return None, None
    return int(over[0]), ACCEPTED if course[over[0]] >= high else REJECTED


@pytest.mark.parametrize(
    ("elo", "draws", "luck"), one_in(2, [(200.0, 0.1, 0.05), (0.0, 0.0, 0.3)])
)
def test_intervals_cover_and_elo_is_unbiased(elo: float, draws: float, luck: float) -> None:
    points = simulate(expected_score(elo), MATCHES // 4, 50, draws, luck, seed=1)
    found = [Ratings(2, of_pairs(one)).difference(0, 1) for one in points]
    covered = sum(low <= elo <= high for low, high in (one.interval for one in found))
    assert 0.93 <= covered / len(found) <= 0.97
    mean = np.mean([one.elo for one in found])
    spread = np.std([one.elo for one in found]) / math.sqrt(len(found))
    assert abs(mean - elo) < max(1.0, 3 * spread)


@pytest.mark.parametrize(("draws", "luck"), [(0.0, 0.3), (0.2, 0.0)])
def test_the_test_errs_no_more_often_than_it_says(draws: float, luck: float) -> None:
    sprt, most = Sprt(0.0, 100.0), 300
    for elo, right in ((sprt.elo0, REJECTED), (sprt.elo1, ACCEPTED)):
        points = simulate(expected_score(elo), MATCHES, most, draws, luck, seed=int(elo) + 2)
        seen = np.rint(2 * points).astype(np.int8)
        counts = np.cumsum(np.arange(5)[:, None, None] == seen, axis=2, dtype=np.int16)
        ends = [decide(sprt, one) for one in sprt.llr(counts)]
        wrong = sum(verdict not in (right, None) for _, verdict in ends)
        undecided = sum(verdict is None for _, verdict in ends)
        # 5 %, and three standard errors of that
        assert wrong / MATCHES < 0.05 + 3 * math.sqrt(0.05 * 0.95 / MATCHES)
        assert undecided < MATCHES / 50
        needed = np.mean([end + 1 for end, _ in ends if end is not None])
        expected = sprt.expected_pairs(elo, float((points / 2).var()))
        assert expected < needed * 1.1
        assert needed < expected * 1.45 + 3


def follow(sprt: Sprt, pairs: list[float]) -> SprtCourse:
    """Return how a test goes that is told of one pair after the other."""
    course = SprtCourse(sprt)
    for points in pairs:
        course.add(points)
    return course


def test_a_test_stops_where_it_is_decided() -> None:
    sprt = Sprt(0.0, 100.0)
    course = follow(sprt, [2.0] * 1_000)
    assert course.verdict == ACCEPTED
    assert len(course.llr) < 50
    assert sum(course.counts) == len(course.llr)
    assert follow(sprt, [0.0] * 1_000).verdict == REJECTED
    assert follow(sprt, [1.0, 2.0]).verdict is None
    assert follow(sprt, []).llr == []


def test_two_players_are_rated_by_their_points() -> None:
    """One drawn game is added: 15.5 of 21."""
    ratings = rated(2, by_first([1] * 15 + [0] * 5))
    odds = 15.5 / 5.5
    assert ratings.difference(0, 1).elo == pytest.approx(ELO * math.log(odds), abs=0.01)
    assert ratings.of(0).elo == pytest.approx(-ratings.of(1).elo)


@pytest.mark.parametrize("points", [[1.0] * 20, [0.5] * 20, [1, 1, 0, 0] * 5, [1.0]])
def test_few_games_that_end_alike_do_not_make_us_certain(points: list[float]) -> None:
    found = rated(2, by_first(points)).difference(0, 1)
    assert 20 < found.error < 1_000


def test_many_players_are_rated_together() -> None:
    """Three players who never met in one place: A beat B as often as B beat C."""
    games = []
    for number in range(40):
        first, second = made(2 * number, 1, (0, 1)), made(2 * number + 1, 1, (1, 2))
        if number % 4 == 0:
            first, second = first._replace(winner=2), second._replace(winner=2)
        games += [
            first._replace(plan=first.plan._replace(black=0, white=1, pair=2 * number)),
            second._replace(plan=second.plan._replace(black=1, white=2, pair=2 * number + 1)),
        ]
    ratings = rated(4, games)
    assert ratings.of(0).elo > ratings.of(1).elo > ratings.of(2).elo
    step = ratings.difference(0, 1).elo
    assert ratings.difference(0, 2).elo == pytest.approx(2 * step, abs=0.1)
    assert math.isinf(ratings.of(3).error)
    assert rated(2, []).of(0).elo == 0
