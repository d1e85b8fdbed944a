"""Marks that people gave instead of computed ones: in every export the mark that counts."""

import csv
import json
import zipfile
from fractions import Fraction

import pytest

from harness.grading.exports import exporters as exports
from harness.grading.exports.exporters import Downloaded
from harness.grading.records import GivenMark, counting_mark, decimal
from tests.harness.made_class import CANVAS, MOODLE, made_class

WHY = "seen <b>in person</b>"
# By students: two of a group of three, one with a withheld mark, one with a refused submission.
GIVEN = {"ada": "1.5", "cat": "0.25", "dan": "0.25", "kim": "2", "fay": "3.25"}


@pytest.fixture(scope="module")
def result():
    given = (GivenMark(key, Fraction(points), WHY) for key, points in GIVEN.items())
    return made_class()._replace(given=tuple(given))


@pytest.fixture(scope="module")
def files(result, tmp_path_factory):
    room = tmp_path_factory.mktemp("given")
    (room / "canvas.csv").write_text(CANVAS)
    (room / "moodle.csv").write_text(MOODLE)
    sheets = {name: Downloaded(room / f"{name}.csv") for name in ("canvas", "moodle")}
    exports.write(result, room / "out", sheets)
    return room / "out"


def students(result):
    """Yield each student, with what was computed and the points that count; None: none do."""
    for one in result.graded:
        for student in one.submission.students:
            computed = None if one.marks.withheld else decimal(one.marks.total)
            yield one, student, computed, GIVEN.get(student.key, computed)


def cells(path, delimiter=","):
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_the_table_has_both(result, files):
    with (files / "marks.csv").open(newline="") as file:
        rows = {row["key"]: row for row in csv.DictReader(file)}
    for _, student, computed, counts in students(result):
        row = rows[student.key]
        assert (row["computed"], row["total"]) == (computed or "", counts or "")
        assert ("Given by a person" in row["note"]) is (student.key in GIVEN)


def test_without_any_the_table_is_as_ever(tmp_path):
    exports.write(made_class(), tmp_path)
    assert "computed" not in (tmp_path / "marks.csv").read_text().splitlines()[0]


def test_a_gradebook_of_canvas_has_what_counts(files):
    found = {row[3]: row[6] for row in cells(files / "canvas.csv")[3:]}
    wanted = {"ada": "1.5", "cat": "0.25", "dan": "EX", "fay": "3.25", "kim": "2", "gus": "0"}
    assert {key: found[key] for key in wanted} == wanted
    assert found["eve"] not in ("", "0.25")  # the third of the group: the computed one


def test_a_worksheet_of_moodle_has_what_counts_and_says_so(files):
    found = {row[0]: row for row in cells(files / "moodle.csv")}
    assert found["Participant 101"][4] == "1,5"
    said = found["Participant 101"][9]
    assert said.startswith("<p>1.5 of 5</p>") and "mark (5 of 5): seen &lt;b&gt;in" in said
    assert "Given by a person" not in found["Participant 102"][9]


def test_a_student_is_shown_what_counts_and_the_other(result, files):
    for one, student, computed, counts in students(result):
        page = (files / "feedback" / f"{student.key}.html").read_text()
        assert ("Given by a person" in page) is (student.key in GIVEN), student.key
        if student.key in GIVEN:
            assert f'<span class="vh">Mark: </span>{counts}</b>' in page
            assert (f"({one.marks})" if computed else "there was none") in page
            assert "&lt;b&gt;in person" in page and WHY not in page


def test_a_page_of_a_zip_is_the_page(files):
    with zipfile.ZipFile(files / "moodle-feedback-flat.zip") as archive:
        pages = {archive.read(name) for name in archive.namelist()}
    assert (files / "feedback" / "ada.html").read_bytes() in pages


def test_json_has_the_computed_ones_and_those_given(files):
    document = json.loads((files / "class.json").read_text())
    assert {one["student"]: Fraction(one["total"]["exact"]) for one in document["given"]} == {
        key: Fraction(points) for key, points in GIVEN.items()
    }
    totals = {one["key"]: one["marks"]["total"] for one in document["submissions"]}
    assert totals["kim"] is None and Fraction(totals["ada"]["exact"]) == 5


GRADESCOPE = {"ada": 1.5, "kim": 2.0, "fay": 3.25, "group-7": None}


@pytest.mark.parametrize("key", GRADESCOPE)
def test_gradescope_has_one_mark_of_a_submission_or_none(files, key):
    """Two of three in the group were given another: no number is right for all."""
    path = files / "gradescope" / key / "results.json"
    found = json.loads(path.read_text())["score"] if path.exists() else None
    assert found == GRADESCOPE[key]


def test_a_group_that_was_given_one_mark_has_it_in_gradescope(result, tmp_path):
    given = tuple(GivenMark(key, Fraction(1), WHY) for key in ("cat", "dan", "eve"))
    exports.write(result._replace(given=given), tmp_path)
    found = json.loads((tmp_path / "gradescope/group-7/results.json").read_text())
    assert found["score"] == 1.0 and "Given by a person" in found["output"]


def test_the_teachers_pages_say_which_were_given(files):
    page = (files / "class.html").read_text()
    assert "5 marks given by a person instead of the computed one" in page
    assert "given 0.25 by a person" in page and WHY not in page
    assert "was given 1.5 by a person" in (files / "evidence" / "ada.html").read_text()


def test_what_counts():
    marks = made_class().graded[0].marks
    given = GivenMark("ada", Fraction(1), "why")
    assert counting_mark(marks, None) is marks
    counts = counting_mark(marks, given)
    assert (counts.total, counts.of, counts.parts) == (1, marks.of, marks.parts)
    counts = counting_mark(marks._replace(withheld=True), given)
    assert (counts.total, counts.parts, counts.withheld) == (1, (), False)
