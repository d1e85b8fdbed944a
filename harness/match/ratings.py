"""Ratings of players, with 95 % intervals, and the test that ends a match of two.

The model of ratings is Bradley's and Terry's: a player stronger by 400 Elo scores ten points for
each of the other's. A draw is half a point, whatever the share of draws. Ratings make everybody's
expected points equal to those that were made, plus one drawn game for each pairing that was
played: that takes away most of the bias of the logarithm (J. Haldane, F. Anscombe, 1956), and a
player who won every game has a finite rating.

Intervals come from what the pairs of games show (the "sandwich" of P. Huber and H. White, with a
pair as one observation): games of one opening may depend on each other, and draws make them
narrower.

The test is the generalized sequential probability ratio test that chess engines are tested with.
Two games of one opening with both colors are one observation with five outcomes (0, 0.5, 1, 1.5 or
2 points): what the opening gives to a color cancels out, so that fewer games are needed than if
each counted by itself. Sources: A. Wald, "Sequential Tests of Statistical Hypotheses" (1945);
M. Van den Bergh, "A practical introduction to the GSPRT" (2020), as fishtest and fastchess use it.
"""

import math
from collections import defaultdict
from collections.abc import Collection
from typing import Any

import numpy as np

from harness.core.typed import NamedTuple

ELO = 400 / math.log(10)  # Elo for a natural logarithm of odds
WIDTH = 1.959964  # standard errors to either side, for 95 %
_STEPS, _CLOSE = 50, 1e-10


class Rating(NamedTuple):
    """A rating in Elo, and half the width of its interval."""

    elo: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval."""
        return self.elo - self.error, self.elo + self.error

    def __str__(self) -> str:
        return "-" if math.isinf(self.error) else f"{self.elo:+5.0f} ± {self.error:.0f}"


class Ratings:
    """The ratings of all players: the mean is 0. Players without games have 0 ± infinity."""

    def __init__(self, players: int, results: Collection[tuple[int, int, float, int]]) -> None:
        """``results``: of each game Black, White, Black's points and the pair it belongs to."""
        points, games = np.zeros((2, players, players))  # of the one against the other
        for black, white, share, _ in results:
            points[black, white] += share
            points[white, black] += 1 - share
            games[(black, white), (white, black)] += 1
        met: Any = games > 0
        self._played, self._logits = met.any(axis=1), np.zeros(players)
        for _ in range(_STEPS):  # Newton's method
            expected = 1 / (1 + np.exp(self._logits - self._logits[:, np.newaxis]))
            weights = (games + met) * expected * (1 - expected)
            missing = points + met / 2 - (games + met) * expected
            inverse = np.linalg.pinv(_laplacian(weights), hermitian=True)
            step = inverse @ missing.sum(axis=1)
            self._logits += np.clip(step, -2, 2)
            if np.abs(step).max(initial=0) < _CLOSE:
                break
        by_pair: defaultdict[tuple[int, int, int], float] = defaultdict(float)
        for black, white, share, pair in results:
            missed = share - expected[black, white]
            by_pair[min(black, white), max(black, white), pair] += (
                missed if black < white else -missed
            )
        # What was added varies as a game would: few pairs that end alike do not make us certain.
        squares: Any = met * np.maximum((0.5 - expected) ** 2, expected * (1 - expected))
        for (one, other, _), missed in by_pair.items():
            squares[(one, other), (other, one)] += missed**2
        count = max(2, len(by_pair) + met.sum() // 2)
        self._covariance = inverse @ _laplacian(squares) @ inverse * count / (count - 1)

    def of(self, player: int) -> Rating:
        return self._combine({player: 1})

    def difference(self, one: int, other: int) -> Rating:
        """Return by how much a player is stronger than another."""
        return self._combine({one: 1, other: -1})

    def _combine(self, signs: dict[int, int]) -> Rating:
        if not all(self._played[one] for one in signs):
            return Rating(0.0, math.inf)
        factors = np.zeros(len(self._logits))
        for player, sign in signs.items():
            factors[player] = sign
        variance = max(0.0, float(factors @ self._covariance @ factors))
        return Rating(float(factors @ self._logits) * ELO, WIDTH * ELO * math.sqrt(variance))


def _laplacian(weights: Any) -> Any:
    return np.diag(weights.sum(axis=1)) - weights


# --- The sequential test -------------------------------------------------------------------------

ACCEPTED, REJECTED = "H1", "H0"
_SHARES = np.arange(5) / 4  # of the points of a pair
_EVEN = 0.125  # the variance of a pair's share of the points, if no game is drawn
# Pairs with that variance, besides those that were played: a few pairs that happen to end alike
# say little of the true one, and would decide at once.
_PRIOR = 8


class Sprt(NamedTuple):
    """H1, that the first engine is stronger by ``elo1``, against H0, by ``elo0``."""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05  # the chance that H1 is accepted where H0 is true
    beta: float = 0.05  # the chance that H0 is accepted where H1 is true

    @property
    def bounds(self) -> tuple[float, float]:
        """Return below and above which log-likelihood ratio it is decided."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Any) -> Any:
        """Return the log-likelihood ratio; ``counts``: of the five outcomes, along the first axis.

        Numbers or arrays: then one for each place.
        """
        total, mean, variance = _moments(counts)
        away = [variance + (mean - expected_score(elo)) ** 2 for elo in (self.elo0, self.elo1)]
        return total * np.log(away[0] / away[1]) / 2

    def expected_pairs(self, elo: float, variance: float) -> float:
        """Return how many pairs are needed on average where one is stronger by ``elo``.

        ``variance``: of a pair's points, divided by two. By Wald's approximation: a match takes a
        little longer, because the last pair leads beyond a bound.
        """
        low, high = self.bounds
        first, second = map(expected_score, (self.elo0, self.elo1))
        step = (second - first) / variance
        drift = step * (expected_score(elo) - (first + second) / 2)
        spread = step * (second - first)  # the variance of a step
        if abs(drift) < 1e-6 * spread:
            return -low * high / spread
        tilt = -2 * drift / spread
        accepted = (1 - math.exp(tilt * low)) / (math.exp(tilt * high) - math.exp(tilt * low))
        return (accepted * high + (1 - accepted) * low) / drift


class SprtCourse:
    """Course of a test by pairs; those after the decision do not count."""

    def __init__(self, sprt: Sprt) -> None:
        self.sprt = sprt
        self.llr: list[float] = []  # after each pair
        self.counts = [0] * len(_SHARES)
        self.verdict: str | None = None  # ACCEPTED (H1), REJECTED (H0 is accepted), or None

    def add(self, points: float) -> None:
        """Take in the points of the first engine in the next pair."""
        if self.verdict:
            return
        self.counts[round(2 * points)] += 1
        self.llr.append(float(self.sprt.llr(self.counts)))
        low, high = self.sprt.bounds
        if not low < self.llr[-1] < high:
            self.verdict = ACCEPTED if self.llr[-1] >= high else REJECTED

    @property
    def last(self) -> float:
        """Return the log-likelihood ratio now."""
        return self.llr[-1] if self.llr else 0.0

    @property
    def expected_games(self) -> dict[float, float]:
        """Return how many games are needed on average, by the true difference in Elo."""
        sprt, variance = self.sprt, float(_moments(self.counts)[2])
        strengths = (sprt.elo0, (sprt.elo0 + sprt.elo1) / 2, sprt.elo1)
        return {one: 2 * sprt.expected_pairs(one, variance) for one in strengths}


def _moments(counts: Any) -> tuple[Any, Any, Any]:
    """Return the number of pairs, and mean and variance of their points, divided by two."""
    counts = np.asarray(counts, dtype=float)
    total = counts.sum(axis=0)
    shares = _SHARES.reshape((5,) + (1,) * (counts.ndim - 1))
    mean = (counts * shares).sum(axis=0) / np.maximum(total, 1)
    squares = (counts * (shares - mean) ** 2).sum(axis=0)
    return total, mean, (squares + _PRIOR * _EVEN) / (total + _PRIOR)


def expected_score(elo: float) -> float:
    """Return the share of points of a player who is stronger by ``elo``."""
    return 1 / (1 + 10 ** (-elo / 400))
