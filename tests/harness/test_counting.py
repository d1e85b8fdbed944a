"""Which neutral points, given to one color, make exactly a wrong score."""

from __future__ import annotations

import pytest

from harness.core.records import Pattern
from harness.report.board_evidence import evidence, find_explaining_points
from harness.report.html.board_drawing import board
from harness.report.views import Views
from harness.specifications import specification
from oracle.position import vertex
from tests.harness.made_class import PLACE, answer_with_mistake
from tests.harness.made_class import PUBLIC as KIND


def pattern(text: str, *, negated: bool = False) -> Pattern:
    return Pattern(text, text, negated, False)


def marks(diagram: str) -> dict[tuple[int, int], str]:
    """The marks of a picture, its last row the first of the board; a dot has none."""
    rows = [row.split() for row in reversed(diagram.strip().splitlines())]
    return {
        (r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row) if mark != "."
    }


TWO = """
    n . . b
    n . . b
    . . . .
    n n n .
"""
SAME = """
    n . n
    . . .
    w w w
"""


@pytest.mark.parametrize(
    ("diagram", "right", "answer", "black", "white"),
    [
        (TWO, r"W\+3\.5", "W+5.5", "", "A3 A4"),
        (TWO, r"W\+3\.5", "W+8.5", "", "A1 B1 C1 A3 A4"),
        (TWO, r"B\+1(\.0)?", "B+3.0", "A3 A4", ""),
        # Across a draw, and the form of a whole number.
        (TWO, r"W\+1", "B+1", "A3 A4", ""),
        (TWO, "0", "B+3", "A1 B1 C1", ""),
        (TWO, r"B\+2", "0", "", "A3 A4"),
        # No choice of regions does it, or there are two.
        (TWO, r"W\+3\.5", "W+4.5", "", ""),
        (SAME, r"B\+1", "B+2", "", ""),
        (SAME, r"B\+1", "B+3", "A3 C3", ""),
        # Half a point, what is right already, what is no score.
        (TWO, r"W\+3\.5", "W+5", "", ""),
        (TWO, r"W\+3\.5", "W+3.5", "", ""),
        (TWO, r"W\+3\.5|B\+1", "W+5.5", "", ""),
        (TWO, ".*", "W+5.5", "", ""),
        ("b b\nw w", r"W\+3\.5", "W+5.5", "", ""),
    ],
)  # fmt: skip
def test_counted(diagram, right, answer, black, white):
    found = find_explaining_points(pattern(right), answer, marks(diagram))
    assert tuple(" ".join(map(vertex, points)) for points in found) == (black, white)


def test_what_must_not_come_says_nothing_of_what_is_right():
    assert find_explaining_points(pattern("0", negated=True), "B+2", marks(TWO)) == ((), ())
    assert find_explaining_points(None, "B+2", marks(TWO)) == ((), ())


def test_of_very_many_regions_none_is_named():
    many = {(2 * row, 0): "n" for row in range(11)}
    assert find_explaining_points(pattern("0"), "B+11", many) == ((), ())
    few = {(2 * row, 0): "n" for row in range(10)}
    assert len(find_explaining_points(pattern("0"), "B+10", few)[0]) == 10


def test_it_is_drawn_and_said():
    file = answer_with_mistake(KIND, "area.gtp", "neutral-points-to-white")
    seen = Views(specification("go-scoring"), PLACE).of(file, "area.gtp")
    outcome = seen.remarkable[1]
    diagram = seen.boards[outcome.step]
    drawn = board(diagram, evidence(file.case.steps[outcome.step], outcome, diagram))
    assert "url(#bx)" in drawn
    assert "Given to White, makes exactly the reply: B1" not in drawn
    assert "Given to White, makes exactly the reply: C1 D1 E1" in drawn
