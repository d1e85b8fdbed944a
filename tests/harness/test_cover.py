"""The smallest set of tests: it covers, it is the smallest, and it says when it is not sure."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judging import strength


def union(bits):
    every = 0
    for one in bits:
        every |= one
    return every


def least_by_trying(tests):
    """The size of the smallest choice, by trying all of them."""
    wanted = union(tests)
    for size in range(len(tests) + 1):
        if any(union(choice) == wanted for choice in combinations(tests, size)):
            return size
    raise AssertionError


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 255), max_size=9))
def test_it_is_the_smallest(tests):
    places, is_least = strength.smallest(tests)
    assert union(tests[place] for place in places) == union(tests)
    assert is_least
    assert len(places) == least_by_trying(tests)
    assert places == sorted(set(places))


def test_greedy_choice_is_not_enough():
    """The largest test first would need three."""
    tests = [0b000111_1, 0b111000_1, 0b011110_0]
    assert strength.smallest([*tests, 0b0000001]) == ([0, 1], True)


def test_nothing_to_catch_needs_no_test():
    assert strength.smallest([]) == ([], True)
    assert strength.smallest([0, 0]) == ([], True)


def test_it_says_when_it_gave_up(monkeypatch):
    monkeypatch.setattr(strength, "_PATIENCE", 1)
    pairs = [1 << a | 1 << b for a, b in combinations(range(7), 2)]
    places, is_least = strength.smallest(pairs)
    assert union(pairs[place] for place in places) == 127
    assert not is_least
