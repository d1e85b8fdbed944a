"""Progress and next actions: the first lines of pages. Pure.

The staff sees the steps of an assignment, a student what happened to a submission.
"""

import datetime
from typing import Literal, NamedTuple

from harness.core.text import begin_sentence, number_of
from harness.service.courses.own_files import PREPARING

StepState = Literal["done", "now", "look", "later"]


class AssignmentCounts(NamedTuple):
    """Input of the steps of an assignment. Students are counted with groups as one."""

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
    """Steps and next action."""

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
    is_set_up = bool(counts.students and not counts.missing)
    is_complete = bool(counts.students) and counts.submitted == counts.students
    needed = counts.attention + counts.changes + counts.faults
    released: StepState = "done" if counts.marks == "released" else "later"
    if counts.is_grading:
        graded = Step("graded", "Grading", "now")
    elif not counts.marks:
        graded = Step("graded", "Not graded", "later")
    elif counts.ungraded:
        graded = Step("graded", f"Graded, {counts.ungraded} newer", "look")
    else:
        graded = Step("graded", "Graded", "done")
    steps = (
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
        graded,
        Step("released", "Released" if released == "done" else "Not released", released),
    )
    action = _find_action(counts)
    current = _STEP_OF.get(action.kind)
    shown = (
        step._replace(state="now") if step.name == current and step.state != "look" else step
        for step in steps
    )
    return Progress(tuple(shown), action)


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
    submissions = number_of(counts.ungraded, "submission")
    if not counts.submitted and not counts.marks:
        action = NextAction("wait", "", "Nobody has submitted yet.")
    elif counts.wrong_tests and (counts.ungraded or not counts.marks):
        tests = number_of(counts.wrong_tests, "private test")
        action = NextAction("review tests", f"Review {tests}", "Correct answers fail there.")
    elif not counts.marks:
        open_ = " Students can still submit; you can grade again later." if counts.is_open else ""
        action = NextAction("grade", f"Grade {submissions}", f"Nothing is graded yet.{open_}")
    elif counts.ungraded:
        came = "came" if counts.ungraded != 1 else "was sent"
        why = f"{submissions} {came} after the last grading."
        action = NextAction("grade", "Grade again", why)
    elif counts.attention:
        who = number_of(counts.attention, "student")
        need = "needs" if counts.attention == 1 else "need"
        action = NextAction("review", f"Review {counts.attention}", f"{who} {need} your decision.")
    elif counts.marks == "released":
        action = NextAction("done", "", "Students see their marks.")
    else:
        why = "All submissions have a mark. Students do not see it yet."
        action = NextAction("release", "Release marks", why)
    return action


# --- of a submission, for its student ---------------------------------------------------------

# How far a submission is; "": there is none.
# "held": it waits for what the teacher has not set up yet.
UploadState = Literal[
    "", "held", "waiting", "checking", "checked", "refused", "fault", "withdrawn"
]


class SubmissionWindow(NamedTuple):
    """Whether a student can submit now."""

    kind: Literal["before", "open", "late", "closed"] = "open"
    until: datetime.datetime | None = None  # when that changes, local; None: it does not
    cost: str = ""  # of submitting late, as a clause


class SubmissionFacts(NamedTuple):
    """Input of the first line of a page."""

    state: UploadState = ""
    ahead: int = 0  # jobs that wait before its check
    passed: int = 0  # public tests
    tests: int = 0
    builds: bool = True
    archive_faults: int = 0  # things that are wrong with the archive, which was taken
    unjudged: int = 0  # case files in which the service failed
    refused: str = ""  # why, as a sentence
    counts_instead: str = ""  # the name of an earlier submission that counts
    is_released: bool = False
    mark: str = ""  # such as "4 of 5"; empty: there is none yet
    is_given: bool = False  # by a person instead of the computed one
    is_newer: bool = False  # than the mark that is released
    awaits_mark: bool = True  # no mark of the assignment is released to the student


class StudentStatus(NamedTuple):
    """The first lines of a page: a chip, what happened, and what to do."""

    look: str  # of the chip: good, bad, look, busy, off or new
    label: str
    happened: str  # a sentence
    advice: str  # a sentence without its end if there is a time: "You may resubmit"
    until: datetime.datetime | None = None  # that time


def describe_status(facts: SubmissionFacts, window: SubmissionWindow) -> StudentStatus:
    """Return what happened to a submission and what to do now."""
    if facts.is_released:
        return _describe_mark(facts, window)
    look, label, happened = _describe_check(facts, window)
    advice, until = _advise(facts, window)
    return StudentStatus(look, label, happened, advice, until)


def _describe_mark(facts: SubmissionFacts, window: SubmissionWindow) -> StudentStatus:
    if not facts.mark:
        happened = "There is no mark yet, because we could not finish the grading of your work."
        advice = "This is not your fault. Your teacher sees it and grades again."
        return StudentStatus("look", "No mark yet", happened, advice)
    by = ", given by your teacher instead of the computed one" if facts.is_given else ""
    happened = f"Your mark is {facts.mark}{by}."
    if facts.is_newer:
        advice = "Your newer submission is not in it: the next grading has it."
        return StudentStatus("new", "Graded before", happened, advice)
    if window.kind in ("open", "late"):
        advice, until = _offer(window, "You may still resubmit")
        return StudentStatus("good", "Graded", happened, advice, until)
    return StudentStatus("good", "Graded", happened, "The feedback says why, test by test.")


# States that always say the same.
_FIXED = {
    "withdrawn": ("off", "Withdrawn", "You withdrew this submission: it does not count."),
    "held": ("busy", "Kept", PREPARING),
    "fault": ("look", "Not checked", "We could not check your submission. It is kept."),
    "checking": ("busy", "Being checked", "Your submission is being checked now."),
}
_Advice = tuple[str, datetime.datetime | None]  # as of StudentStatus, with its time
_NO_NEED = "You need not do anything, and need not wait here."
_ADVICE = {
    "held": _NO_NEED,
    "waiting": _NO_NEED,
    "checking": _NO_NEED,
    "fault": (
        "This is our fault, not yours: you need not resubmit. Your teacher can start the check"
        " again."
    ),
}


def _describe_check(facts: SubmissionFacts, window: SubmissionWindow) -> tuple[str, str, str]:
    """Return a chip and what happened, as long as there is no mark."""
    if not facts.state:
        if window.kind == "before":
            return "off", "Not open yet", "This assignment is not open yet."
        if window.kind == "closed":
            return "off", "Nothing submitted", "You did not submit anything, and it is closed now."
        return "new", "To do", "You have not submitted anything yet."
    if facts.state == "refused":
        return "bad", "Refused", f"Your submission could not be used. {facts.refused}"
    if facts.state == "waiting":
        ahead = f": {facts.ahead} before it" if facts.ahead else ""
        return "busy", "Waiting", f"Your submission is waiting to be checked{ahead}."
    return _FIXED.get(facts.state) or _describe_result(facts)


def _describe_result(facts: SubmissionFacts) -> tuple[str, str, str]:
    more, failed = "", facts.tests - facts.passed
    if facts.archive_faults:
        things = number_of(facts.archive_faults, "thing")
        more += f" {things} in your archive {'is' if facts.archive_faults == 1 else 'are'} wrong."
    if facts.unjudged:
        files = number_of(facts.unjudged, "case file")
        more += f" We failed to judge {files}, which is not your fault."
    if not facts.builds:
        return "bad", "Not built", "Your program could not be built, so no test ran."
    if not facts.tests:
        look, label = ("look", "Not judged") if facts.unjudged else ("good", "Received")
        return look, label, f"No public test was judged.{more}"
    tests = number_of(facts.tests, "test")
    if failed or facts.archive_faults:
        label = f"{failed} failed" if failed else "Archive to correct"
        return "bad", label, f"Passed {facts.passed} of {tests}.{more}"
    look, label = ("look", "Partly judged") if facts.unjudged else ("good", "All passed")
    every = f"all {tests}" if facts.tests > 1 else "the only test"
    return look, label, f"Passed {every}.{more}"


def _advise(facts: SubmissionFacts, window: SubmissionWindow) -> _Advice:
    """Return what to do, and until when, as long as there is no mark."""
    if advice := _ADVICE.get(facts.state):
        return advice, None
    if window.kind == "before" and not facts.state:
        return "You can submit from", window.until
    if window.kind == "closed":
        return _advise_closed(facts), None
    is_right = facts.state == "checked" and facts.builds and facts.passed == facts.tests
    if not facts.state:
        words = "Submit"
    elif facts.state == "withdrawn":
        words = "You can submit again"
    elif facts.counts_instead:
        words = f"{facts.counts_instead} counts instead. You can resubmit"
    elif is_right and not facts.archive_faults:
        words = "You may resubmit"
    else:
        words = "You can correct it and resubmit"
    return _offer(window, words)


def _advise_closed(facts: SubmissionFacts) -> str:
    if not facts.state:
        return "Ask your teacher if you need more time."
    if facts.counts_instead:
        return f"{facts.counts_instead} counts instead."
    if facts.state in ("refused", "withdrawn"):
        return "It is closed now: ask your teacher if you need more time."
    later = " You see your mark once your teacher releases it." if facts.awaits_mark else ""
    return f"It is closed now.{later}"


def _offer(window: SubmissionWindow, words: str) -> _Advice:
    late = f" late ({window.cost})" if window.kind == "late" else ""
    return (f"{words}{late} until" if window.until else f"{words}{late}."), window.until
