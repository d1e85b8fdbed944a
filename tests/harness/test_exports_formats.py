"""JSON, JUnit and results.json of a grading, read back strictly, and all formats' golden files."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from harness.core.text import escape_controls, without_surrogates
from harness.grading.exports import class_json, gradescope, junit
from harness.grading.exports import exporters as exports
from harness.grading.exports.exporters import Downloaded
from harness.grading.exports.showing import feedback
from harness.grading.records import PUBLIC, Attempt, decimal
from harness.report.html.board_drawing import DEFINITIONS
from harness.report.html.page_names import SCRIPT as PROGRAM
from harness.report.views import Views
from harness.specifications import specification
from tests import golden
from tests.harness.made_class import (
    CANVAS,
    MOODLE,
    PLACE,
    made_class,
    mark_by_counting,
    student,
    submission,
)
from tests.harness.test_report_formats import check_counts, runs

GOLDEN = Path(__file__).parent / "golden" / "class"


def only(*attempts: Attempt):
    """A class of one submission."""
    return made_class()._replace(
        graded=(mark_by_counting(submission("one", student("one", "One", 1)), attempts),), items=()
    )


# --- JSON --------------------------------------------------------------------------------------


def read_json(result):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    text = without_surrogates("".join(class_json.parts(result)))
    return json.loads(text.encode(), parse_constant=refuse)


def test_json_says_what_the_class_says():
    result = made_class()
    read = read_json(result)
    assert (read["schema"], read["version"]) == ("gtp-harness/class", 1)
    points = {"exact": "5", "rounded": 5.0}
    assert read["assignment"] == {"key": "go-scoring", "title": "Go scoring", "of": points}
    assert len(read["items"]) == len(result.items) == 9
    for graded, one in zip(result.graded, read["submissions"], strict=True):
        assert one["key"] == graded.submission.key
        assert [s["name"] for s in one["students"]] == [s.name for s in graded.submission.students]
        assert len(one["attempts"]) == len(graded.attempts)
        marks = one["marks"]
        if not graded.marks.withheld:
            parts = [Fraction(part["points"]["exact"]) for part in marks["parts"]]
            assert Fraction(marks["total"]["exact"]) == graded.marks.total
            assert sum(parts) - Fraction(marks["deduction"]["exact"]) == graded.marks.total


def test_every_member_that_json_has_is_documented():
    words = set(re.findall(r"\w+", class_json.__doc__))
    read = read_json(made_class())
    members = {*read, *read["assignment"], *read["items"][0], *read["submissions"][0]}
    for one in read["submissions"]:
        members |= {*one["file"], *one["log"], *one["marks"], *(one["suspicion"] or {})}
        members |= {*(one["build"] or {}), *(m for a in one["attempts"] for m in a)}
    assert members <= words


@settings(max_examples=20, deadline=None)
@given(runs())
def test_json_and_junit_are_read_whatever_they_hold(run):
    (file,) = run.files
    result = only(Attempt("one", PUBLIC, file.case.path, file, fault="", near_limit=file.stderr))
    (one,) = read_json(result)["submissions"]
    assert len(one["attempts"][0]["result"]["tests"]) == len(file.outcomes)
    read_junit(result)


# --- JUnit -------------------------------------------------------------------------------------


def read_junit(result):
    root = ElementTree.fromstring(escape_controls("".join(junit.parts(result))).encode())
    for suite in root:
        check_counts(suite, suite.findall("testcase"))
    check_counts(root, list(root.iter("testcase")))
    return {suite.get("name"): suite for suite in root}


def test_junit_has_a_suite_for_each_case_file_of_each_submission():
    suites = read_junit(made_class())
    assert suites["ada/area.gtp"].get("failures") == "0"
    assert suites["bob/area.gtp"].get("failures") == "2"
    assert suites["hal/captures.gtp"].get("errors") == "1"
    errors = [case.find("error").get("message") for case in suites["gtp-harness"]]
    assert [error.split(":")[0] for error in errors] == ["fay", "gus", "kim/hidden.gtp", "mia"]
    assert "gus/area.gtp" not in suites


# --- Gradescope --------------------------------------------------------------------------------

# "Output Format" of Gradescope's autograder specifications: members, and what they may be.
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
TOP = {
    "score": float,
    "output": str,
    "output_format": FORMATS,
    "test_output_format": FORMATS,
    "test_name_format": FORMATS,
    "visibility": VISIBILITY,
    "stdout_visibility": VISIBILITY,
    "tests": list,
}
TEST = {
    "score": float,
    "max_score": float,
    "status": {"passed", "failed"},
    "name": str,
    "output": str,
    "visibility": VISIBILITY,
}


def check_members(found, schema):
    for name, value in found.items():
        kind = schema[name]
        assert value in kind if isinstance(kind, set) else type(value) is kind


def read_gradescope(key, visible_="verdict"):
    result = made_class(visible_)
    (graded,) = [one for one in result.graded if one.submission.key == key]
    read = json.loads(
        gradescope.results(feedback(graded, result, Views(specification("go-scoring"), PLACE)))
    )
    check_members(read, TOP)
    for test in read["tests"]:
        check_members(test, TEST)
    return read


@pytest.mark.parametrize("visible_", ["verdict", "everything"])
@pytest.mark.parametrize("visibility", sorted(VISIBILITY))
def test_all_that_tells_of_private_tests_is_seen_when_the_teacher_says(visible_, visibility):
    result = made_class(visible_)
    (graded,) = [one for one in result.graded if one.submission.key == "bob"]
    parts = frozenset(one.name for one in result.assignment.marks if one.judged_by == "private")
    assert parts
    shown = feedback(graded, result, Views(specification("go-scoring"), PLACE))
    read = json.loads(gradescope.results(shown, gradescope.Later(visibility, parts)))
    public = len(shown.marks.parts) - len(parts) + sum(len(f.file.outcomes) for f in shown.public)
    found = [test["visibility"] for test in read["tests"]]
    assert found.count("visible") == (len(found) if visibility == "visible" else public)
    assert set(found) == {"visible", visibility}
    assert (str(shown.marks) in read["output"]) is (visibility == "visible")


def test_why_points_were_deducted_is_seen_with_the_total():
    """Before, it would tell the total; without it nobody could add up what is seen."""
    result = made_class()
    (graded,) = [one for one in result.graded if one.submission.key == "group-7"]
    why = graded.marks.deduction_reason
    assert why
    shown = feedback(graded, result, Views(specification("go-scoring"), PLACE))
    later = gradescope.Later("after_due_date", frozenset(["private"]))
    read = json.loads(gradescope.results(shown, later))
    (late,) = [test for test in read["tests"] if test.get("output") == why]
    assert (late["name"], late["visibility"]) == ("Late", "after_due_date")
    assert why not in read["output"]
    at_once = json.loads(gradescope.results(shown))
    assert why in at_once["output"]
    assert not [test for test in at_once["tests"] if test["name"] == "Late"]


@pytest.mark.parametrize("visible_", ["nothing", "everything"])
def test_results_are_as_gradescope_documents_them(visible_):
    for graded in made_class().graded:
        if graded.marks.withheld:
            continue
        read = read_gradescope(graded.submission.key, visible_)
        assert read["score"] == float(decimal(graded.marks.total))
        scored = [test for test in read["tests"] if "score" in test]
        assert [test["name"] for test in scored] == [p.name for p in graded.marks.parts]
        assert not any(test["visibility"] == "hidden" for test in read["tests"])


def test_what_says_nothing_about_a_submission_has_no_status():
    (test,) = [t for t in read_gradescope("zzz")["tests"] if t["output"] == "not judged"]
    assert "status" not in test


@pytest.mark.parametrize(
    ("visible_", "names"),
    [
        ("nothing", []),
        ("verdict", ["Private test 1", "Private test 2"]),
        ("command", ["Private test 1: score", "Private test 2: score"]),
        ("everything", ["hidden.gtp:9: score", "hidden.gtp:13: score"]),
    ],
)
def test_private_tests_as_far_as_they_may_be_seen(visible_, names):
    shown = [test["name"] for test in read_gradescope("ada", visible_)["tests"]]
    public = [name for name in shown if name.startswith(("area", "captures"))]
    assert shown[3 + len(public) :] == names


# --- golden files ------------------------------------------------------------------------------

CLASS = ("class.html", "class.json", "junit.xml", "marks.csv", "canvas.csv", "moodle.csv")
EVIDENCE = ("hal", "jon")
STUDENTS = ("bob", "cat", "gus", "hal", "kim", "zzz")


@pytest.fixture(scope="module")
def written_exports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    (folder / "gradebook.csv").write_bytes(CANVAS.encode())
    (folder / "worksheet.csv").write_bytes(MOODLE.encode())
    sheets = {"canvas": folder / "gradebook.csv", "moodle": folder / "worksheet.csv"}
    wanted = {name: Downloaded(path) for name, path in sheets.items()}
    result = made_class()._replace(sandbox="off: --unsafe-no-sandbox was given")
    exports.write(result, folder / "out", wanted)
    return folder / "out"


@pytest.mark.parametrize(
    "name",
    [
        *CLASS,
        *(f"evidence/{key}.html" for key in EVIDENCE),
        *(f"feedback/{key}.html" for key in STUDENTS),
        "gradescope/bob/results.json",
    ],
)
def test_golden(written_exports, name):
    text = (written_exports / name).read_bytes().decode()
    text = re.sub("<style>.*?</style>", "<style>(style)</style>", text)
    for long, short in ((PROGRAM, "script"), (DEFINITIONS, "gradients")):
        text = text.replace(long, f"({short})")
    golden.check(GOLDEN / name, text)


def test_everything_else_is_written_too(written_exports):
    names = {
        p.relative_to(written_exports).as_posix()
        for p in written_exports.rglob("*")
        if p.is_file()
    }
    keys = {s.key for one in made_class().graded for s in one.submission.students}
    graded = {one.submission.key for one in made_class().graded if not one.marks.withheld}
    assert names == {
        *CLASS,
        *(f"evidence/{one.submission.key}.html" for one in made_class().graded),
        *(f"feedback/{key}.html" for key in keys),
        *(f"gradescope/{key}/results.json" for key in graded),
        *("moodle-feedback-folders.zip", "moodle-feedback-flat.zip"),
    }


def test_what_an_earlier_grading_said_goes(tmp_path):
    exports.write(made_class(), tmp_path)
    assert (tmp_path / "gradescope/ada/results.json").exists()
    ada, *rest = made_class().graded
    held = ada._replace(marks=ada.marks._replace(withheld=True))
    exports.write(made_class()._replace(graded=(held, *rest[1:])), tmp_path)
    assert not (tmp_path / "gradescope/ada/results.json").exists()
    assert not (tmp_path / "feedback/bob.html").exists()
    assert (tmp_path / "feedback/ada.html").exists()


def test_the_same_class_gives_the_same_bytes(tmp_path):
    first = exports.write(made_class(), tmp_path / "a")
    second = exports.write(made_class(), tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
