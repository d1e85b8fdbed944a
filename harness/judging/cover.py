"""A smallest choice of tests that catches as much as all of them: minimum set cover. Pure.

Tests and mistakes are the bits of integers. What must be chosen, and what another does as well,
is settled first; what is left, branch and bound decides, with greedy choice where that would take
too long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_PATIENCE = 20_000  # nodes of the search


def smallest(tests: Sequence[int]) -> tuple[list[int], bool]:
    """Return places in ``tests`` that together have all their bits, as few as found.

    ``tests``: of each test the mistakes it catches, as bits.

    Also returns whether there is certainly no smaller choice.
    """
    wanted = 0
    for caught in tests:
        wanted |= caught
    chosen, left, rest = _take_forced(dict(enumerate(tests)), wanted)
    search = _CoverSearch(left)
    search.run(rest)
    return sorted([*chosen, *search.best]), search.nodes < _PATIENCE


def _take_forced(left: dict[int, int], wanted: int) -> tuple[list[int], dict[int, int], int]:
    """Take the tests without which a mistake gets away, and drop those another one outdoes.

    Returns what was chosen, the tests still to choose from, and the mistakes still to catch.
    """
    chosen: list[int] = []
    before = None
    while left != before:
        before = left
        left = _drop_dominated({place: bits & wanted for place, bits in left.items()})
        for place in _indispensable(left, wanted):
            chosen.append(place)
            wanted &= ~left.pop(place)
    return chosen, left, wanted


def _drop_dominated(left: Mapping[int, int]) -> dict[int, int]:
    """Return the tests; drop any whose mistakes another one catches too."""
    kept: dict[int, int] = {}
    for place, bits in sorted(left.items(), key=lambda item: (-item[1].bit_count(), item[0])):
        if bits and not any(bits & ~other == 0 for other in kept.values()):
            kept[place] = bits
    return kept


def _indispensable(left: Mapping[int, int], wanted: int) -> list[int]:
    """Return the tests that alone catch some mistake."""
    once = twice = 0
    for bits in left.values():
        twice |= once & bits
        once |= bits
    alone = once & ~twice & wanted
    return [place for place, bits in left.items() if bits & alone]


class _CoverSearch:
    """Branch and bound: on the mistake that the fewest tests catch, the largest test first."""

    def __init__(self, tests: Mapping[int, int]) -> None:
        self.tests = tests
        self.nodes = 0
        self.best: list[int] = []

    def run(self, wanted: int) -> None:
        self.best = self._greedy(wanted)
        self._branch(wanted, [])

    def _greedy(self, wanted: int) -> list[int]:
        chosen = []
        while wanted:
            place = max(self.tests, key=lambda place: (self.tests[place] & wanted).bit_count())
            chosen.append(place)
            wanted &= ~self.tests[place]
        return chosen

    def _branch(self, wanted: int, chosen: list[int]) -> None:
        self.nodes += 1
        if not wanted:
            self.best = chosen
        if not wanted or self.nodes >= _PATIENCE or not self._may_improve(wanted, len(chosen)):
            return
        for place in self._choices(wanted):
            self._branch(wanted & ~self.tests[place], [*chosen, place])

    def _may_improve(self, wanted: int, chosen: int) -> bool:
        """Whether fewer tests than the best choice has could do, if each caught the most."""
        most = max((bits & wanted).bit_count() for bits in self.tests.values())
        return chosen + -(-wanted.bit_count() // most) < len(self.best)

    def _choices(self, wanted: int) -> list[int]:
        """Return the tests for the mistake that the fewest catch, the best first."""
        by_mistake: dict[int, list[int]] = {}
        for place, bits in self.tests.items():
            rest = bits & wanted
            while rest:
                mistake = rest & -rest
                by_mistake.setdefault(mistake, []).append(place)
                rest ^= mistake
        rarest = min(by_mistake.values(), key=len)
        return sorted(rarest, key=lambda p: -(self.tests[p] & wanted).bit_count())
