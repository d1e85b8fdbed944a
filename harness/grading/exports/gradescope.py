"""``results.json`` as Gradescope reads it from an autograder, with what a student may see.

Source: Gradescope's autograder specifications, "Output Format". The parts of marks have points,
and the ``score`` of the whole is the mark, including the late penalty. Single tests have a status
and no points. None is *hidden*, unless the teacher wants private ones shown later:
"If test cases are hidden, students will not be able to see their total score." All text is plain:
what an engine wrote is not markup.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from harness.core.records import Verdict
from harness.core.text import escape_controls, one_line
from harness.grading.exports.exporters import Files, Material
from harness.grading.exports.showing import Feedback
from harness.grading.records import counting_mark, decimal
from harness.report.difference import sides
from harness.report.file_view import WORDS, FileView
from harness.report.json import with_list
from oracle.draw import draw_text

_NAME = 120  # characters
# The status of a test; of one that says nothing about the submission, none.
_STATUS = {
    Verdict.PASSED: "passed",
    Verdict.UNEXPECTED_PASS: "passed",
    Verdict.FAILED: "failed",
    Verdict.EXPECTED_FAIL: "failed",
    Verdict.NOT_RUN: "failed",
}
_SHOWN = 60  # failed tests with a board: a broken engine would fill the page many times

Test = dict[str, object]


class Later(NamedTuple):
    """Delayed or hidden results: anything that reveals private tests."""

    visibility: str = "visible"  # of these; Gradescope's word
    parts: frozenset[str] = frozenset()  # of the marks, by name: those of private tests


def files(material: Material) -> Files:
    """Yield a document for each submission whose mark is not withheld.

    It has one mark. If people gave the students of a submission different ones, it has no mark.
    """
    result = material.result
    for one in result.graded:
        found = {result.get_given_mark(each) for each in one.submission.students} or {None}
        given = {each and each._replace(student="") for each in found}
        shown = material.shown[one.submission.key]
        marks = counting_mark(shown.marks, next(iter(given)))
        if len(given) == 1 and not marks.withheld:
            text = results(shown._replace(marks=marks))
            yield f"gradescope/{one.submission.key}/results.json", text.encode()


def results(feedback: Feedback, later: Later = Later()) -> str:  # noqa: B008
    """Return the document about a submission whose mark is not withheld."""
    marks, build = feedback.marks, feedback.build
    # The total may tell what is not to be seen yet.
    with_total = later.visibility == "visible" or not later.parts
    lines = [  # of the submission as a whole
        f"{feedback.title}: {marks}" if with_total else feedback.title,
        marks.note,
        marks.deduction_reason if with_total else "",
        f"Nothing was graded: {feedback.refused}" if feedback.refused else "",
        *(f"Wrong: {fault}" for fault in feedback.faults),
        *feedback.remarks,
        f"The build failed: {build.message}\n{build.output}" if build and not build.ok else "",
        *(line for one in feedback.diagnoses for line in one.lines),
        "Run without a sandbox." if feedback.is_unsafe else "",
    ]
    members: dict[str, object] = {
        "score": float(decimal(marks.total)),
        "output": escape_controls("\n".join(filter(None, lines))),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
    }
    tests: list[Test] = [
        {
            "name": one_line(part.name, _NAME),
            "score": float(decimal(part.points)),
            "max_score": float(decimal(part.of)),
            "status": "passed" if part.points == part.of else "failed",
            "output": escape_controls(part.reason),
            "visibility": later.visibility if part.name in later.parts else "visible",
        }
        for part in marks.parts
    ]
    if marks.deduction_reason and not with_total:  # to be seen with the total, which it tells
        output = escape_controls(marks.deduction_reason)
        tests.append({"name": "Late", "output": output, "visibility": later.visibility})
    tests += _tests(feedback, later)
    # A line for each: with an indent within it, it would be made by a slower encoder.
    encoded = ([json.dumps(test, ensure_ascii=False)] for test in tests)
    return "".join(with_list(members, "tests", encoded)) + "\n"


def _tests(feedback: Feedback, later: Later) -> Iterator[Test]:
    for seen in feedback.public:
        yield from _of_file(seen)
    for seen in feedback.private_files:
        for test in _of_file(seen):
            yield test | {"visibility": later.visibility}
    for one in () if feedback.private_files else feedback.private:
        name = f"Private test {one.number}" + (f": {one.command}" if one.command else "")
        test = _status(name, one.verdict, WORDS[one.verdict][1])
        yield test | {"visibility": later.visibility}


def _of_file(view: FileView) -> Iterator[Test]:
    for place, outcome in enumerate(view.file.outcomes):
        step = view.file.case.steps[outcome.step]
        lines = [WORDS[outcome.verdict][1]]
        if outcome.verdict is Verdict.FAILED and outcome.reply:
            both = sides(view, outcome)
            named = (
                ("expected: ", both.expected),
                ("got:      ", both.got),
                ("missing:  ", both.missing),
                ("extra:    ", both.extra),
            )
            lines.append(both.asked)
            lines += [f"{label}{side}" for label, side in named if side]
            lines += [both.hint, view.reasons.get(outcome.step, "")]
            if place < _SHOWN and outcome.step in view.boards:
                lines.append(draw_text(view.boards[outcome.step]))
        name = f"{view.file.case.path}:{step.line}: {step.command}"
        yield _status(name, outcome.verdict, "\n".join(line for line in lines if line))


def _status(name: str, verdict: Verdict, output: str) -> Test:
    status = {"status": _STATUS[verdict]} if verdict in _STATUS else {}
    shown = {"output": escape_controls(output), "visibility": "visible"}
    return {"name": one_line(name, _NAME), **status, **shown}
