"""The examples of go-scoring.txt, java-go.txt and gosensei.txt, quoted, with the oracle's answers.

Where a document shows a picture that its text does not hold, the board is one with the numbers
that the text gives.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from oracle.answers import go_scoring, gosensei, java_go
from oracle.position import BLACK, SENSEI_LETTERS, WHITE, parse_vertex, vertex
from oracle.rules import go
from tests.oracle import documents
from tests.oracle.boards import board, sensei_board


def at(position, name, letters=None):
    shape = position.grid
    return parse_vertex(name, shape.rows, shape.columns, *([letters] if letters else []))


# --- go-scoring.txt ----------------------------------------------------------------------------

# "Examples with Pictures": the first picture
LECTURE = board("""
    . X O O . . . . .
    . X X O O O . . .
    . . X O . . O . .
    . . . X O O . . .
    . . . X X O . . .
    . . . X O O O . .
    . . . X X O . . .
    . . . . X X O . .
    . . . . X O O . .
""")
# "More Detailed Example"
DETAILED = board("""
    . X . O . O O
    X X X O O O O
    O O O X X X X
    . . O X . . .
    . . O X . X .
    O . O X X . X
    . . O . X . .
""")


def test_lecture_example():
    """Check the first picture's count.

    "Black has 37 points. White has 44 points on the board, plus the komi of 7.5 = 51.5 total.
    White won by 14.5 points, so your program should react to the score command as follows:
    score = W+14.5"
    """
    owners = list(go_scoring.owners(LECTURE).values())
    assert (owners.count(BLACK), owners.count(WHITE)) == (37, 44)
    assert go_scoring.answer(LECTURE, Decimal("7.5")) == "W+14.5"
    assert "= 37." in go_scoring.explain(LECTURE, Decimal("7.5")).text
    assert "= 51.5." in go_scoring.explain(LECTURE, Decimal("7.5")).text


def test_detailed_example():
    """Check the second picture's regions.

    "look at all connected sets of empty points (there are seven in this example)" … "Three areas
    are surrounded by Black stones. The sizes are 1, 3 and 5." … "Two areas are surrounded by
    White stones. White has 1 + 7 = 8 points of territory." … "Two areas have neighbors of both
    colors." … "Score 24 - 23.5 = 0.5" … "= B+0.5"
    """
    regions = go_scoring.empty_regions(DETAILED)
    assert len(regions) == 7
    sizes = {
        owner: sorted(len(region.points) for region in regions if region.owner == owner)
        for owner in (BLACK, WHITE, go_scoring.NEUTRAL)
    }
    assert sizes == {BLACK: [1, 3, 5], WHITE: [1, 7], go_scoring.NEUTRAL: [1, 1]}
    assert DETAILED.black.bit_count() == DETAILED.white.bit_count() == 15
    assert go_scoring.answer(DETAILED, Decimal("0.5")) == "B+0.5"


def test_neutral_points_of_the_detailed_example():
    """Check: "One such point, in the top row … at the middle of the bottom row"."""
    owners = go_scoring.owners(DETAILED)
    neutral = [vertex(point) for point, owner in owners.items() if owner == go_scoring.NEUTRAL]
    assert neutral == ["D1", "C7"]


@pytest.mark.parametrize(
    ("komi", "answer"), [("4", "0"), ("3", "B+1"), ("5", "W+1"), ("4.25", "W+0.25")]
)
def test_the_three_forms_of_the_reply(komi, answer):
    """Check "GTP Command for Scoring": ``B+n``, ``W+n`` and, "if the game is a draw", ``0``."""
    assert go_scoring.answer(board("X. \n .."), Decimal(komi)) == answer


# --- java-go.txt -------------------------------------------------------------------------------

# "Scoring", a board of 11x11 with the counts of "the image to the right"; the prisoner is C8.
SCORING = board("""
    . . . . . X O . . . .
    X X X X X X O . . O O
    X X X X X X O O O O O
    X X O X X X O O O O O
    X X X X X X X O O O O
    O O O O O X X O O O O
    . . . . O X X X X X X
    . . . . O X . . . . .
    . . . O O X . . . . X
    O O O O O X X X X X X
    O O O O O O X X X X X
""")


def test_scoring_example():
    """Check the count of the image.

    "In the image to the right, a prisoner was taken by black at point a. Counting the spaces
    surrounded by black, the top area has 5 captured spaces, the bottom has 9, the space vacated
    by a is 1, so that is a count of 15 then we add 1 for the captured piece so black's total is
    16. White on the other hand has 11 captured spaces bottom left, and 6 spaces top right, giving
    it a total of 17"
    """
    assert java_go.is_captured(SCORING, at(SCORING, "C8"))
    assert java_go.score(SCORING, BLACK) == 5 + 9 + 1 + 1
    assert java_go.score(SCORING, WHITE) == 11 + 6


# "Self Capture": i is C4, j is G2; two black strings shut in by White, each around one point.
SELF_CAPTURE = board("""
    . O O O . . . . .
    O X X X O . . . .
    O X . X O O O O .
    O X X X O X X X O
    . O O O O X . X O
    . . . . O X X X O
""")
POINT_I, POINT_J = "C4", "G2"


@pytest.mark.parametrize("point", [POINT_I, POINT_J])
def test_self_capture(point):
    """Check what may be played at i and j.

    "For example, we can place a white piece at i to capture the black string that surrounds it
    only because that black string is surrounded by white on all liberties." … "Without those
    surrounding white pieces we could not place a white at i or j. Note that we also cannot place
    a black piece at either of these locations."
    """
    place = at(SELF_CAPTURE, point)
    assert java_go.is_legal(SELF_CAPTURE, place, WHITE)
    assert not java_go.is_legal(SELF_CAPTURE, place, BLACK)
    alone = SELF_CAPTURE.place(at(SELF_CAPTURE, "D6"), 0).place(at(SELF_CAPTURE, "F4"), 0)
    assert not java_go.is_legal(alone, place, WHITE)


def test_self_capture_takes_the_whole_string():
    position = SELF_CAPTURE
    stone = position.grid.bit(at(position, POINT_I))
    dead = go.find_taken(position.grid, position.white, position.black, stone)
    assert dead.bit_count() == 8


def test_two_eyes_cannot_be_captured():
    """Check "Eyes".

    "A string that has two separated spaces, similar to i and j above (m and n to the left) cannot
    be captured. To capture it would require placing a piece at both m and n simultaneously."
    """
    position = board("""
        . O O O O O O
        O X X X X X O
        O X . X . X O
        O X X X X X O
        . O O O O O .
    """)
    for eye in ("C3", "E3"):
        assert not java_go.is_legal(position, at(position, eye), WHITE)


@pytest.mark.parametrize(
    ("diagram", "stone", "captured"),
    [
        ("O X .\n X . .\n . . .", "A3", True),  # in the corner two stones are enough
        ("O X .\n . X .\n . . .", "A3", False),
        ("X O .\n O . .\n . . .", "A3", True),
        (". X .\n X O X\n . X .", "B2", True),
        (". X .\n X O X\n . . .", "B2", False),
        ("X . X\n O X O\n . O .", "B2", False),
        ("X O .\n X X O\n . . .", "B3", False),  # a friend on the diagonal changes nothing
        ("X O X\n X X O\n . . .", "B3", True),
    ],
)
def test_liberties_are_the_cardinal_directions(diagram, stone, captured):
    """Check "The cardinal directions around a stone are called its liberties"."""
    position = board(diagram)
    assert java_go.is_captured(position, at(position, stone)) == captured


# --- gosensei.txt ------------------------------------------------------------------------------

DISPLAY = sensei_board(documents.DISPLAY)
EYES = sensei_board(documents.THREE_EYES)
EYE_SPACES = sensei_board(documents.TWO_SPACES)


def sensei_points(text):
    return [parse_vertex(name, 9, 9, SENSEI_LETTERS) for name in text.split()]


def test_eyes_example():
    """Check "-eyes Options": "The following example includes three eyes for black"."""
    assert gosensei.eyes(EYES) == sensei_points("I1 I3 D6")


def test_two_eyes_example():
    """Check "-twoeyes Options".

    "the connected black stones in the lower right corner of the previous go board configuration
    have two closely connected eyes. The eye at location I1 is within two rows of the eye at I3."
    """
    assert gosensei.two_eyes(EYES) == sensei_points("I1 I3")


def test_eye_spaces_example():
    """Check "-eyespaces Options".

    "The following example includes two eye spaces for black, ones with two empty spaces and one
    with five empty spaces"
    """
    assert sorted(len(space) for space in gosensei.eye_spaces(EYE_SPACES)) == [2, 5]
    assert len(set(gosensei.readings_eye_spaces(EYE_SPACES).values())) == 1


def test_the_display_example_has_no_eyes():
    assert (
        gosensei.eyes(DISPLAY) == gosensei.two_eyes(DISPLAY) == gosensei.eye_spaces(DISPLAY) == []
    )
