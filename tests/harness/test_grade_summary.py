"""What a teacher reads on the terminal when a grading is over."""

from pathlib import Path

from harness.assignments.assignment import MarkPart
from harness.grading.exports import summary
from harness.grading.records import decimal
from harness.report.paint import Paint
from tests import golden
from tests.harness.made_class import made_class

GOLDEN = Path(__file__).parent / "golden" / "grade" / "terminal.txt"


def format_summary(result):
    return "".join(f"{line}\n" for line in summary.lines(result, Paint(on=False)))


def test_the_table_and_what_needs_a_look():
    result = made_class()
    text = format_summary(result)
    golden.check(GOLDEN, text)
    for graded in result.graded:
        line = next(line for line in text.splitlines() if summary.owner_name(graded)[:20] in line)
        assert graded.marks.withheld or decimal(graded.marks.total) in line.split()


def test_names_of_parts_that_are_too_wide_become_numbers():
    result = made_class()
    old = result.assignment.marks[0]
    long = MarkPart("a part of the marks whose name nobody would want to read twice", *old[1:])
    graded = tuple(
        one._replace(
            marks=one.marks._replace(
                parts=tuple(
                    part._replace(name=long.name) if part.name == old.name else part
                    for part in one.marks.parts
                )
            )
        )
        for one in result.graded
    )
    marks = (long, *result.assignment.marks[1:])
    text = format_summary(
        result._replace(assignment=result.assignment._replace(marks=marks), graded=graded)
    )
    assert text.splitlines()[0].split() == ["(1)", "(2)", "(3)", "late", "mark"]
    assert f"(1) {long.name}; (2)" in text


def test_that_dates_decide_nothing_is_said():
    """A deadline that nobody can have missed looks like one that nobody has missed."""
    made = made_class()
    graded = [
        one._replace(submission=one.submission._replace(time=None)) for one in made.graded[:3]
    ]
    few = made._replace(graded=tuple(graded))
    handed = sum(bool(one.submission.sha256) for one in graded)
    found = next(found for what, found in summary.flags(few) if "is not known" in what)
    assert found == [f"{handed} of {handed} submissions, 0 late (a CSV as SOURCE has times)"]
    rule = few.assignment.late._replace(deadline=None, refused_after=None)
    free = few._replace(assignment=few.assignment._replace(late=rule))
    assert not next(found for what, found in summary.flags(free) if "is not known" in what)


def test_a_part_without_tests_is_named():
    """Marks of 55 where there should be 75 would not show it."""
    made = made_class()
    assert not next(found for what, found in summary.flags(made) if "has no tests" in what)
    snapbacks = made.assignment.marks[-1]._replace(name="snapbacks")
    marks = (*made.assignment.marks, snapbacks)
    bare = made._replace(assignment=made.assignment._replace(marks=marks))
    found = next(found for what, found in summary.flags(bare) if "has no tests" in what)
    assert found == [f"snapbacks ({decimal(snapbacks.points)} points)"]
    only_public = bare._replace(cases=tuple(case for case in bare.cases if case[0] == "public"))
    assert not next(found for what, found in summary.flags(only_public) if "has no tests" in what)
