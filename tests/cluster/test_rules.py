"""The rules of carrying: what fits, how much is on its way, what is done twice."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cluster import records
from harness.cluster.records import Facts, Needs

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
    bases=SOME,
)
NONE_OR_ONE = NAMES | st.just("")
NEEDS = st.builds(
    Needs, version=NAMES, level=NAMES, tools=SOME, python=NONE_OR_ONE, base=NONE_OR_ONE
)


@given(FACTS)
def test_a_worker_is_the_same_after_it_was_announced(facts):
    name = f"{facts.machine}:12-ab"
    assert records.facts_of(facts.address, name, records.list_announced_resources(facts)) == facts


@given(FACTS, NEEDS)
def test_it_fits_if_it_has_all_that_is_needed(facts, needs):
    """Recomputed without resources."""
    expected = (
        facts.version == needs.version
        and needs.level in facts.levels
        and set(needs.tools) <= set(facts.tools)
        and (needs.python in (*facts.pythons, "") or needs.base in facts.bases)
    )
    assert records.fits(facts, needs) is expected
    assert bool(records.missing(facts, needs)) is not expected
    # And Dask, which compares resources, sees the same except for environments that can be sent.
    have, want = records.list_announced_resources(facts), records.list_requested_resources(needs)
    has_all = all(have.get(name, 0) >= count for name, count in want.items())
    assert has_all if expected else not has_all or needs.base


def test_a_worker_of_somebody_else_is_none():
    assert records.facts_of("tcp://1", "one:1", {"GPU": 2.0}) is None


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("one:1", {"gtp-harness pace": float("nan")}),
        ("one:1", {"gtp-harness pace": -1.0}),
        ("one:1", {"gtp-harness pace": "fast"}),
        ("one:1", {"gtp-harness pace": True}),
        ("one:1", {1: 1.0}),
        ("nobody could set it aside by its machine", {}),
        (":1", {}),
        ("one:1", {"gtp-harness level \0": 1.0}),
        ("\x1b[2J:1", {}),
    ],
)
def test_one_that_tells_nonsense_is_none_either(name, more):
    assert records.facts_of("tcp://1", "one:1", {"gtp-harness version 1": 1.0})
    assert records.facts_of("tcp://1", name, {"gtp-harness version 1": 1.0, **more}) is None


@pytest.mark.parametrize(
    ("pace", "taken"),
    [(0.01, False), (0.24, False), (0.25, True), (1, True), (4, True), (4.1, False), (999, False)],
)
def test_a_worker_of_an_absurd_pace_gets_nothing(pace, taken):
    assert (records.wrong_with_pace(pace) == "") is taken


def test_what_was_never_tried_goes_first_and_then_the_earlier_one():
    tried = [(0, 2), (1, 0), (0, 1), (3, 0)]
    assert sorted(tried, key=lambda one: records.order(*one)) == [(0, 1), (0, 2), (1, 0), (3, 0)]


def test_it_goes_to_another_machine_if_there_is_one():
    one, two = (Facts(f"tcp://{name}", name, "1", ("3",), (), ()) for name in ("one", "two"))
    needs = Needs("1", "3")
    assert records.eligible_workers([one, two], needs, {"one"}) == [two]
    assert records.eligible_workers([one], needs, {"one"}) == [one]
    assert records.eligible_workers([one, two], needs, (), {"tcp://one"}) == [two]
    assert records.eligible_workers([one, two], Needs("1", "2")) == []


def test_about_one_attempt_in_a_hundred_is_done_twice():
    bases = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(20_000)]
    assert 150 < sum(records.is_seconded(basis, "secret") for basis in bases) < 250


def test_which_attempts_that_are_depends_on_what_no_worker_knows():
    """A worker knows the bases, and how often one of them is done twice."""
    bases = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(20_000)]
    one, other = (
        {basis for basis in bases if records.is_seconded(basis, secret)} for secret in ("a", "b")
    )
    assert len(one & other) < 10 < len(one)
