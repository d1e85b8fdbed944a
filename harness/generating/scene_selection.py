"""The choice of scenes: first those that together catch the mistakes, then those that add most.

What a scene adds is counted in features, sizes and kinds of answers, the rarer the more. Pure.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

from harness.generating.records import Staged
from harness.judging.cover import smallest
from harness.vocabulary.scenes import SceneMoment

PER_GAME = 3  # scenes of one game
_EFFORT = 0.02  # what a command of the setup counts against a scene: short ones are read


class SceneChoice:
    """Scenes chosen so far, and what they cover.

    Attributes: ``chosen``; ``caught``, the mistakes, as bits, and ``beside``, those that other
    cases catch, which need not be caught; ``tests``, how many they are.
    """

    def __init__(self, most: int, quotas: Mapping[str, int], beside: int = 0) -> None:
        self.chosen: list[Staged] = []
        self.caught = 0
        self.beside = beside
        self.tests = 0
        self._most = most
        self._quotas = quotas
        self._identities: set[object] = set()
        self._games: Counter[str] = Counter()
        self._moments: set[tuple[str, int]] = set()
        self._covered: Counter[object] = Counter()

    @property
    def done(self) -> int:
        """The mistakes that need no more tests, as bits."""
        return self.caught | self.beside

    def exclude(self, identities: Iterable[object]) -> None:
        """Take no test that is the same as one of these."""
        self._identities.update(identities)

    def is_open(self, staged: Staged) -> bool:
        """Return whether a scene may be taken."""
        return (
            self.tests + len(staged.asked) <= self._most
            and self._identities.isdisjoint(one.identity for one in staged.asked)
            and self._is_new(staged.scene.find.moment)
        )

    def _is_new(self, moment: SceneMoment) -> bool:
        """Return whether a game may give this moment: each once, and few of one game."""
        game = moment.origin.game
        seen = (game, moment.number) in self._moments or self._games[game] >= PER_GAME
        return not (game and seen)

    def take(self, staged: Staged) -> None:
        """Take a scene."""
        self.chosen.append(staged)
        self.caught |= staged.caught
        self.tests += len(staged.asked)
        self._identities.update(one.identity for one in staged.asked)
        moment = staged.scene.find.moment
        self._games[moment.origin.game] += 1
        self._moments.add((moment.origin.game, moment.number))
        self._covered.update(_kinds(staged))

    def catch(self, candidates: Sequence[Staged]) -> None:
        """Take few tests that catch what candidates can catch and nothing has caught yet.

        Fewest scenes are not always fewest tests: both ways are tried, and the better is taken.
        """
        ordered = sorted(candidates, key=_effort)  # of two as good, the first is taken
        attempts = [self._attempt(ordered, how) for how in (_fewest, _densest)]
        best = max(attempts, key=lambda one: (one.done.bit_count(), -one.tests))
        for staged in best.chosen[len(self.chosen) :]:
            self.take(staged)

    def _attempt(self, candidates: Sequence[Staged], how: Plan) -> SceneChoice:
        """Return this choice after taking what a plan says, again and again: some close others."""
        tried = copy.deepcopy(self, {id(one): one for one in self.chosen})
        while True:
            able = [one for one in candidates if one.caught & ~tried.done and tried.is_open(one)]
            if not able:
                return tried
            for one in how(able, tried.done):
                if tried.is_open(one):
                    tried.take(one)

    def cover(self, candidates: Sequence[Staged]) -> None:
        """Fill up with scenes that cover what is covered least."""
        while able := [one for one in candidates if self.is_open(one)]:
            self.take(max(able, key=self._gain))

    def _gain(self, staged: Staged) -> tuple[float, bool, int]:
        """Return what a scene adds for each of its tests; a real game's position comes first."""
        find = staged.scene.find
        short = max(0, self._quotas[find.feature] - self._covered[find.feature])
        gain = 8.0 * short + sum(1 / (1 + 2 * self._covered[kind]) for kind in _kinds(staged))
        effort = _EFFORT * len(staged.scene.steps)
        return gain / len(staged.asked) - effort, bool(find.moment.origin.game), -find.rank


Plan = Callable[[Sequence[Staged], int], list[Staged]]


def _fewest(able: Sequence[Staged], caught: int) -> list[Staged]:
    """Return the fewest scenes that catch what all do, the most powerful first."""
    places, _ = smallest([one.caught & ~caught for one in able])
    return sorted((able[place] for place in places), key=lambda one: -_power(one, caught))


def _densest(able: Sequence[Staged], caught: int) -> list[Staged]:
    """Return scenes that catch the most for each of their tests, none of them needlessly."""
    chosen: list[Staged] = []
    now = caught
    while any(one.caught & ~now for one in able):
        chosen.append(max(able, key=lambda one: _power(one, now)))
        now |= chosen[-1].caught
    for one in sorted(chosen, key=lambda one: -len(one.asked)):
        rest = [other for other in chosen if other is not one]
        if not one.caught & ~reduce(or_, (other.caught for other in rest), caught):
            chosen = rest
    return chosen


def _power(staged: Staged, caught: int) -> float:
    """Return how many mistakes a scene adds for each of its tests."""
    return (staged.caught & ~caught).bit_count() / len(staged.asked)


def _effort(staged: Staged) -> tuple[bool, int]:
    """Return what makes one of two scenes the better one: a real game, then few commands."""
    return not staged.scene.find.moment.origin.game, len(staged.scene.steps)


def _kinds(staged: Staged) -> tuple[object, ...]:
    """Return what a scene is one of."""
    find = staged.scene.find
    feature, size, answer = find.feature, find.moment.size, find.answer
    return feature, ("size", size), (feature, answer), (feature, size)
