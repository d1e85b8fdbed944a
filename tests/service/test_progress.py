"""The line of steps of an assignment, and the one thing to do next, for each state that it has."""

import pytest

from harness.service.courses.progress import AssignmentCounts, describe_progress

NEW = AssignmentCounts(students=120)
SENT = NEW._replace(submitted=87, ungraded=87)
CLOSED = SENT._replace(is_open=False)
GRADED = CLOSED._replace(ungraded=0, marks="made")
RELEASED = GRADED._replace(marks="released")
_SIGNS = {"done": "✓", "now": "●", "look": "!", "later": "○"}

# The steps, each with its sign; what to do next, and the button for it.
STATES = [
    (AssignmentCounts(0), "○0 of 0 submitted ○0 need you ○Not graded ○Not released",
     "add students", "Add students"),
    (NEW._replace(missing="the course folder util is missing", lacks_folder=True),
     "○0 of 120 submitted ○0 need you ○Not graded ○Not released",
     "set up", "Upload course folder"),
    # Nothing can be graded: there is no such button.
    (SENT._replace(missing="the course folder util is missing", lacks_folder=True),
     "○87 of 120 submitted ○0 need you ○Not graded ○Not released",
     "set up", "Upload course folder"),
    (SENT._replace(missing="the server lacks javac"),  # which is not for the teacher to do
     "○87 of 120 submitted ○0 need you ○Not graded ○Not released", "set up", ""),
    (NEW, "●0 of 120 submitted ○0 need you ○Not graded ○Not released", "wait", ""),
    (SENT, "○87 of 120 submitted ○0 need you ●Not graded ○Not released",
     "grade", "Grade 87 submissions"),
    (SENT._replace(students=87), "✓87 of 87 submitted ○0 need you ●Not graded ○Not released",
     "grade", "Grade 87 submissions"),
    (CLOSED, "✓87 of 120 submitted ○0 need you ●Not graded ○Not released",
     "grade", "Grade 87 submissions"),
    (CLOSED._replace(attention=3),
     "✓87 of 120 submitted !3 need you ●Not graded ○Not released",
     "grade", "Grade 87 submissions"),
    (CLOSED._replace(wrong_tests=1),
     "✓87 of 120 submitted ○0 need you ●Not graded ○Not released",
     "review tests", "Review 1 private test"),
    (CLOSED._replace(is_grading=True),
     "✓87 of 120 submitted ○0 need you ●Grading ○Not released",
     "see grading", "See the grading"),
    (CLOSED._replace(faults=1),
     "✓87 of 120 submitted !1 needs you ○Not graded ○Not released",
     "see failure", "See what failed"),
    (GRADED._replace(attention=2, faults=2),  # no mark yet for two: the service failed
     "✓87 of 120 submitted !4 need you ✓Graded ○Not released",
     "see failure", "See what failed"),
    (GRADED._replace(changes=2), "✓87 of 120 submitted !2 need you ✓Graded ○Not released",
     "decide", "Review 2 marks"),
    (GRADED._replace(attention=3), "✓87 of 120 submitted !3 need you ✓Graded ○Not released",
     "review", "Review 3"),
    (GRADED._replace(ungraded=5),
     "✓87 of 120 submitted ✓0 need you !Graded, 5 newer ○Not released", "grade", "Grade again"),
    (GRADED, "✓87 of 120 submitted ✓0 need you ✓Graded ●Not released",
     "release", "Release marks"),
    (RELEASED, "✓87 of 120 submitted ✓0 need you ✓Graded ✓Released", "done", ""),
    (RELEASED._replace(ungraded=1),
     "✓87 of 120 submitted ✓0 need you !Graded, 1 newer ✓Released", "grade", "Grade again"),
    (RELEASED._replace(is_grading=True), "✓87 of 120 submitted ✓0 need you ●Grading ✓Released",
     "see grading", "See the grading"),
    (RELEASED._replace(attention=1), "✓87 of 120 submitted !1 needs you ✓Graded ✓Released",
     "review", "Review 1"),
    (AssignmentCounts(120, marks="made", is_open=False),  # nobody submitted: all have 0
     "✓0 of 120 submitted ✓0 need you ✓Graded ●Not released", "release", "Release marks"),
]  # fmt: skip


@pytest.mark.parametrize(("counts", "line", "kind", "label"), STATES)
def test_the_steps_and_the_next_action(counts, line, kind, label):
    found = describe_progress(counts)
    set_up, *steps = found.steps
    assert set_up.state == ("look" if counts.missing or not counts.students else "done")
    assert " ".join(f"{_SIGNS[one.state]}{one.label}" for one in steps) == line
    assert (found.action.kind, found.action.label) == (kind, label)
    assert found.action.why.endswith(".")


def test_nothing_is_to_be_graded_without_a_submission_or_the_course_folder():
    kinds = {one[2] for one in STATES if one[0].missing or not (one[0].submitted or one[0].marks)}
    assert kinds == {"add students", "set up", "wait"}
