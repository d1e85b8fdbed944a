"""What concerns several submissions: on the terminal, in class.html and class.json."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from harness.core.records import Failure, FailureKind, Reply
from harness.grading.exports import class_json, summary
from harness.grading.exports.class_page.page import class_page
from harness.grading.marks import findings as concern
from harness.grading.marks.findings import concerns
from harness.grading.records import ClassResult, Twins
from harness.report.paint import Paint
from tests.harness.made_class import made_class


def odd(attempt) -> bool:
    return bool(attempt.flaky or attempt.near_limit or attempt.fault)


def of(*keys: str, **change) -> ClassResult:
    """Return a class of copies of the best of the made class."""
    made = made_class()
    calm = [one for one in made.graded if not one.suspicion and not any(map(odd, one.attempts))]
    best = max(calm, key=lambda one: (one.marks.total, one.submission.key))
    graded = tuple(
        best._replace(submission=best.submission._replace(key=key, students=())) for key in keys
    )
    return made._replace(graded=graded, items=(), **change)


def kinds(result: ClassResult) -> list[str]:
    return [one.kind for one in concerns(result)]


def change_graded(result: ClassResult, place: int, **change) -> ClassResult:
    graded = list(result.graded)
    graded[place] = graded[place]._replace(**change)
    return result._replace(graded=tuple(graded))


def without_points(result: ClassResult, place: int, name: str) -> ClassResult:
    marks = result.graded[place].marks
    parts = tuple(
        part._replace(points=Fraction(0)) if part.name == name else part for part in marks.parts
    )
    return change_graded(result, place, marks=marks._replace(parts=parts))


def dead(result: ClassResult, place: int, reason: str) -> ClassResult:
    failure = Failure(FailureKind.DIED, "The engine died.", 0, reason)
    one = result.graded[place]
    attempts = tuple(
        each._replace(result=each.result._replace(failures=(failure,))) for each in one.attempts
        if each.result
    )  # fmt: skip
    return change_graded(result, place, attempts=attempts)


def test_a_class_in_which_all_went_well_has_none():
    result = of("a", "b", "c", "d")
    assert concerns(result) == ()
    assert "All went as it should" in "".join(class_page(result, [], {}))
    assert "first" not in "\n".join(summary.lines(result, Paint(on=False)))


def test_nobody_has_points_for_a_part():
    result = of("a", "b", "c")
    for place in range(2):
        result = without_points(result, place, "private tests")
    assert kinds(result) == []
    result = without_points(result, 2, "private tests")
    (found,) = concerns(result)
    assert found.kind == concern.NO_POINTS
    assert found.text == "nobody has points for 'private tests' (of 2)"
    assert found.keys == ("a", "b", "c")


def test_nearly_nobody_has_points_for_a_part():
    result = of(*(f"s{number:02}" for number in range(20)))
    for place in range(18):
        result = without_points(result, place, "public tests")
    (found,) = concerns(result)
    assert found.text == "only 2 of 20 have points for 'public tests' (of 2)"
    assert len(found.keys) == 18


def test_a_test_that_nobody_passes():
    item = made_class().items[0]._replace(judged=5, passed=0)
    few = item._replace(judged=2)
    result = of("a", "b", "c")._replace(items=(item, few, item._replace(passed=1)))
    (found,) = concerns(result)
    assert found.kind == concern.NOBODY_PASSES
    assert f"{item.case}:{item.line}" in found.text


def test_engines_that_die_alike():
    result = of("a", "b", "c", "d")
    for place in range(2):
        result = dead(result, place, "KeyError: 'x'")
    assert kinds(dead(result, 2, "ValueError")) == []
    (found,) = concerns(dead(result, 2, "KeyError: 'x'"))
    assert found.keys == ("a", "b", "c")
    assert "3 of 4 submissions end with the same last words: KeyError: 'x'" in found.text


LACKS = (
    "AttributeError: 'GoBoard' object has no attribute 'maxpoint'",
    "AttributeError: module 'board_util' has no attribute 'GoBoardUtil'",
    "AttributeError: type object 'GoBoardUtil' has no attribute 'opponent'",
    "ImportError: cannot import name 'is_black_white' from 'board_base' (/x/board_base.py)",
)


@pytest.mark.parametrize("how", ["reason", "stderr", "reply"])
def test_a_course_folder_in_which_most_miss_something_is_looked_at_first(how):
    """Each misses another name, and some engines live on."""
    result = of("a", "b", "c", "d", "e", "f", "g")
    without = result.assignment
    overlay = without.engine._replace(overlay="util")
    result = result._replace(assignment=without._replace(engine=overlay))
    for place, words in enumerate(LACKS[:3]):
        result = saying(result, place, words, how)
    assert concern.FOREIGN_OVERLAY not in kinds(result)
    result = saying(result, 3, LACKS[3], how)
    (found,) = (one for one in concerns(result) if one.kind == concern.FOREIGN_OVERLAY)
    assert found.keys == ("a", "b", "c", "d")
    assert "4 of 7 submissions miss a name, such as: 'GoBoard' object has no" in found.text
    assert "Is the course folder util the one that they were written for?" in found.text
    page = "".join(class_page(result, [], {}))
    assert "What happens to everybody is rarely everybody" in page
    assert without.engine.overlay == ""
    assert concern.FOREIGN_OVERLAY not in kinds(result._replace(assignment=without))


@pytest.mark.parametrize("owner", ["NoneType", "ndarray"])
def test_a_value_of_another_type_is_a_programs_own_mistake(owner):
    result = of("a", "b", "c")
    for place in range(3):
        words = f"AttributeError: '{owner}' object has no attribute 'x'"
        result = saying(result, place, words, "stderr")
    assert kinds(result) == []


def saying(result: ClassResult, place: int, words: str, how: str) -> ClassResult:
    """Let an engine say what it lacks: when it dies, or while it goes on."""
    if how == "reason":
        return dead(result, place, words)
    one = result.graded[place]
    error = Reply(False, words, f"? {words}", 0.0)
    told = {"stderr": f"Traceback …\n{words}\n"} if how == "stderr" else {"replies": (None, error)}
    attempts = tuple(
        each._replace(result=each.result and each.result._replace(**told)) for each in one.attempts
    )
    return change_graded(result, place, attempts=attempts)


def test_the_same_program_is_told_both_ways_and_everywhere():
    result = of("a", "b", "c", twins=(Twins(("a", "c"), False, ("Go1.py",)),))
    (found,) = concerns(result)
    assert found.kind == concern.SAME
    assert concern.likes(result) == {"a": ("c",), "c": ("a",)}
    said = "\n".join(summary.lines(result, Paint(on=False)))
    told = "look at this first: the same except for blanks and comments (file Go1.py): a, c"
    assert told in said
    page = "".join(class_page(result, [], {}))
    assert "The same except for blanks and comments" in page
    assert page.count("the same program as") == 2
    assert "All went as it should" not in page
    known = json.loads("".join(class_json.parts(result)))
    assert [one["submissions"] for one in known["concerns"]] == [["a", "c"]]
