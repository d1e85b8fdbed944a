"""The choice of scenes: first those that together catch the mistakes, then those that add most.

What a scene adds is counted in features, sizes and kinds of answers, the rarer the more. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.cover import smallest
from harness.generating.records import Staged

PER_GAME = 3  # scenes of one game


class Choice:
    """Scenes chosen so far, and what they cover.

    Attributes: ``chosen``; ``caught``, the mistakes, as bits; ``tests``, how many they are.
    """

    def __init__(self, most: int, quotas: Mapping[str, int], caught: int = 0) -> None:
        self.chosen: list[Staged] = []
        self.caught = caught
        self.tests = 0
        self._most = most
        self._quotas = quotas
        self._identities: set[object] = set()
        self._games: Counter[str] = Counter()
        self._covered: Counter[object] = Counter()

    def exclude(self, identities: Iterable[object]) -> None:
        """Take no test that is the same as one of these."""
        self._identities.update(identities)

    def is_open(self, staged: Staged) -> bool:
        """Return whether a scene may be taken."""
        game = staged.scene.find.moment.origin.game
        return (
            self.tests + len(staged.asked) <= self._most
            and self._identities.isdisjoint(one.identity for one in staged.asked)
            and not (game and self._games[game] >= PER_GAME)
        )

    def take(self, staged: Staged) -> None:
        """Take a scene."""
        self.chosen.append(staged)
        self.caught |= staged.caught
        self.tests += len(staged.asked)
        self._identities.update(one.identity for one in staged.asked)
        self._games[staged.scene.find.moment.origin.game] += 1
        self._covered.update(_kinds(staged))

    def catch(self, candidates: Sequence[Staged]) -> None:
        """Take few scenes that catch what candidates can catch and nothing has caught yet."""
        while True:
            able = [one for one in candidates if one.caught & ~self.caught and self.is_open(one)]
            places, _ = smallest([one.caught & ~self.caught for one in able])
            few = sorted((able[place] for place in places), key=self._power, reverse=True)
            if not few:
                return
            for one in few:  # some are closed by those before them: then look again
                if self.is_open(one):
                    self.take(one)

    def _power(self, staged: Staged) -> tuple[float, int]:
        new = (staged.caught & ~self.caught).bit_count()
        return new / len(staged.asked), -staged.scene.find.rank

    def cover(self, candidates: Sequence[Staged]) -> None:
        """Fill up with scenes that cover what is covered least."""
        while able := [one for one in candidates if self.is_open(one)]:
            self.take(max(able, key=self._gain))

    def _gain(self, staged: Staged) -> tuple[float, bool, int]:
        """Return what a scene adds for each of its tests; a real game's position comes first."""
        find = staged.scene.find
        short = max(0, self._quotas[find.feature] - self._covered[find.feature])
        gain = 8.0 * short + sum(1 / (1 + 2 * self._covered[kind]) for kind in _kinds(staged))
        return gain / len(staged.asked), bool(find.moment.origin.game), -find.rank


def _kinds(staged: Staged) -> tuple[object, ...]:
    """Return what a scene is one of."""
    find = staged.scene.find
    feature, size, answer = find.feature, find.moment.size, find.answer
    return feature, ("size", size), (feature, answer), (feature, size)
