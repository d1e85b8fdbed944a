"""A student's page: what comes first, what is folded, and that nothing on it can break it."""

from __future__ import annotations

import html
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.records import Diagnosis, FileResult
from harness.grading.exports.feedback import body_of, pages
from harness.grading.exports.showing import feedback
from harness.grading.records import PUBLIC, Attempt, Graded
from harness.report.views import Views
from harness.specifications import specification
from oracle.mistakes import find_mistake
from tests.harness.made_class import (
    PLACE,
    SCRIPT,
    attempts,
    made_class,
    mark_by_counting,
    student,
    submission,
    with_reply,
)
from tests.harness.made_run import Line, V, made_file
from tests.harness.test_html_pages import Page

FAILED = '<details class="card test" data-c="f" data-fail'


@cache
def views() -> Views:
    return Views(specification("go-scoring"), PLACE)


def page_of(graded: Graded, visible: str = "verdict") -> str:
    """The whole page of the first student, as it is written."""
    result = made_class(visible)._replace(graded=(graded,))
    shown = feedback(graded, result, views())
    ((_, content), *_) = pages(result, {graded.submission.key: shown})
    return content.decode()


def one_file(*files: FileResult, name: str = "Me Myself", **more: object) -> Graded:
    """A submission with these public files."""
    found = tuple(Attempt("me", PUBLIC, file.case.path, file) for file in files)
    return mark_by_counting(submission("me", student("me", name, 1), **more), found)


def failing(reply: str, pattern: str = "[0]") -> FileResult:
    lines = [Line("boardsize 5"), Line("clear_board"), Line("komi 1")]
    file = made_file("x.gtp", [*lines, Line("score", "= x", pattern, V.FAILED)])
    return with_reply(file, 4, reply)


# --- order -------------------------------------------------------------------------------------


def test_what_matters_comes_first():
    graded = next(one for one in made_class().graded if one.submission.key == "bob")
    page = page_of(graded)
    places = [
        page.index(words)
        for words in (
            "<h1>Bob Ünal</h1>",
            '<span class="vh">Mark: </span>2.86',
            "3 of 7 tests passed.",
            "One mistake would explain all 4 failures",
            "as if neutral points were White&#39;s",
            "<h2>Public tests</h2>",
            FAILED,
            "White leads by 0.5",  # in the card's one line
            "White leads by 23.5",
            "What is the score of this board, with a komi of 0.5?",
            "Because",
            "3 tests passed",
            "<h2>Private tests</h2>",
            "1 of 2 passed; what they ask is not shown",
            "<h2>Repeat it at home</h2>",
            "all tests, and the files themselves",
            "What you submitted",
        )
    ]
    assert places == sorted(places)


def test_three_failures_are_unfolded_and_the_others_are_one_line():
    lines = [Line("boardsize 3"), Line("clear_board"), Line("komi 0")]
    tests = [Line(f"{n} score", f"={n} B+{n}", "[0]", V.FAILED) for n in range(1, 6)]
    page = page_of(one_file(made_file("x.gtp", [*lines, *tests])))
    assert re.findall(rf"{FAILED}( open)?>", page) == [" open"] * 3 + [""] * 2
    assert page.count('<span class="vh">expected </span>A draw</span>') == 5


def test_failures_come_before_what_is_only_doubtful():
    tests = [Line("1 x", "=1 y", "[0]", V.NOT_JUDGED), Line("2 x", "=2 y", "[0]", V.FAILED)]
    page = page_of(one_file(made_file("x.gtp", tests)))
    assert page.index("<code>2 x</code>") < page.index("<code>1 x</code>")


def test_what_passed_is_folded_with_the_answers():
    page = page_of(one_file(made_file("x.gtp", [Line("7 score", "=7 B+1", r"[B\+1]", V.PASSED)])))
    folded = re.findall(
        r'<details class="card fold"><summary>(.*?)</summary>(.*?)</details>', page
    )
    title, body = folded[0]
    assert "1 test passed" in title
    assert "<code>7 score</code> &rarr; <code>B+1</code>" in body


# --- in words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "failures", "total", "told"),
    [
        ([("komi-ignored",)], 1, 1, "One mistake would explain the failure"),
        ([("komi-ignored",)], 4, 4, "One mistake would explain all 4 failures"),
        ([("komi-ignored",)], 3, 4, "One mistake would explain 3 of 4 failures"),
        (
            [("komi-ignored", "colors-exchanged")],
            4,
            4,
            "2 mistakes together would explain all 4 failures",
        ),
    ],
)
def test_what_would_explain_them_all(names, failures, total, told):
    sets = tuple(tuple(find_mistake(name) for name in one) for one in names)
    graded = one_file(failing("1"))._replace(diagnoses=(Diagnosis(sets, failures, total),))
    page = page_of(graded)
    assert f"<h2>{told}</h2>" in page
    assert all(one.clause in html.unescape(page) for one in sets[0])


@pytest.mark.parametrize(
    ("reply", "pattern", "words"),
    [
        ("", "[0]", "✕ Got(nothing)"),
        ("B+1", "[0]", "✕ GotBlack leads by 1B+1"),
        ("0", r"[B\+2(\.0)?]", "✓ ExpectedBlack leads by 2B+2 or B+2.0"),
        ("0", r"[B\+[1-9][0-9]*]", "✓ Expectedan answer that matches the patternThe pattern"),
    ],
)
def test_no_student_reads_an_expression_unasked(reply, pattern, words):
    page = page_of(one_file(failing(reply, pattern)))
    assert words in Page(page).text
    unfolded = re.sub(r'<details class="pat">.*?</details>', "", page)
    assert r"\+" not in unfolded.partition("<script>")[0].partition("</style>")[2]


# --- hostile strings ---------------------------------------------------------------------------

HOSTILE = {
    "HTML": SCRIPT,
    "an attribute": '" onmouseover="alert(1)',
    "an entity": "&lt;b&gt; &amp;quot; &#x3c;",
    "a template": "%s %(x)s {0} {with_komi}",
    "right to left": "\u202eB+1\u202c \u2066x\u2069",
    "control characters": "\x1b[31mred\x1b[0m\x07\x08\x7f\x85",
    "bytes": "\udcff\udc80",
    "NUL": "a\x00b",
    "lines": "a\n\n\nb\r\nc\td",
    "10 kB": "B+" + "1" * 10_000,
    "10 kB of HTML": "<b>" * 3_500,
    "10 kB of lines": "x\n" * 5_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_that_is_answered_breaks_the_page(text):
    page = page_of(one_file(failing(text)))
    assert len(Page(page).scripts) == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "<script>document" not in page
    assert 'onmouseover="' not in page
    assert len(page) < 80_000


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_nothing_in_a_name_or_a_log_breaks_the_page(text):
    more = {"faults": (text,), "remarks": (text,), "refused": text}
    graded = one_file(failing(text)._replace(stderr=text, warnings=(text,)), name=text, **more)
    page = page_of(graded._replace(submission=graded.submission._replace(name=text)))
    assert len(Page(page).scripts) == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "<script>document" not in page


@given(st.text(max_size=200), st.text(max_size=60))
def test_whatever_is_answered_and_expected_the_page_is_well_formed(reply, expected):
    graded = one_file(failing(reply, f"[{' '.join(expected.split())}]"))
    result = made_class()._replace(graded=(graded,))
    body = body_of(feedback(graded, result, views()))
    Page(f"<html><body>{body}</body></html>")


def test_a_page_is_the_same_for_all_members_but_for_their_names():
    group = [student(key, name, n) for n, (key, name) in enumerate([("a", "Ann"), ("b", "Ben")])]
    graded = mark_by_counting(submission("g", *group), attempts("g", "komi-ignored"))
    result = made_class()._replace(graded=(graded,))
    shown = feedback(graded, result, views())
    (_, one), (_, other) = pages(result, {"g": shown})
    assert one.replace(b"Ann", b"Ben") == other
