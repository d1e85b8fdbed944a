"""Chooses from drafts: few tests that catch all engines, then those that add most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import reduce
from itertools import cycle, islice
from operator import or_
from typing import NamedTuple

from harness.generating.choices import Choices
from harness.generating.own import test_text
from harness.generating.own.records import Draft
from harness.generating.own.test_drafting import Drafter
from harness.generating.records import TestBench
from harness.judging.strength import KnownWrong

_LENGTHS = (2, 4, 8, 16, 32)  # of conversations, in turn: short ones are read
_LONGER = (16, 32, 64)  # where engines get away: games that are played to the end
_IN_A_ROUND = 30  # conversations
_AT_LEAST = 2  # rounds of drawing, where no engine gets away
_TRIES = 4  # choices, where the chosen tests by themselves do not catch all
_AGAIN = 3  # times that a test is asked in which an engine chooses, before it is relied on
_EFFORT = 0.02  # what a command of the setup counts against a test
_TOGETHER = 200  # tests of one case file that is put to engines


class TestRequest(NamedTuple):
    """What set is wanted."""

    choices: Choices
    most: int  # tests
    excluded: Collection[tuple[str, ...]] = ()  # identities of tests not to be made again
    beside: int = 0  # the engines that other cases catch, as bits
    only_survivors: bool = False  # take only what catches an engine these leave alive
    rounds: int = 24  # of drawing at most, where engines get away


class ProducedTests(NamedTuple):
    """A set of tests, and how it came about."""

    drafts: tuple[Draft, ...]
    drawn: Counter[str]  # command: tests that could be made
    engines: tuple[KnownWrong, ...]
    beside: int
    caught: int  # by these tests, put to the engines as they are written
    candidates: tuple[Draft, ...] = ()  # all that were drawn, these among them

    @property
    def survivors(self) -> list[KnownWrong]:
        """The engines that nothing catches."""
        done = self.caught | self.beside
        return [one for place, one in enumerate(self.engines) if not done >> place & 1]


def produce(
    request: TestRequest, drafter: Drafter, bench: TestBench, on_step: Callable[[str], None]
) -> ProducedTests:
    """Return the set of tests that a request asks for."""
    pool = _DrawnTests(request, drafter, bench)
    chosen: list[Draft] = []
    caught = 0
    for number in range(request.rounds):
        alive = pool.every & ~request.beside & ~caught
        if number >= _AT_LEAST and not alive:
            break
        on_step(f"round {number + 1}: {len(pool.drafts)} tests, {alive.bit_count()} not caught")
        pool.fill(number)
        if number + 1 >= _AT_LEAST and pool.alive.bit_count() < alive.bit_count():
            chosen, caught = pool.choose()
    if not chosen:
        chosen, caught = pool.choose()
    drawn = Counter(one.name for one in pool.drafts)
    found = tuple(chosen), drawn, bench.engines, request.beside, caught
    return ProducedTests(*found, tuple(pool.drafts))


class _DrawnTests:
    """The tests drawn so far, and what each of them catches."""

    def __init__(self, request: TestRequest, drafter: Drafter, bench: TestBench) -> None:
        self.drafts: list[Draft] = []
        self._request = request
        self._drafter = drafter
        self._bench = bench
        self.every = (1 << len(bench.engines)) - 1
        self._known: set[tuple[str, ...]] = set(request.excluded)

    @property
    def alive(self) -> int:
        """The engines that are still to be caught, as bits."""
        return self.every & ~self._request.beside & ~_find_caught(self.drafts)

    def fill(self, number: int) -> None:
        """Draw one round of tests, and put them to the engines."""
        random = self._request.choices.random("own", number)
        new = []
        lengths = _LENGTHS if number < _AT_LEAST else _LONGER
        for length in islice(cycle(lengths), _IN_A_ROUND):
            for one in self._drafter.drafts(random, length):
                if one.identity not in self._known:
                    self._known.add(one.identity)
                    new.append(one)
        asked = self.every if number < _AT_LEAST else self.alive
        self.drafts += self._ask(new, asked)

    def _ask(self, drafts: Sequence[Draft], engines: int, *, alone: bool = False) -> list[Draft]:
        """Return tests with what they catch; ``alone``: each by itself."""
        if not engines:
            return list(drafts)
        starts = range(0, len(drafts), _TOGETHER)
        files = [
            test_text.plain(drafts[start : start + _TOGETHER], alone=alone) for start in starts
        ]
        caught = self._bench.map_catches([text for text, _ in files], engines)
        bits = (
            found.get(line, 0)
            for (_, places), found in zip(files, caught, strict=True)
            for line in places
        )
        return [one._replace(caught=each) for one, each in zip(drafts, bits, strict=True)]

    def choose(self) -> tuple[list[Draft], int]:
        """Return the chosen tests, and what they catch by themselves.

        A test that caught an engine after others may not do so alone, and an engine may choose
        its moves at random: what was caught by chance is not relied on.
        """
        for _ in range(_TRIES):
            chosen = self._keep_right(self._choice())
            again = self._again(chosen)
            lost = {
                one.identity: before.caught & one.caught
                for before, one in zip(chosen, again, strict=True)
                if before.caught & ~one.caught
            }
            self.drafts = [
                one._replace(caught=lost[one.identity]) if one.identity in lost else one
                for one in self.drafts
            ]
            if not lost:
                break
        return _in_order(chosen), _find_caught(again)

    def _again(self, chosen: Sequence[Draft]) -> list[Draft]:
        """Return tests with what they catch by themselves, those with a choice each time."""
        found = {one.identity: one for one in self._ask(chosen, self.every, alone=True)}
        for _ in range(_AGAIN - 1):
            free = [one for one in found.values() if one.is_free]
            for one in self._ask(free, _find_caught(free), alone=True):
                caught = one.caught & found[one.identity].caught
                found[one.identity] = one._replace(caught=caught)
        return [found[one.identity] for one in chosen]

    def _keep_right(self, chosen: list[Draft]) -> list[Draft]:
        """Return the tests that the reference passes: it may have answered otherwise before."""
        text, places = test_text.plain(chosen)
        bad = self._bench.find_wrong(text)
        return [one for one, line in zip(chosen, places, strict=True) if line not in bad]

    def _choice(self) -> list[Draft]:
        """Return few tests that catch all, if possible by no chance, and what adds most."""
        request = self._request
        ordered = sorted(self.drafts, key=lambda one: len(one.setup))
        settled = [one for one in ordered if not one.is_free]
        chosen = _choose_catching(settled, request.most, request.beside)
        done = _find_caught(chosen) | request.beside
        chosen += _choose_catching(ordered, request.most - len(chosen), done)
        if not request.only_survivors:
            _cover(chosen, ordered, request.most)
        return chosen


def _choose_catching(ordered: Sequence[Draft], most: int, done: int) -> list[Draft]:
    """Return tests that catch what is not done yet, each time the one that catches most of it."""
    chosen: list[Draft] = []
    before = done
    while len(chosen) < most:
        one = max(ordered, key=lambda one: (one.caught & ~done).bit_count(), default=None)
        if one is None or not one.caught & ~done:
            break
        chosen.append(one)
        done |= one.caught
    return _drop_redundant(chosen, before)


def _find_caught(drafts: Iterable[Draft]) -> int:
    return reduce(or_, (one.caught for one in drafts), 0)


def _drop_redundant(chosen: list[Draft], beside: int) -> list[Draft]:
    """Return tests without those that catch nothing the others do not."""
    kept = list(chosen)
    for one in sorted(chosen, key=lambda one: one.caught.bit_count()):
        rest = [other for other in kept if other is not one]
        if not one.caught & ~(_find_caught(rest) | beside):
            kept = rest
    return kept


def _cover(chosen: list[Draft], ordered: Sequence[Draft], most: int) -> None:
    """Fill up with tests of what is covered least: engines, commands, sizes, kinds of answers."""
    covered = Counter(kind for one in chosen for kind in _kinds(one))
    left = [one for one in ordered if one not in chosen]
    while left and len(chosen) < most:
        best = max(left, key=lambda one: _gain(one, covered))
        chosen.append(best)
        left.remove(best)
        covered.update(_kinds(best))


def _gain(one: Draft, covered: Counter[object]) -> float:
    return sum(1 / (1 + 2 * covered[kind]) for kind in _kinds(one)) - _EFFORT * len(one.setup)


def _kinds(one: Draft) -> list[object]:
    """Return what a test is one of."""
    name = one.name
    engines = [n for n in range(one.caught.bit_length()) if one.caught >> n & 1]
    return [name, (name, one.size), (name, one.expression), *engines]


def _in_order(chosen: list[Draft]) -> list[Draft]:
    """Return tests by command, the shorter ones first."""
    return sorted(chosen, key=lambda one: (one.name, len(one.setup), one.identity))
