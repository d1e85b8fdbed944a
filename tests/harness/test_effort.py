"""How long an expression may take is asked again and again, and known after the first time."""

import pytest

from harness.reading.matchers import MOST, Bound


@pytest.mark.parametrize("order", [(10, 1000, 10, 1000), (1000, 10, 999, 1001), (0, 1, 0, 1)])
def test_few_steps_are_few_however_often_they_are_asked_for(order):
    bound = Bound("a*b", 0, anywhere=False)
    assert [bound.allows(length) for length in order] == [True] * len(order)


@pytest.mark.parametrize("order", [(0, 5000, 0, 6000), (5000, 0, 5000, 0), (6000, 5000, 0, 5001)])
def test_many_steps_are_many_whatever_was_asked_before(order):
    bound = Bound("(a*)*b", 0, anywhere=False)
    assert [bound.allows(length) for length in order] == [length == 0 for length in order]


# The most steps at one place, counted by hand: one to begin, and those of each way.
STEPS = [
    ("", 1),
    ("abc", 1 + 3),
    ("[a-cx]b", 1 + 2 + 1),
    ("(?:ab|cd)e", 1 + (2 * 4) + 2 * 1),
    ("(ab)(?:c)", 1 + 3 + 1),
    ("(?=ab|cd)e", 1 + (1 + 2 * 4) + 1),
    ("(?!ab)c", 1 + 3 + 1),
    ("a{0,3}b", 1 + (3 * 2 + 1) + 4 * 1),
    ("(?:ab|c){2}d", 1 + ((1 + 2) * (1 + 4 + 3) + 1) + (1 + 2 + 4) * 1),
    ("(?>ab|cd)e", 1 + (1 + 2 * 4) + 1),
    ("(a)?(?(1)b|c)", 1 + (3 + 1) + 2 * (2 * 3)),
]


@pytest.mark.parametrize(("expression", "steps"), STEPS)
def test_the_longest_text_that_takes_few_steps_from_every_place(expression, steps):
    longest = MOST // steps - 1
    assert Bound(expression, 0, anywhere=True).allows(longest)
    assert not Bound(expression, 0, anywhere=True).allows(longest + 1)
