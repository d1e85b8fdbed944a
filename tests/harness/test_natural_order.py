"""Ids sort as people count, on pages and in reports that people read."""

from __future__ import annotations

import random

import pytest

from harness.core.text import natural_order

SORTED = [
    ("s1", "s2", "s10", "s11", "s100"),
    ("2", "9", "010", "10"),
    ("a2b9", "a2b10", "a10b1"),
    ("", "a", "a1", "b"),
    ("ada", "Ben", "cyd"),
    ("s" + "9" * 5000, "s1" + "0" * 5000),  # more digits than Python reads as a number
    ("s٣", "s٤"),  # other digits are words
]


@pytest.mark.parametrize("texts", SORTED, ids=lambda one: one[0][:9] or "empty")
def test_texts_sort_as_people_count(texts):
    mixed = list(texts)
    random.Random(1).shuffle(mixed)
    assert tuple(sorted(mixed, key=natural_order)) == texts


def test_equal_numbers_have_one_order():
    assert sorted(["s01", "s1", "s001"], key=natural_order) == ["s001", "s01", "s1"]
