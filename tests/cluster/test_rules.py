"""The rules of carrying: what fits, how much is on its way, what is done twice."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster import rules
from harness.cluster.rules import Facts, Needs

NAMES = st.sampled_from(["a", "b", "c"])
SOME = st.lists(NAMES, unique=True).map(lambda found: tuple(sorted(found)))
FACTS = st.builds(
    Facts,
    address=st.sampled_from(["tcp://1", "tcp://2"]),
    machine=st.sampled_from(["one", "two:2"]),
    version=NAMES,
    levels=SOME,
    tools=SOME,
    pythons=SOME,
    pace=st.floats(0.1, 10),
)
NEEDS = st.builds(Needs, version=NAMES, level=NAMES, tools=SOME, python=NAMES | st.just(""))


@given(FACTS)
def test_a_worker_is_the_same_after_it_was_announced(facts):
    name = f"{facts.machine}:12-ab"
    assert rules.facts_of(facts.address, name, rules.announced(facts)) == facts


@given(FACTS, NEEDS)
def test_it_fits_if_it_has_all_that_is_needed(facts, needs):
    """Recomputed without resources."""
    expected = (
        facts.version == needs.version
        and needs.level in facts.levels
        and set(needs.tools) <= set(facts.tools)
        and needs.python in (*facts.pythons, "")
    )
    assert rules.fits(facts, needs) is expected
    # And Dask, which compares resources, sees the same.
    have, want = rules.announced(facts), rules.asked(needs)
    assert all(have.get(name, 0) >= count for name, count in want.items()) is expected


def test_a_worker_of_somebody_else_is_none():
    assert rules.facts_of("tcp://1", "one:1", {"GPU": 2.0}) is None


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("one:1", {"gtp-harness pace": float("nan")}),
        ("one:1", {"gtp-harness pace": -1.0}),
        ("one:1", {"gtp-harness pace": "fast"}),
        ("one:1", {"gtp-harness level \0": 1.0}),
        ("\x1b[2J:1", {}),
    ],
)
def test_one_that_tells_nonsense_is_none_either(name, more):
    assert rules.facts_of("tcp://1", "one:1", {"gtp-harness version 1": 1.0})
    assert rules.facts_of("tcp://1", name, {"gtp-harness version 1": 1.0, **more}) is None


def test_twice_as_many_are_on_the_way_as_there_are_workers():
    assert [rules.room(3, count) for count in (0, 5, 6, 9)] == [6, 1, 0, 0]


def test_what_was_never_tried_goes_first_and_then_the_earlier_one():
    tried = [(0, 2), (1, 0), (0, 1), (3, 0)]
    assert sorted(tried, key=lambda one: rules.order(*one)) == [(0, 1), (0, 2), (1, 0), (3, 0)]


def test_it_goes_to_another_machine_if_there_is_one():
    one, two = (Facts(f"tcp://{name}", name, "1", ("3",), (), ()) for name in ("one", "two"))
    needs = Needs("1", "3")
    assert rules.places([one, two], needs, {"one"}) == [two]
    assert rules.places([one], needs, {"one"}) == [one]
    assert rules.places([one, two], needs, (), {"tcp://one"}) == [two]
    assert rules.places([one, two], Needs("1", "2")) == []


def test_about_one_attempt_in_a_hundred_is_done_twice():
    bases = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(20_000)]
    assert 150 < sum(map(rules.is_seconded, bases)) < 250
