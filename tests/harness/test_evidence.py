"""What a test is about, as points on its board; what a board says of it in words."""

from __future__ import annotations

import re
from html import unescape

import pytest

from harness.report.board_evidence import Evidence, evidence
from harness.report.file_view import view
from harness.report.html.board_drawing import figure
from oracle.draw import Diagram, PositionCourse
from oracle.position import BLACK, WHITE, Position, grid, parse_vertex, vertex
from tests.harness.made_run import Line, V, made_file

NINE = Diagram(Position(grid(9)))


def find_evidence(command, reply, pattern, verdict=V.FAILED, diagram=NINE):
    """Return the four lists as text."""
    file = made_file("x.gtp", [Line(command, reply, pattern, verdict)])
    found = evidence(file.case.steps[0], file.outcomes[0], diagram)
    assert not found.for_black + found.for_white  # no board has marks here
    return tuple(" ".join(vertex(p, diagram.letters) for p in points) for points in found[:4])


@pytest.mark.parametrize(
    ("command", "reply", "pattern", "asked", "right", "missing", "wrong"),
    [
        # One answer, or one of several.
        ("attack C3", "= 1 B2", "[1 A2]", "C3", "A2", "", "B2"),
        ("attack C3", "= 0", "[1 (F8|E8|E9)]", "C3", "E8 F8 E9", "", ""),
        ("attack C3", "= 2 A2", "[1 A2]", "C3", "A2", "", ""),
        ("genmove b", "= C5", "[E5|F5]", "", "E5 F5", "", "C5"),
        # A list, in any order and over several lines.
        ("list_stones black", "= D4 C3 D3", "[C3 D3 E3]", "", "C3 D3", "E3", "D4"),
        ("eyes", "= A1\nB2", "[A1 B2 C3]", "", "A1 B2", "C3", ""),
        ("list_stones black", "= D4 C3", "[C3 E3|E3 C3]", "", "C3", "E3", "D4"),
        # No list came: what is right is not missing in it.
        ("list_stones black", "=", "[C3 D3]", "", "C3 D3", "", ""),
        ("list_stones black", "? cannot D4", "[C3 D3]", "", "C3 D3", "", ""),
        # Small letters, other boards' points, what only looks like a vertex.
        ("is_captured c3", "= a1", "[b2]", "C3", "B2", "", "A1"),
        ("attack T19", "= I5", "[K1]", "", "", "", ""),
        ("loadsgf games/a1.sgf", "=", "[A1]", "", "A1", "", ""),
        ("score", "= W+3.5", r"[W\\+5]", "", "", "", ""),
        ("echo x-A1 B2.", "= C3d", "[A1x]", "", "", "", ""),
        # An expectation that leaves the right answer open calls nothing wrong.
        ("genmove b", "= C5", "[!C5]", "", "", "", ""),
        ("genmove b", "= C5", "[.*E5]", "", "", "", ""),
        ("genmove b", "= C5", None, "", "", "", ""),
    ],
)
def test_what_failed(command, reply, pattern, asked, right, missing, wrong):
    assert find_evidence(command, reply, pattern) == (asked, right, missing, wrong)


def test_letters_are_the_boards():
    letters = "ABCDEFGHI"
    diagram = Diagram(Position(grid(9)), letters=letters)
    assert find_evidence("eyes", "= I1", "[H1]", diagram=diagram) == ("", "H1", "", "I1")


# --- the picture -------------------------------------------------------------------------------


def at(*names):
    return tuple(parse_vertex(name, 9, 9) for name in names)


def test_all_that_is_drawn_is_said():
    position = Position(grid(9)).place(at("C3")[0], BLACK).place(at("D4")[0], WHITE)
    course = PositionCourse(
        Position(grid(9)), ((BLACK, at("C3")[0]), (WHITE, at("D4")[0])), True, (2, 0)
    )
    marks = {at("A1")[0]: "b", at("J9")[0]: "w", at("E5")[0]: "n", at("F6")[0]: "?"}
    diagram = Diagram(position, at("D4")[0], marks, "last move: W D4", course=course)
    found = Evidence(at("C3"), at("A2"), at("B2"), at("G7"))
    legend = {"b": "Black's territory", "w": "White's territory", "n": "nobody's", "?": "asked"}
    drawn = figure(diagram, found, legend, "0.5", "score")
    label = re.search(r'role="img"[^>]*aria-label="([^"]*)"', drawn)[1]
    for words in (
        "Black: C3.",
        "White: D4.",
        "Last move: D4.",
        "Asked about: C3.",
        "Right: A2.",
        "Right, but missing in the reply: B2.",
        "Came, and is wrong: G7.",
        "b A1",
    ):
        assert words in label
    for words in (*legend.values(), "C3: asked about", "prisoners: Black has taken 2, White 0"):
        assert words in unescape(drawn)
    assert 'data-moves="bC3 wD4"' in drawn
    assert 'data-komi="0.5"' in drawn
    assert 'data-command="score"' in drawn


def test_a_board_without_a_course_has_no_steps_but_can_be_copied():
    drawn = figure(Diagram(Position(grid(9)).place((2, 2), BLACK)), Evidence(), {})
    assert "data-step" not in drawn
    assert 'data-start="bC3" data-moves=""' in drawn


def test_the_moves_of_a_view_lead_to_its_position():
    """Stepping begins where the setup does, and captures are told."""
    lines = [
        *(Line(text) for text in ("boardsize 5", "clear_board", "play w a1", "play b a2")),
        Line("play b b1"),
        Line("1 score", "= W+1", "[B+1]", V.FAILED),
    ]
    diagram = view(made_file("x.gtp", lines)).boards[5]
    course = diagram.course
    assert course.start == Position(grid(5))
    assert [(color, vertex(point)) for color, point in course.moves] == [
        (WHITE, "A1"),
        (BLACK, "A2"),
        (BLACK, "B1"),
    ]
    assert course.prisoners == (1, 0)
    assert course.captures
