"""The search for the smallest sets of mistakes, against all sets of made mistakes one by one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging import diagnosis
from harness.judging.diagnosis import MOST, Search
from harness.judging.mutant_replay import MutantBehaviour


class Made(NamedTuple):
    """A mistake: ``wrong`` has its answers, "" where it answers as the reference engine does."""

    name: str
    wrong: tuple[str, ...]


class MadeReplayer:
    """Engines with made mistakes; where several change an answer, all of them are in it.

    ``beside``: answers that show only where two mistakes are together, by their names.
    """

    def __init__(
        self, engine: Iterable[Made], items: int, beside: dict[str, tuple[str, ...]] | None = None
    ) -> None:
        self.items, self.steps = items, 1000
        self._beside = beside or {}
        self._cost = 1  # of each set that is asked
        self._engine = self.answers(engine)

    def answers(self, mistakes: Iterable[Made]) -> list[str]:
        own = sorted(mistakes)
        pairs = [self._beside.get(a.name + b.name, ()) for a, b in combinations(own, 2)]
        rows = [*(one.wrong for one in own), *filter(None, pairs)]
        return ["".join(row[item] for row in rows) for item in range(self.items)]

    def behaviour(self, mistakes: Iterable[Made] = ()) -> MutantBehaviour:
        found = self.answers(mistakes)
        agreed = sum(
            (a == b) << i for i, (a, b) in enumerate(zip(found, self._engine, strict=True))
        )
        return MutantBehaviour(agreed, sum(bool(one) << i for i, one in enumerate(found)))

    def find_disagreement(self, mistakes: Iterable[Made]) -> int:
        self.steps += self._cost
        return ~self.behaviour(mistakes).agreed & (1 << self.items) - 1

    def agrees_at(self, mistakes: Iterable[Made], bit: int) -> bool:
        return bool(self.behaviour(mistakes).agreed & bit)


ITEMS = 5
ANSWERS = st.tuples(*[st.sampled_from(["", "", "x", "y"])] * ITEMS)
MISTAKES = st.lists(ANSWERS, min_size=1, max_size=6).map(
    lambda rows: [Made("abcdef"[place], row) for place, row in enumerate(rows)]
)


def may_meet(mistakes: Iterable[Made]) -> bool:
    """Whether mistakes can meet in one engine; these two cannot."""
    return not {"a", "b"} <= {one.name for one in mistakes}


@pytest.fixture(autouse=True, scope="module")
def meeting():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diagnosis, "can_meet", may_meet)
        yield


def search(replayer: Any, mistakes: Any) -> Search:
    return Search(replayer, mistakes)


@given(MISTAKES, st.sets(st.integers(0, 5), max_size=5))
def test_the_smallest_sets_are_those_that_trying_all_finds(mistakes, chosen):
    engine = [one for place, one in enumerate(mistakes) if place in chosen]
    replayer = MadeReplayer(engine, ITEMS)
    wanted = replayer.answers(engine)
    changing = [one for one in mistakes if any(one.wrong)]
    sets = [
        [frozenset(some) for some in combinations(changing, size)
         if may_meet(some) and replayer.answers(some) == wanted]
        for size in range(MOST + 1)
    ]  # fmt: skip
    found = search(replayer, mistakes).smallest()
    assert len(found) == len(set(found))
    assert set(found) == set(next(filter(None, sets), []))


def bits(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


@given(MISTAKES, ANSWERS, st.sets(st.integers(0, ITEMS - 1)))
def test_what_explains_most_is_at_most_one_kind_of_mistake(mistakes, answers, where):
    """Recomputed item by item: alike where it explains, and right wherever it does not."""
    replayer = MadeReplayer([Made("engine", answers)], ITEMS)
    failed = {place for place in where if answers[place]}
    told = {
        one: {place for place in failed if one.wrong[place] == answers[place]}
        for one in mistakes
        if any(one.wrong)
    }
    fit = {
        one: same
        for one, same in told.items()
        if all(one.wrong[place] == ("" if place in failed - same else answers[place])
               for place in range(ITEMS))
    }  # fmt: skip
    most = max(map(len, fit.values()), default=0)
    best = [one for one, same in fit.items() if len(same) == most]
    is_clear = (
        most / max(1, len(failed)) >= 0.75 and len({frozenset(fit[one]) for one in best}) == 1
    )
    found = search(replayer, mistakes).most(bits(failed))
    if failed:
        assert found == ([frozenset([one]) for one in best] if is_clear else [])
    assert search(replayer, mistakes).wrong == bits(
        place for place, answer in enumerate(answers) if answer
    )


@pytest.mark.parametrize(("own", "is_told"), [("xxxo", True), ("xxxx", True), ("xxoo", False)])
def test_a_mistake_that_explains_three_quarters_of_the_failures_is_told(own, is_told):
    """At the other ones the engine is wrong in a way of its own."""
    mistake = Made("a", ("x", "x", "x" * (own[2] == "x"), "x" * (own[3] == "x")))
    found = search(MadeReplayer([Made("engine", tuple(own))], 4), [mistake])
    assert found.most(bits(range(4))) == ([frozenset([mistake])] if is_told else [])


ONE = Made("one", ("x", "", ""))
TWO = Made("two", ("", "y", ""))
OTHER = Made("other", ("z", "z", "z"))


BESIDE = {"onetwo": ("w", "", "")}  # the first answer is another one where both are


def test_a_mistake_that_shows_only_beside_another_is_found():
    """One writes an answer wrong, and only the other one makes that answer what it is."""
    replayer = MadeReplayer([ONE, TWO], 3, BESIDE)
    assert search(replayer, [OTHER, ONE, TWO]).smallest() == [frozenset({ONE, TWO})]


def test_sets_are_named_in_the_same_order_whatever_came_first():
    alike = [Made(name, ("x", "", "")) for name in "dcfe"]
    replayer = MadeReplayer(alike[:1], 3)
    for mistakes in (alike, alike[::-1]):
        found = search(replayer, mistakes).smallest()
        assert [next(iter(one)).name for one in found] == ["c", "d", "e", "f"]
