"""When a match of two has been long enough: a sequential probability ratio test of pairs of games.

The test is the generalized one that chess engines are tested with. Two games of one opening with
both colors are one observation with five outcomes (0, 0.5, 1, 1.5 or 2 points): what the opening
gives to a color cancels out, so that fewer games are needed than if each counted by itself.

Sources: A. Wald, "Sequential Tests of Statistical Hypotheses" (1945); M. Van den Bergh, "A
practical introduction to the GSPRT" (2020), as fishtest and fastchess use it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness.typed import NamedTuple

ACCEPTED, REJECTED = "H1", "H0"
_POINTS = (0.0, 0.5, 1.0, 1.5, 2.0)  # of a pair
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
        return (
            math.log(self.beta / (1 - self.alpha)),
            math.log((1 - self.beta) / self.alpha),
        )

    def llr(self, counts: Any) -> Any:
        """Return the log-likelihood ratio; ``counts``: of the five outcomes, along the first axis.

        Numbers or arrays: then one for each place.
        """
        counts = np.asarray(counts, dtype=float)
        total = counts.sum(axis=0)
        values = np.array(_POINTS).reshape((5,) + (1,) * (counts.ndim - 1)) / 2
        mean = (counts * values).sum(axis=0) / total
        squares = (counts * (values - mean) ** 2).sum(axis=0)
        variance = (squares + _PRIOR * _EVEN) / (total + _PRIOR)
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


class Course(NamedTuple):
    """How a test went."""

    llr: tuple[float, ...] = ()  # after each pair
    counts: tuple[int, ...] = (0,) * 5
    verdict: str | None = None  # ACCEPTED (H1), REJECTED (H0 is accepted), or None

    @property
    def variance(self) -> float:
        """Return the variance of a pair's points, divided by two; as :meth:`Sprt.llr` has it."""
        counts, values = np.array(self.counts, dtype=float), np.array(_POINTS) / 2
        total = max(1.0, counts.sum())
        squares = counts @ (values - counts @ values / total) ** 2
        return float((squares + _PRIOR * _EVEN) / (counts.sum() + _PRIOR))


class SprtProgress:
    """A test that goes on pair by pair; what comes after the decision does not count."""

    def __init__(self, sprt: Sprt) -> None:
        self._sprt = sprt
        self._llr: list[float] = []
        self._counts = [0] * len(_POINTS)
        self.verdict: str | None = None

    def go_on(self, pairs: Iterable[float]) -> None:
        """Take in the points of the first engine in the next pairs, in their order."""
        for points in pairs:
            if self.verdict:
                return
            self._counts[round(2 * points)] += 1
            self._llr.append(float(self._sprt.llr(self._counts)))
            _, self.verdict = decide(self._sprt, self._llr[-1:])

    @property
    def pairs(self) -> int:
        """How many pairs count so far."""
        return len(self._llr)

    @property
    def course(self) -> Course:
        """How the test went so far."""
        return Course(tuple(self._llr), tuple(self._counts), self.verdict)


def decide(sprt: Sprt, course: Sequence[float]) -> tuple[int | None, str | None]:
    """Return after which pair, from 0, a test was decided, and how."""
    low, high = sprt.bounds
    over = np.flatnonzero((np.asarray(course) <= low) | (np.asarray(course) >= high))
    if not len(over):
        return None, None
    return int(over[0]), ACCEPTED if course[over[0]] >= high else REJECTED


def expected_score(elo: float) -> float:
    """Return the share of points of a player who is stronger by ``elo``."""
    return 1 / (1 + 10 ** (-elo / 400))
