"""Common features of several failures, on an index of a thousand tests."""

from __future__ import annotations

import re

import pytest

from harness.report.file_view import view
from harness.report.html.failure_ways import group_failures
from harness.report.html.failure_ways import ways as cards
from harness.vocabulary.answers import lead_differs
from tests.harness.made_run import Line, V, made_file

POINT = "Another point than the right one"
ELSE = "The right point, with something else that is wrong"


def find_ways(*failed: tuple[str, str, str]):
    """The ways of failed tests (command, expectation, reply), and how many are in none."""
    told, alone = group_failures([view(file_of(*failed))])
    return [(words, len(tests)) for words, tests in told], alone


def file_of(*failed: tuple[str, str, str]):
    lines = [
        Line(
            f"{number} {command}",
            f"{reply[0]}{number} {reply[1:].strip()}",
            f"[{right}]",
            V.FAILED,
        )
        for number, (command, right, reply) in enumerate(failed, 10)
    ]
    return made_file("a.gtp", lines)


def test_equal_wrong_answers_are_one_way_whatever_was_asked_and_right():
    some = [("attack A1", "1 B1", "=0"), ("attack A2", "2 B1", "=0"), ("defend C3", "1 C4", "=0")]
    assert find_ways(*some, ("defend D4", "2 D5", "=1 D5")) == (
        [("The same wrong answer: 0", 3)],
        1,
    )


def test_errors_are_told_by_their_words_and_are_no_answers():
    failed = [("score", "0", "?unknown command"), ("owl A1", "1", "? unknown command")]
    assert find_ways(*failed, ("score", "0", "=unknown command")) == (
        [("An error: unknown command", 2)],
        1,
    )


def test_two_equal_answers_say_less_than_what_is_the_same_of_many():
    some = [("reg_genmove b", "A1", "=B2"), ("reg_genmove b", "A2", "=B2")]
    assert find_ways(*some) == ([("The same wrong answer: B2", 2)], 0)
    assert find_ways(*some, ("reg_genmove b", "C1|C2", "=C3")) == ([(POINT, 3)], 0)


@pytest.mark.parametrize(
    ("right", "reply", "told"),
    [
        ("1 A1", "1 B1", POINT),
        ("1 (A1|A2)", "1 B1", POINT),
        ("2 A1", "1 A1", ELSE),
        ("critical A1 B1", "critical B1 A1", ELSE),
        ("0", "1 A1", ""),  # there is no right point
        ("1 A1", "PASS", ""),
        ("1 A1", "2 B1", ""),  # neither of both is right
        ("!A1", "A1", ""),  # which ones are right is not said
        ("1 A.*", "1 B1", ""),
    ],
)
def test_a_point_of_an_answer_is_looked_at(right, reply, told):
    point, other = ("defend J1", "3 J9", "=3 H9"), ("defend J2", "5 J9", "=4 J9")
    groups, alone = find_ways(("attack C3", right, f"={reply}"), point, other)
    assert (groups, alone) == (([(told, 2)], 1) if told else ([], 3))


@pytest.mark.parametrize(
    ("right", "came", "told"),
    [
        ("B+3", "B+4.5", "The right color leads, by another margin"),
        ("W+3", "W+2", "The right color leads, by another margin"),
        ("B+3", "W+3", "The wrong color leads"),
        ("W+0.5", "B+3", "The wrong color leads"),
        ("0", "W+3", "One color leads, where it is a draw"),
        ("W+3", "0", "A draw, where one color leads"),
        ("B+3", "B+3.0", ""),  # the form is wrong, not the score
        ("B+3", "three", ""),
        ("resign", "B+3", ""),
    ],
)
def test_scores_differ_by_who_leads_or_by_how_much(right, came, told):
    assert lead_differs(right, came) == told


def test_the_words_of_an_assignment_go_before_equal_answers():
    setup = [Line("boardsize 3"), Line("clear_board"), Line("play b b2")]
    tests = [
        Line(f"{number} score", f"={number} {came}", "[B\\+9|B\\+9\\.0]", V.FAILED)
        for number, came in ((10, "B+1"), (20, "B+8"), (30, "W+9"), (40, "W+9"), (50, "W+9"))
    ]
    told, alone = group_failures([view(made_file("a.gtp", setup + tests))])
    assert [(words, len(some)) for words, some in told] == [
        ("The wrong color leads", 3),
        ("The right color leads, by another margin", 2),
    ]
    assert alone == 0


def test_a_card_has_one_example_with_its_board_and_leads_to_each_file():
    names = ("a.gtp", "b.gtp")
    files = [
        made_file(name, [Line("boardsize 5"), Line("clear_board"), *tests])
        for name, tests in zip(names, (failures(2), failures(1)), strict=True)
    ]
    drawn = str(cards([view(file) for file in files], [f"{name}.html" for name in names]))
    assert re.findall(r"<b>(\d+)</b>", drawn) == ["3"]
    assert drawn.count('<svg class="board"') == 1
    assert re.findall(r'<a href="([^"]+)">([^<]+)</a>([^<,]*)', drawn) == [
        ("a.gtp.html.html#T3", "a.gtp", " ×2"),
        ("b.gtp.html.html#T3", "b.gtp", ""),
    ]


def failures(count: int) -> list[Line]:
    return [Line(f"{n}0 attack A{n}", f"={n}0 0", "[1 B1]", V.FAILED) for n in range(1, count + 1)]
