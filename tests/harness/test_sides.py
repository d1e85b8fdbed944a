"""What a reader is told of a test: what was asked, what is right, what came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.records import Reply
from harness.reading.expectation import EMPTY
from harness.report.difference import komi_of, sides
from harness.report.file_view import FileView, view
from harness.specifications import NAMES, specification
from harness.vocabulary.answers import SETTING, word_answer, word_question
from oracle.draw import Diagram
from oracle.position import BLACK, WHITE, Position, grid, parse_vertex
from tests.harness.made_run import Line, V, made_file

BOARD = Diagram(
    Position(grid(5)).place(parse_vertex("B2", 5, 5), BLACK).place(parse_vertex("C3", 5, 5), WHITE)
)


def tell_sides(command, reply, pattern, verdict=V.FAILED, assignment=None):
    """Return both sides of one test."""
    file = made_file("x.gtp", [Line("komi 0.5"), Line(command, reply, pattern, verdict)])
    wordings = specification(assignment).wordings if assignment else {}
    seen = view(file)._replace(boards={1: BOARD}, wordings=wordings)
    return sides(seen, file.outcomes[0])


@pytest.mark.parametrize(
    ("command", "reply", "pattern", "expected", "got"),
    [
        ("score", "= W+1", r"[W\+0\.5]", "W+0.5", "W+1"),
        ("score", "=", "[A1|B2]", "A1 or B2", "(nothing)"),
        ("score", "= A1", "[]", "(nothing)", "A1"),
        ("score", "? unknown command", "[0]", "0", "an error: unknown command"),
        ("score", "?", "[0]", "0", "an error without a word"),
        ("score", "? no", None, "any answer but an error", "an error: no"),
        ("score", "= B", r"[B\+[0-9]+]", r"an answer that matches the pattern B\+[0-9]+", "B"),
        # A move where a stone lies, or beside the board.
        ("genmove b", "= B2", "[A1|A2]", "A1 or A2", "B2, which is occupied"),
        ("genmove b", "= b2", "[!A1]", "anything but A1", "b2, which is occupied"),
        ("attack C3", "= B2", "[A1]", "A1", "B2, which is occupied"),
        ("attack C3", "= F1", "[A1]", "A1", "F1, which is not on the board"),
        ("attack C3", "= D4", "[A1]", "A1", "D4"),
        ("moves", "= B2 C3 D4", "[A1 D4]", "A1 D4", "B2 C3 D4; B2 and C3 are occupied"),
        ("moves", "= Win B2 A1", "[Win A1]", "Win A1", "Win B2 A1; B2 is occupied"),
        # Stones are what is asked for: that they are there is no fault.
        ("list_stones b", "= C3", "[B2]", "B2", "C3"),
        ("where", "= B2", "[.*]", "any answer", "B2"),
        ("genmove b", "? B2", "[A1]", "A1", "an error: B2"),
        ("genmove b", "= pass", "[A1]", "A1", "pass"),
    ],
)  # fmt: skip
def test_both_sides(command, reply, pattern, expected, got):
    found = tell_sides(command, reply, pattern)
    assert (str(found.expected), str(found.got)) == (expected, got)
    assert not found.asked


def test_the_pattern_stands_apart_where_words_do_not_say_it():
    found = tell_sides("score", "= B", r"[B\+[0-9]+]").expected
    assert found.pattern == r"B\+[0-9]+"
    assert not any(r"\+" in text for text, _ in found.segments)


def test_a_test_that_was_not_run_has_one_side():
    found = tell_sides("score", None, "[0]", V.NOT_RUN)
    assert found.got is None
    assert not found.is_wrong


def test_what_passed_is_told_without_marks():
    found = tell_sides("score", "= B+4", r"[B\+4]", V.PASSED)
    assert not any(differs for side in (found.expected, found.got) for _, differs in side.segments)


# --- in words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assignment", "command", "reply", "pattern", "question", "expected", "got"),
    [
        ("go-scoring", "score", "= 0", r"[W\+0\.5]", "What is the score of this board, with a komi"
         " of 0.5?", "White leads by 0.5", "A draw"),
        ("go-scoring", "score", "= B+5.0", r"[B\+4(\.0)?]", "What is the score of this board, with"
         " a komi of 0.5?", "Black leads by 4", "Black leads by 5"),
        # What says the same in a wrong form is not put into words.
        ("go-scoring", "score", "= b+4", r"[B\+4]", "What is the score of this board, with a komi"
         " of 0.5?", "Black leads by 4", ""),
        ("go-scoring", "score", "? B+4", r"[!B\+4]", "What is the score of this board, with a komi"
         " of 0.5?", "", ""),
        ("gomoku-rules", "gogui-rules_side_to_move", "= black", "[white]", "Whose turn is it?",
         "White's", "Black's"),
        ("gomoku-policy", "gogui-rules_final_result", "= draw", "[unknown]", "Who has won?",
         "Nobody yet: the game goes on", "A draw"),
        ("gomoku-rules", "play B A9", "=", '[(?i)illegal move: "A9" wrong coordinate]',
         "Black plays at A9: what does the engine answer?", "", "Nothing: the move is legal"),
        ("gomoku-rules", "play", "=", "[x]", "", "", "Nothing: the move is legal"),
        ("java-go", "is_legal w c3", "= true", "[false]", "Is a move of White at c3 legal?", "No",
         "Yes"),
        ("java-go", "score b", "= 7", "[8]", "What is the score of Black?", "", ""),
        ("gosensei", "is_valid a{b}.txt", "= maybe", "[true]", "Is a{b}.txt a valid file of a"
         " board?", "Yes", ""),
    ],
)  # fmt: skip
def test_in_words(assignment, command, reply, pattern, question, expected, got):
    found = tell_sides(command, reply, pattern, assignment=assignment)
    assert (found.asked, found.expected.said, found.got.said) == (question, expected, got)


def test_where_both_say_the_same_the_form_is_what_is_wrong():
    found = tell_sides("score", "= B+4.0", r"[B\+4\.0|B\+4\.00]", assignment="go-scoring")
    assert found.expected.said == ""
    file = made_file("x.gtp", [Line("is_over", "= true", "[true]", V.EXPECTED_FAIL)])
    seen = view(file)._replace(wordings=specification("java-go").wordings)
    assert [side.said for side in sides(seen, file.outcomes[0])[1:3]] == ["", ""]


@pytest.mark.parametrize("name", NAMES)
def test_there_are_words_for_all_that_an_assignment_asks(name):
    forms = specification(name).forms
    judged = {command for command, form in forms.items() if form is not SETTING}
    assert judged - {"protocol_version"} == {*specification(name).wordings}


@given(st.text(), st.text(), st.text())
def test_whatever_is_asked_and_answered_has_words_or_none(command, komi, answer):
    for name in NAMES:
        wordings = specification(name).wordings
        for own in wordings:
            word_question(wordings, f"{own} {command}", komi)
            word_answer(wordings, own, answer)


@given(st.text(), st.booleans())
def test_no_reply_is_empty_in_words(text, ok):
    file = made_file("x.gtp", [Line("genmove b", "=", "[A1]", V.FAILED)])
    outcome = file.outcomes[0]._replace(reply=Reply(ok, text, text, 0.0))
    got = str(sides(FileView(file, None, (), {0: BOARD}), outcome).got)
    assert got.startswith(text if ok and text else EMPTY if ok else "an error")


def test_the_komi_is_that_of_the_set_up():
    lines = ["komi 5", "boardsize 5", "clear_board", "komi 6.5", "play b a1"]
    file = made_file("x.gtp", [*map(Line, lines), Line("score", "= 0", "[1]", V.FAILED)])
    assert komi_of(view(file), 5) == "6.5"
    without = made_file(
        "x.gtp", [Line("komi 5"), Line("clear_board"), Line("score", "= 0", "[1]", V.FAILED)]
    )
    assert komi_of(view(without), 2) == ""
