"""Ratings: how strong each player was, with 95 % intervals.

The model is Bradley's and Terry's: a player stronger by 400 Elo scores ten points for each of the
other's. A draw is half a point, whatever the share of draws. Ratings make everybody's expected
points equal to those that were made, plus one drawn game for each pairing that was played: that
takes away most of the bias of the logarithm (J. Haldane, F. Anscombe, 1956), and a player who won
every game has a finite rating.

Intervals come from what the pairs of games show (the "sandwich" of P. Huber and H. White, with a
pair as one observation): games of one opening may depend on each other, and draws make them
narrower.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from harness.match.records import BOTH, Game
from harness.typed import NamedTuple
from oracle.position import BLACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ELO = 400 / math.log(10)  # Elo for a natural logarithm of odds
WIDTH = 1.959964  # standard errors to either side, for 95 %
_STEPS = 50
_CLOSE = 1e-10


class Rating(NamedTuple):
    """A rating in Elo, and half the width of its interval."""

    elo: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval."""
        return self.elo - self.error, self.elo + self.error


class Ratings:
    """The ratings of all players: the mean is 0. Players without games have 0 ± infinity."""

    def __init__(self, players: int, games: Iterable[Game]) -> None:
        counted = [game for game in games if game.reason != BOTH]
        rows = [
            (one.plan.black, one.plan.white, one.points(BLACK), one.plan.pair) for one in counted
        ]
        self._played = {place for row in rows for place in row[:2]}
        self._solve(players, np.array(rows or np.zeros((0, 4))))

    @classmethod
    def of_pairs(cls, points: Any) -> Ratings:
        """Return the ratings of two players, from the first one's points in each pair."""
        made = cls(2, ())
        made._played = {0, 1}
        pair = np.repeat(np.arange(len(points)), 2)
        half = np.repeat(np.asarray(points, dtype=float) / 2, 2)
        zeros = np.zeros(len(pair))
        made._solve(2, np.column_stack([zeros, zeros + 1, half, pair]))
        return made

    def _solve(self, players: int, rows: Any) -> None:
        """Find the ratings, by Newton's method; rows: Black, White, Black's points, pair."""
        black, white = rows[:, 0].astype(int), rows[:, 1].astype(int)
        points, pair = rows[:, 2], rows[:, 3]
        low, high = np.minimum(black, white), np.maximum(black, white)
        met = np.unique(np.column_stack([low, high]), axis=0)
        black, white = np.append(black, met[:, 0]), np.append(white, met[:, 1])
        points = np.append(points, np.full(len(met), 0.5))
        pair = np.append(pair, -1 - np.arange(len(met)))
        found = np.zeros(players)
        for _ in range(_STEPS):
            expected = 1 / (1 + np.exp(found[white] - found[black]))
            missing = points - expected
            slope = np.zeros(players)
            np.add.at(slope, black, missing)
            np.add.at(slope, white, -missing)
            bread = self._bread(players, black, white, expected)
            step = bread @ slope
            found += np.clip(step, -2, 2)
            if np.abs(step).max(initial=0) < _CLOSE:
                break
        self._logits = found
        _, cluster = np.unique(pair, return_inverse=True)
        shares = np.zeros((cluster.max(initial=-1) + 1, players))
        np.add.at(shares, (cluster, black), missing)
        np.add.at(shares, (cluster, white), -missing)
        # What was added varies as a game would: few pairs that end alike do not make us certain.
        added = slice(len(points) - len(met), len(points))
        least = np.sqrt(expected * (1 - expected))[added]
        rows_of = cluster[added], black[added], white[added]
        for place, one, other, missed, wide in zip(*rows_of, missing[added], least, strict=True):
            shares[place, one], shares[place, other] = (1, -1) if missed >= 0 else (-1, 1)
            shares[place] *= max(abs(missed), wide)
        count = max(2, len(shares))
        self._covariance = bread @ (shares.T @ shares) @ bread * count / (count - 1)

    @staticmethod
    def _bread(players: int, black: Any, white: Any, expected: Any) -> Any:
        """Return the inverse of the information, where the ratings' sum is held."""
        weight = expected * (1 - expected)
        information = np.zeros((players, players))
        for one, other, sign in ((black, black, 1), (white, white, 1), (black, white, -1)):
            np.add.at(information, (one, other), sign * weight)
            if sign < 0:
                np.add.at(information, (other, one), sign * weight)
        return np.linalg.pinv(information, hermitian=True)

    def of(self, player: int) -> Rating:
        """Return a player's rating."""
        if player not in self._played:
            return Rating(0.0, math.inf)
        error = math.sqrt(max(0.0, self._covariance[player, player]))
        return Rating(float(self._logits[player]) * ELO, WIDTH * ELO * error)

    def difference(self, one: int, other: int) -> Rating:
        """Return by how much a player is stronger than another."""
        if not {one, other} <= self._played:
            return Rating(0.0, math.inf)
        chosen = self._covariance
        variance = chosen[one, one] + chosen[other, other] - 2 * chosen[one, other]
        logit = float(self._logits[one] - self._logits[other])
        return Rating(logit * ELO, WIDTH * ELO * math.sqrt(max(0.0, variance)))
