"""Explanations of go-scoring, java-go and gosensei: what they say and where they point."""

from __future__ import annotations

from decimal import Decimal

import pytest

from oracle.answers import go_scoring, gosensei, java_go
from oracle.errors import VertexError
from oracle.explanation import is_underspecified
from oracle.position import BLACK, SENSEI_LETTERS, WHITE, parse_vertex, vertex
from tests.oracle.boards import board


def list_marks(explanation, letters=None):
    """Return the marks by label, with the points' names."""
    names = {}
    for point, label in sorted(explanation.marks.items()):
        name = vertex(point, letters) if letters else vertex(point)
        names[label] = f"{names[label]} {name}" if label in names else name
    return names


# --- go-scoring --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("diagram", "komi", "text", "marks"),
    [
        (
            "...\n ...\n ...",
            "0",
            "Black: 0 stones + 0 points of territory = 0. "
            "White: 0 stones + 0 points of territory = 0. "
            "There is no stone, so the empty board counts for nobody. The score is 0.",
            {"n": "A1 B1 C1 A2 B2 C2 A3 B3 C3"},
        ),
        (
            ".X.O\n XXOO\n .X.O\n XXOO",
            "0.5",
            "Black: 6 stones + 2 points in 2 regions (1 and 1) = 8. "
            "White: 6 stones + 0 points of territory + komi 0.5 = 6.5. "
            "2 empty regions touch both colors: 2 points for nobody. The score is B+1.5.",
            {"b": "A2 A4", "n": "C2 C4"},
        ),
    ],
)
def test_score_is_added_up(diagram, komi, text, marks):
    explanation = go_scoring.explain(board(diagram), Decimal(komi))
    assert explanation.text == text
    assert list_marks(explanation) == marks


# --- java-go -----------------------------------------------------------------------------------

JAVA = board("""
    X O . . .
    O X X . .
    X X O X .
    . X . X .
    O . X . O
""")


def at(name):
    return parse_vertex(name, 5, 5)


@pytest.mark.parametrize(
    ("point", "text", "marks"),
    [
        (
            "A5",
            "The black chain at A5 (1 stone) has no liberty: captured.",
            {"?": "A5"},
        ),
        (
            "B4",
            "The black chain at B4 (5 stones) has 5 liberties: not captured.",
            {"?": "B2 A3 B3 B4 C4", "L": "B1 A2 C2 D4 C5"},
        ),
        (
            "C2",
            "The region of C2 (1 empty point) touches stones of both colors: not captured.",
            {"?": "C2"},
        ),
    ],
)
def test_captured_is_explained(point, text, marks):
    explanation = java_go.explain_captured(JAVA, at(point))
    assert explanation.text == text
    assert list_marks(explanation) == marks
    assert java_go.is_captured(JAVA, at(point)) == ("not captured" not in text)


@pytest.mark.parametrize(
    ("diagram", "color", "text", "marks"),
    [
        (
            "XX.\n OX.\n XXX",
            BLACK,
            "1 white stone has no liberty: a prisoner, taken off the board. "
            "2 empty regions touch black stones only: 1 and 2 points. "
            "Black's score is 1 + 3 = 4.",
            {"x": "A2", "t": "C2 C3"},
        ),
        (
            "XXO\n OOO\n ...",
            WHITE,
            "2 black stones have no liberty: prisoners, taken off the board. "
            "2 empty regions touch white stones only: 2 and 3 points. "
            "White's score is 2 + 5 = 7.",
            {"t": "A1 B1 C1", "x": "A3 B3"},
        ),
    ],
)
def test_java_score_is_explained(diagram, color, text, marks):
    explanation = java_go.explain_score(board(diagram), color)
    assert explanation.text == text
    assert list_marks(explanation) == marks


@pytest.mark.parametrize(
    ("point", "color", "text", "marks"),
    [
        ("A1", BLACK, "A1 is occupied by a white stone: not legal.", {}),
        (
            "D1",
            WHITE,
            "A white stone at D1 has 1 liberty (E2): legal.",
            {"?": "D1", "L": "E2"},
        ),
        (
            "C2",
            WHITE,
            "A white stone at C2 has no liberty and takes nothing: self capture, not legal.",
            {"?": "C2"},
        ),
        ("E5", BLACK, "A black stone at E5 has 2 liberties (E4 and D5): legal.", {}),
    ],
)
def test_legality_is_explained(point, color, text, marks):
    explanation = java_go.explain_legal(JAVA, at(point), color)
    assert explanation.text == text
    for label, names in marks.items():
        assert list_marks(explanation)[label] == names


@pytest.mark.parametrize("point", [(-1, 0), (5, 0), (0, 5)])
def test_points_off_the_board_are_refused(point):
    with pytest.raises(VertexError, match="on a board of 5 columns and 5 rows"):
        java_go.is_captured(JAVA, point)
    with pytest.raises(VertexError):
        java_go.is_legal(JAVA, point, BLACK)


# --- gosensei ----------------------------------------------------------------------------------

EYES = board("""
    . X X X . . . . .
    X X . X O . . . .
    X X X X . . . . .
    . . . O . X . . .
    . . . . X . X . .
    . . . . O X O . .
    . . . . . . . X .
    . . X X . . X . X
    . . X . X . . X .
""")


def test_eyes_are_explained():
    """Check that every diagonal which makes an eye false is named and marked."""
    explanation = gosensei.explain_eyes(EYES)
    assert explanation.text == (
        "Eyes: D1, I1, C8 and A9. H2 is false: G1, I1, G3 and I3 are not black. "
        "F5 is false: E4, G4, E6 and G6 are not black."
    )
    assert list_marks(explanation, SENSEI_LETTERS) == {
        "e": "D1 I1 C8 A9",
        "f": "H2 F5",
        "!": "G1 G3 I3 E4 G4 E6 G6",  # and I1, which is an eye itself
    }


def test_two_eyes_are_explained():
    """Check that two eyes in one row at opposite ends count to the letter, and that it is open."""
    explanation = gosensei.explain_two_eyes(EYES)
    assert explanation.text == (
        "Eyes that have another near: D1, I1, C8 and A9. D1 is within 2 rows of I1. "
        "I1 is within 2 rows of D1. C8 is within 2 rows and 2 columns of A9. "
        "A9 is within 2 rows and 2 columns of C8."
    )
    readings = gosensei.readings_two_eyes(EYES)
    assert readings == {"rows or columns": 4, "rows and columns": 2}
    assert is_underspecified(readings)


def test_eye_spaces_are_explained():
    position = board("""
        . X . . X
        X X X X X
        . O . X .
        X X X . X
        . . X X X
    """)
    explanation = gosensei.explain_eye_spaces(position)
    assert explanation.text == (
        "3 eye spaces. The region of A1 (2 points) is surrounded by one chain. "
        "The region of D2 (1 point) is not an eye space: the stones around it are 2 "
        "separate chains. "
        "The region of A3 (1 point) is not an eye space: it touches white stones too. "
        "The region of C3 (1 point) is not an eye space: it touches white stones too. "
        "The region of E3 (1 point) is not an eye space: the stones around it are 2 "
        "separate chains. "
        "The region of A5 (1 point) is surrounded by one chain. "
        "The region of C5 (2 points) is surrounded by one chain."
    )
    assert list_marks(explanation) == {"s": "A1 B1 A5 C5 D5", "n": "D2 A3 C3 E3"}
    assert gosensei.readings_eye_spaces(position) == {
        "stones connect along rows and columns": 3,
        "stones connect along rows and columns; a single point is none": 2,
        "stones connect along diagonals too": 5,
        "stones connect along diagonals too; a single point is none": 2,
    }
