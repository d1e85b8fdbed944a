"""Much at once, so that a reader finds what matters: long answers, and several diagnoses."""

from __future__ import annotations

import re

import pytest

from harness.records import Diagnosis
from harness.report.file_view import view
from harness.report.html.card import _sides as card_sides
from harness.report.html.index import _diagnoses
from harness.report.paint import Paint
from harness.report.tally import summary, tally
from harness.report.terminal_report import Terminal
from oracle.mistakes import MISTAKES
from tests.harness.made_run import RUN, Line, V, made_file
from tests.harness.test_sides import tell_sides

POINTS = [f"{column}{row}" for row in range(1, 6) for column in "ABCDE"]
ALL = " ".join(POINTS)  # 74 characters


def without(*names):
    return " ".join(name for name in POINTS if name not in names)


LONG_ROWS = {
    "missing": (ALL, without("B3", "C3"), "B3 C3", ""),
    "extra": (without("A1"), ALL, "", "A1"),
    "both": (without("A1", "B2"), without("C3", "B2"), "C3", "A1"),
    "at another place": (ALL, f"{without('A1')} A1", "", ""),
    "twice": (ALL, f"{ALL} C3 C3", "", "C3 C3"),
    "nothing in common": (ALL, " ".join("Z" + name for name in POINTS), ALL, None),
    "a name in each line": ("\n".join(POINTS), without("E5").replace(" ", "\n"), "E5", ""),
    # What is short has marks, and a board is no list.
    "short": ("A1 B2 C3", "A1 C3", "", ""),
    "a board": ("\n".join(["a b c d e f g h"] * 9), "\n".join(["a b c d e f g x"] * 9), "", ""),
    "nothing came": (ALL, "", "", ""),
}


@pytest.mark.parametrize("row", LONG_ROWS)
def test_of_a_long_answer_the_missing_and_the_extra_words_are_told(row):
    expected, got, missing, extra = LONG_ROWS[row]
    told = tell_sides("moves", f"= {got}", f"[{expected}]")
    assert told.missing == missing
    assert extra is None or told.extra == extra


def test_the_terminal_draws_no_carets_below_a_long_answer():
    got = without("C3", "D3")
    file = made_file("x.gtp", [Line("moves", f"= {got} F6", f"[{ALL}]", V.FAILED)])
    lines = "".join(Terminal(Paint(0)).file(view(file))).splitlines()
    assert not [line for line in lines if "^" in line]
    assert [line.split() for line in lines if re.match(" +(missing|extra) ", line)] == [
        ["missing", "C3", "D3"],
        ["extra", "F6"],
    ]


def test_the_terminal_draws_carets_below_a_short_answer():
    file = made_file("x.gtp", [Line("moves", "= A1 C3", "[A1 B2 C3]", V.FAILED)])
    said = "".join(Terminal(Paint(0)).file(view(file)))
    assert "^^" in said
    assert "missing" not in said


def test_the_page_names_the_missing_and_the_extra_words():
    told = tell_sides("moves", f"= {without('C3')} F6", f"[{ALL}]")
    shown = str(card_sides(told))
    assert "Missing: <code>C3</code>" in shown
    assert "Extra: <code>F6</code>" in shown


# --- several diagnoses -------------------------------------------------------------------------

ONE, OTHER, THIRD = list(MISTAKES.values())[:3]
SEVERAL = Diagnosis(((ONE, OTHER), (ONE, THIRD)), 3, 4)
SAID = "it answers in one of these ways, the likeliest first: 3 of 4 failures explained"
WAYS = (f"{ONE.clause}, and {OTHER.clause}", f"{ONE.clause}, and {THIRD.clause}")


def test_one_diagnosis_is_a_sentence():
    one = Diagnosis(((ONE,),), 1, 1)
    assert one.lines == (str(one),)


def test_several_diagnoses_have_a_line_each():
    assert SEVERAL.lines == (SAID, *WAYS)


def test_the_simplest_of_several_diagnoses_is_first():
    found = Diagnosis(tuple((one,) for one in MISTAKES.values())[:9], 1, 1).alternatives
    lengths = [len(words.split()) for words in found]
    assert lengths == sorted(lengths)
    assert sorted(found) == sorted(one.clause for one in list(MISTAKES.values())[:9])


def test_each_report_lists_several_diagnoses():
    run = RUN._replace(diagnoses=(SEVERAL,))
    said = summary(run, [tally(file) for file in run.files], Paint(0))
    assert f"diagnosis  {SAID}\n           - {WAYS[0]}\n           - {WAYS[1]}\n" in said
    page = str(_diagnoses((SEVERAL,)))
    assert page.count("<li>") == 3
