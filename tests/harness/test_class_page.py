"""What the teacher reads of a class: what went wrong alike, and the evidence behind a cell."""

from __future__ import annotations

import re

import pytest

from harness.core.records import Diagnosis
from harness.grading.exports import exporters as exports
from harness.grading.exports.class_page.page import class_page
from harness.grading.marks import marking as results
from harness.grading.marks.findings import common_errors
from harness.grading.records import Newcomer, Student
from harness.report.views import Views
from harness.specifications import specification
from oracle.mistakes import find_mistake
from tests.harness.made_class import (
    PLACE,
    attempts,
    made_class,
    mark_by_counting,
    student,
    submission,
)
from tests.harness.test_html_pages import Page

KOMI, WHITE = find_mistake("komi-ignored"), find_mistake("neutral-points-to-white")


def of(**mistakes: str):
    """A class; each student makes a mistake of the bank, or none if it is empty."""
    return tuple(
        mark_by_counting(submission(key, student(key, key.title(), n)), attempts(key, mistake))
        for n, (key, mistake) in enumerate(mistakes.items(), 1)
    )


def make_diagnosed(one, mistake, left: int = 0):
    """A submission with a diagnosis that leaves so many failures unexplained."""
    total = sum(test.passed is False for test in results.tests(one.attempts))
    return one._replace(diagnoses=(Diagnosis(((mistake,),), total - left, total),))


def errors(graded):
    return common_errors(
        graded,
        {one.submission.key: tuple(results.tests(results.own(one.attempts))) for one in graded},
    )


# --- what the class got wrong ------------------------------------------------------------------


def test_nothing_is_common_where_all_is_right():
    assert errors(of(a="", b="")) == ()


def test_submissions_with_the_same_diagnosis_are_one_group_the_largest_first():
    a, b, c = of(a="komi-ignored", b="neutral-points-to-white", c="komi-ignored")
    first, other = make_diagnosed(a, KOMI), make_diagnosed(c, KOMI, left=1)
    found = errors((first, make_diagnosed(b, WHITE), other))
    assert [(one.diagnosis.reasons, one.keys) for one in found] == [
        ("as if the komi were 0", ("a", "c")),
        ("as if neutral points were White's", ("b",)),
    ]
    assert found[0].diagnosis == first.diagnoses[0]  # of several the first one is told


def test_equal_wrong_answers_that_nothing_explains_are_one_group_with_all_their_tests():
    graded = of(a="komi-ignored", b="", c="komi-ignored")
    (found,) = errors(graded)
    assert (found.diagnosis, found.keys) == (None, ("a", "c"))
    wrong = {test.key for test in results.tests(graded[0].attempts) if test.passed is False}
    assert {one.example.key for one in found.answers} == wrong
    assert all(one.keys == ("a", "c") for one in found.answers)


def test_who_is_explained_is_not_told_twice_but_who_is_in_part_may_be():
    a, b = of(a="komi-ignored", b="komi-ignored")
    whole = errors((make_diagnosed(a, KOMI), make_diagnosed(b, KOMI)))
    assert [one.diagnosis is None for one in whole] == [False]
    part = errors((make_diagnosed(a, KOMI, left=1), make_diagnosed(b, KOMI, left=1)))
    assert [one.diagnosis is None for one in part] == [False, True]


def test_the_page_says_a_sentence_for_the_lecture_and_shows_the_board():
    graded = tuple(make_diagnosed(one, KOMI) for one in of(a="komi-ignored", c="komi-ignored"))
    result = made_class()._replace(graded=graded)
    text = Page(page_of(result)).text
    (said,) = re.findall(
        r"If the komi were 0, the answer here would be “(.+?)”\. It is “(.+?)”\.", text
    )
    assert said == ("Black leads by 2", "White leads by 1")  # on the smallest board
    assert "expected White leads by 1 → got Black leads by 2" in text
    assert "W+1 or W+1.0 → B+2" in text, "as they are written, too"
    assert "As if the komi were 0 2 of 2" in text
    assert Page(page_of(result)).boards == 1


def test_equal_wrong_answers_are_headed_by_what_their_test_is_about():
    result = made_class()._replace(graded=of(a="komi-ignored", c="komi-ignored"))
    text = Page(page_of(result)).text
    heading = "A captured stone is gone: White's A1 has no liberty left."
    assert f"{heading} 2 of 2expected White leads by 1 → got Black leads by 2" in text
    assert "2 of you answered “Black leads by 2” here. Right is “White leads by 1”." in text


def test_who_is_new_in_a_group_and_has_no_mark_is_named():
    ada = Newcomer(Student("ada", "Ada <Right>"), "duo")
    text = Page(page_of(made_class()._replace(unmarked=(ada,)))).text
    told = "Ada <Right> is new in duo, whose mark was given before: Ada <Right> gets one when its"
    assert f"1 student without a mark yet{told} change is accepted" in text
    assert "without a mark" not in Page(page_of(made_class())).text


def page_of(result) -> str:
    views = Views(specification("go-scoring"), PLACE)
    seen = {
        one.submission.key: [
            exports.CaseSummary(each, views.of(each.result, each.case, each.path))
            for each in one.attempts
            if each.result
        ]
        for one in result.graded
    }
    return "".join(class_page(result, [], seen))


# --- evidence ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    exports.write(made_class("nothing"), folder)
    return folder


def evidence(folder, key: str) -> Page:
    return Page((folder / f"evidence/{key}.html").read_text())


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("gus", ["It does not build", "expected ';' before", "Nothing was run."]),
        ("kim", ["Harness error", "the sandbox's server did not answer", "mark withheld"]),
        ("ivy", ["Near a limit", "30 s are the limit"]),
        ("fay", ["Nothing was graded", "the name leads out of the folder"]),
        ("bob", ["private · 125 ms wall time", "100 ms CPU time", "Go1 1.0"]),
        ("lee", ["area.gtp turned by 90 degrees", "image"]),
    ],
)
def test_each_sort_of_evidence_is_there(folder, key, words):
    text = evidence(folder, key).text
    assert [word for word in words if word not in text] == []


def test_variants_are_shown_only_of_those_who_fail_them(folder):
    assert "turned by 90 degrees" not in evidence(folder, "ada").text


def test_a_cell_leads_to_its_card_and_the_card_to_the_conversation_and_back(folder):
    page = (folder / "class.html").read_text()
    (address,) = re.findall(r'<td><a href="evidence/bob\.html#(f2T12)">failed</a>', page)
    there = (folder / "evidence/bob.html").read_text()
    card = there[there.index(f'id="{address}"') :].partition("</details>\n")[0]
    assert 'href="#f2L12"' in card
    (back,) = re.findall(r'href="\.\./class\.html#(t\d+)"', card)
    assert f'<tr id="{back}">' in page
    assert f'<b id="f2L12"><a href="#{address}" class="f">' in there


def test_no_page_of_a_student_leads_to_the_evidence(folder):
    for path in (folder / "feedback").glob("*.html"):
        assert "evidence/" not in path.read_text()
