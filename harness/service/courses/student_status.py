"""What happened to a submission, and what its student does now: the first line of a page. Pure."""

from __future__ import annotations

import datetime
from typing import Literal, NamedTuple

from harness.service.courses.own_files import PREPARING
from harness.text import number_of

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
    """What the first line of a page follows from."""

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
        return _describe_nothing(window)
    if facts.state == "refused":
        return "bad", "Refused", f"Your submission could not be used. {facts.refused}"
    if facts.state == "waiting":
        ahead = f": {facts.ahead} before it" if facts.ahead else ""
        return "busy", "Waiting", f"Your submission is waiting to be checked{ahead}."
    return _FIXED.get(facts.state) or _describe_result(facts)


def _describe_nothing(window: SubmissionWindow) -> tuple[str, str, str]:
    if window.kind == "before":
        return "off", "Not open yet", "This assignment is not open yet."
    if window.kind == "closed":
        return "off", "Nothing submitted", "You did not submit anything, and it is closed now."
    return "new", "To do", "You have not submitted anything yet."


def _describe_result(facts: SubmissionFacts) -> tuple[str, str, str]:
    if not facts.builds:
        return "bad", "Not built", "Your program could not be built, so no test ran."
    if not facts.tests:
        look, label = ("look", "Not judged") if facts.unjudged else ("good", "Received")
        return look, label, f"No public test was judged.{_tell_more(facts)}"
    tests = number_of(facts.tests, "test")
    if facts.passed == facts.tests and not facts.archive_faults:
        look, label = ("look", "Partly judged") if facts.unjudged else ("good", "All passed")
        every = f"all {tests}" if facts.tests > 1 else "the only test"
        return look, label, f"Passed {every}.{_tell_more(facts)}"
    failed = facts.tests - facts.passed
    label = f"{failed} failed" if failed else "Archive to correct"
    return "bad", label, f"Passed {facts.passed} of {tests}.{_tell_more(facts)}"


def _tell_more(facts: SubmissionFacts) -> str:
    told = ""
    if facts.archive_faults:
        things = number_of(facts.archive_faults, "thing")
        told += f" {things} in your archive {'is' if facts.archive_faults == 1 else 'are'} wrong."
    if facts.unjudged:
        files = number_of(facts.unjudged, "case file")
        told += f" We failed to judge {files}, which is not your fault."
    return told


def _advise(
    facts: SubmissionFacts, window: SubmissionWindow
) -> tuple[str, datetime.datetime | None]:
    """Return what to do, and until when, as long as there is no mark."""
    if not facts.state:
        return _advise_first(window)
    if advice := _ADVICE.get(facts.state):
        return advice, None
    return (_advise_closed(facts), None) if window.kind == "closed" else _invite(facts, window)


def _invite(
    facts: SubmissionFacts, window: SubmissionWindow
) -> tuple[str, datetime.datetime | None]:
    if facts.state == "withdrawn":
        return _offer(window, "You can submit again")
    if facts.counts_instead:
        return _offer(window, f"{facts.counts_instead} counts instead. You can resubmit")
    is_right = facts.state == "checked" and facts.builds and facts.passed == facts.tests
    if is_right and not facts.archive_faults:
        return _offer(window, "You may resubmit")
    return _offer(window, "You can correct it and resubmit")


def _advise_first(window: SubmissionWindow) -> tuple[str, datetime.datetime | None]:
    if window.kind == "before":
        return "You can submit from", window.until
    if window.kind == "closed":
        return "Ask your teacher if you need more time.", None
    return _offer(window, "Submit")


def _advise_closed(facts: SubmissionFacts) -> str:
    if facts.counts_instead:
        return f"{facts.counts_instead} counts instead."
    if facts.state in ("refused", "withdrawn"):
        return "It is closed now: ask your teacher if you need more time."
    later = " You see your mark once your teacher releases it." if facts.awaits_mark else ""
    return f"It is closed now.{later}"


def _offer(window: SubmissionWindow, words: str) -> tuple[str, datetime.datetime | None]:
    """Return what can be done, and until when."""
    late = f" late ({window.cost})" if window.kind == "late" else ""
    return (f"{words}{late} until" if window.until else f"{words}{late}."), window.until
