"""How far an assignment is, for its staff: a line of steps, and the one thing to do next. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

from harness.text import begin_sentence, number_of

StepState = Literal["done", "now", "look", "later"]


class AssignmentCounts(NamedTuple):
    """What the steps of an assignment follow from. Students are counted with groups as one."""

    students: int
    submitted: int = 0  # with a submission that counts, or that will if its check allows it
    attention: int = 0  # who need somebody of the staff: see harness.service.courses.standings
    ungraded: int = 0  # whose submission is newer than the marks, or without any
    missing: str = ""  # without which no submission is checked, as a clause; "" for nothing
    lacks_folder: bool = False  # that is the course folder
    wrong_tests: int = 0  # private tests that may be wrong
    is_open: bool = True  # some can still submit
    marks: Literal["", "made", "released"] = ""  # in force; "": none
    is_grading: bool = False  # a grading is running
    faults: int = 0  # jobs of the last grading in which the service failed
    changes: int = 0  # marks in force that the last grading would change


class Step(NamedTuple):
    """A step of the line."""

    name: Literal["set up", "submitted", "review", "graded", "released"]
    label: str
    state: StepState


class NextAction(NamedTuple):
    """The one thing to do next.

    ``kind`` says what it is. ``label`` is the text of its button; empty: there is only to wait.
    """

    kind: Literal[
        "set up", "add students", "wait", "review tests", "grade", "see grading",
        "see failure", "decide", "review", "release", "done",
    ]  # fmt: skip
    label: str
    why: str  # a sentence


class Progress(NamedTuple):
    """How far an assignment is."""

    steps: tuple[Step, ...]
    action: NextAction


# The step that an action belongs to.
_STEP_OF = {
    "set up": "set up",
    "add students": "set up",
    "wait": "submitted",
    "review tests": "graded",
    "grade": "graded",
    "see grading": "graded",
    "see failure": "review",
    "decide": "review",
    "review": "review",
    "release": "released",
}


def describe_progress(counts: AssignmentCounts) -> Progress:
    """Return the steps of an assignment and what to do next."""
    action = _find_action(counts)
    current = _STEP_OF.get(action.kind)
    steps = (
        step._replace(state="now") if step.name == current and step.state != "look" else step
        for step in _list_steps(counts)
    )
    return Progress(tuple(steps), action)


def _find_action(counts: AssignmentCounts) -> NextAction:
    if counts.missing:
        label = "Upload course folder" if counts.lacks_folder else ""
        why = f"{begin_sentence(counts.missing)}. Submissions are kept, and checked then."
        return NextAction("set up", label, why)
    if not counts.students:
        return NextAction("add students", "Add students", "The course has no students yet.")
    if counts.is_grading:
        why = "A grading is running. You need not wait here."
        return NextAction("see grading", "See the grading", why)
    if counts.faults:
        why = "The last grading is not complete. No mark was lost."
        return NextAction("see failure", "See what failed", why)
    if counts.changes:
        marks = number_of(counts.changes, "mark")
        return NextAction("decide", f"Review {marks}", f"{marks} would change. Decide whether.")
    return _find_action_on_marks(counts)


def _find_action_on_marks(counts: AssignmentCounts) -> NextAction:
    """Return what is next where no grading waits for anybody."""
    if not counts.submitted and not counts.marks:
        return NextAction("wait", "", "Nobody has submitted yet.")
    if counts.ungraded or not counts.marks:
        return _find_grading(counts)
    if counts.attention:
        who = number_of(counts.attention, "student")
        need = "needs" if counts.attention == 1 else "need"
        return NextAction("review", f"Review {counts.attention}", f"{who} {need} your decision.")
    if counts.marks == "released":
        return NextAction("done", "", "Students see their marks.")
    why = "All submissions have a mark. Students do not see it yet."
    return NextAction("release", "Release marks", why)


def _find_grading(counts: AssignmentCounts) -> NextAction:
    if counts.wrong_tests:
        tests = number_of(counts.wrong_tests, "private test")
        return NextAction("review tests", f"Review {tests}", "Correct answers fail there.")
    submissions = number_of(counts.ungraded, "submission")
    if not counts.marks:
        open_ = " Students can still submit; you can grade again later." if counts.is_open else ""
        return NextAction("grade", f"Grade {submissions}", f"Nothing is graded yet.{open_}")
    came = "came" if counts.ungraded != 1 else "was sent"
    return NextAction("grade", "Grade again", f"{submissions} {came} after the last grading.")


def _list_steps(counts: AssignmentCounts) -> list[Step]:
    is_set_up = bool(counts.students and not counts.missing)
    is_complete = bool(counts.students) and counts.submitted == counts.students
    needed = counts.attention + counts.changes + counts.faults
    released: StepState = "done" if counts.marks == "released" else "later"
    return [
        Step("set up", "Set up", "done" if is_set_up else "look"),
        Step(
            "submitted",
            f"{counts.submitted} of {counts.students} submitted",
            "done" if is_complete or not counts.is_open else "later",
        ),
        Step(
            "review",
            f"{needed} {'needs' if needed == 1 else 'need'} you",
            "look" if needed else "done" if counts.marks else "later",
        ),
        _describe_grading(counts),
        Step("released", "Released" if released == "done" else "Not released", released),
    ]


def _describe_grading(counts: AssignmentCounts) -> Step:
    if counts.is_grading:
        return Step("graded", "Grading", "now")
    if not counts.marks:
        return Step("graded", "Not graded", "later")
    if counts.ungraded:
        return Step("graded", f"Graded, {counts.ungraded} newer", "look")
    return Step("graded", "Graded", "done")
