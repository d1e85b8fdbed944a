"""Every number in every explanation is right: a sample, and that the check would notice.

100,000 positions: ``tests/benchmarks/bench_because.py``.
"""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.benchmarks.bench_because import check, of_go, of_gomoku
from tests.oracle import because
from tests.oracle.because import NAME


@pytest.mark.long(8)
@pytest.mark.parametrize("game", [of_go, of_gomoku])
def test_every_number_of_a_sample_is_right(game):
    checked, wrong = check(game, -1, positions=60)
    assert wrong == []
    assert checked.total() > 60 * 6


@pytest.mark.parametrize("game", [of_go, of_gomoku])
def test_no_sentence_can_be_left_out(game):
    """A text with a sentence less is wrong, whichever it is."""
    random = Random(4)
    for _ in range(10):
        for _, text, compare, about in game(random):
            sentences = re.split(r"(?<=\.) ", text)
            for place in range(len(sentences)):
                shorter = " ".join(sentences[:place] + sentences[place + 1 :])
                with pytest.raises(AssertionError):
                    compare(shorter, *about)


def test_a_sentence_that_is_not_known_is_not_passed_over():
    with pytest.raises(AssertionError, match="no legal says 'A1 is fine"):
        because.facts("legal", "A1 is fine.")


def test_colors_are_read():
    assert because.facts("legal", "A1 is occupied by a white stone: not legal.") == [
        ("occupied", frozenset({"A1"}), NAME[2])
    ]
