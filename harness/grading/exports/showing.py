"""What students may see of a grading; and the output of engines, shortened to be shown."""

import datetime
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import VISIBLE, Assignment, MarkPart
from harness.assignments.public_tests import AtHome, at_home
from harness.core.records import Build, Diagnosis, FileResult, Outcome, Reply, Verdict
from harness.core.text import at_most, number_of
from harness.grading import records
from harness.grading.marks.marking import TestResult, is_meant, tests, weight
from harness.report.file_view import FileView
from harness.report.views import Views

STATIC = Path(__file__).with_name("static")  # style sheets
LONGEST = 4_000  # characters of a reply, and of standard error
_WARNINGS = 20


def shorten(file: FileResult, stderr: int = LONGEST) -> FileResult:
    """Return a result with short replies; ``stderr``: characters of the end that is kept."""
    warnings = tuple(at_most(file.warnings, _WARNINGS))
    short = file._replace(stderr=file.stderr[-stderr:], warnings=warnings)
    if max((len(reply.raw) for reply in file.replies if reply), default=0) <= LONGEST:
        return short
    return short._replace(
        outcomes=tuple(map(_short_outcome, file.outcomes)),
        replies=tuple(reply and short_reply(reply) for reply in file.replies),
    )


def _short_outcome(outcome: Outcome) -> Outcome:
    short = outcome.reply and short_reply(outcome.reply)
    return outcome if short is outcome.reply else outcome._replace(reply=short)


def short_reply(reply: Reply) -> Reply:
    """Return a reply without the middle of what is too long."""
    if len(reply.raw) <= LONGEST:
        return reply
    return reply._replace(text=_short(reply.text), raw=_short(reply.raw))


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST} characters …\n{text[-half:]}"


# --- Decide which parts of a grading a student may see. Nothing else decides this ----------------
# Every page and file for students is made from a :class:`Feedback` and nothing else, so whatever
# is not in one cannot be shown. Of private tests an assignment shows ``nothing``, the ``verdict``
# of each by a number, its ``command`` too, or ``everything``. Engine output is treated like the
# rest, because it may repeat the commands. The images of public tests, suspicions, and other
# students are never shown.


WITHHELD = (
    "There is no mark yet, because the tests could not be finished. That is not your fault and "
    "costs nothing."
)
NOTHING, VERDICT, COMMAND, EVERYTHING = VISIBLE


class PrivateTest(NamedTuple):
    """The visible part of a private test; tests count from 1 through all case files."""

    number: int
    verdict: Verdict
    command: str = ""  # empty: not shown


class Feedback(NamedTuple):
    """Everything that the students of one submission may see of it."""

    title: str  # of the assignment
    name: str  # of the file that was graded; empty: none was
    sha256: str
    time: datetime.datetime | None
    late: bool
    members: int  # how many students handed it in together
    refused: str
    faults: tuple[str, ...]
    remarks: tuple[str, ...]
    log: records.CheckLog | None  # None: the assignment wants none
    marks: records.Marks
    build: Build | None
    diagnoses: tuple[Diagnosis, ...]
    public: tuple[FileView, ...]
    private: tuple[PrivateTest, ...]
    private_files: tuple[FileView, ...]  # where everything may be seen
    is_unsafe: bool  # run without a sandbox
    version: str
    python: str  # that ran the engine; empty: none
    home: AtHome  # how public tests are repeated


def feedback(graded: records.Graded, result: records.ClassResult, views: Views) -> Feedback:
    """Return what the students of a submission may see. ``views`` keeps boards for the next."""
    submission, assignment = graded.submission, result.assignment
    visible = assignment.cases.private_visible
    return Feedback(
        title=assignment.title,
        name=submission.name,
        sha256=submission.sha256,
        time=submission.time,
        late=bool(graded.marks.deduction_reason),
        members=len(submission.students),
        refused=submission.refused,
        faults=submission.faults,
        remarks=submission.remarks,
        log=submission.log if assignment.files.log and submission.sha256 else None,
        marks=_marks(graded, assignment),
        build=graded.build,
        diagnoses=graded.diagnoses,
        public=_files(graded, records.PUBLIC, views),
        private=tuple(
            PrivateTest(number, one.verdict, "" if visible == VERDICT else one.step.command)
            for number, one in enumerate(_private(graded.attempts), 1)
            if visible != NOTHING
        ),
        private_files=_files(graded, records.PRIVATE, views) if visible == EVERYTHING else (),
        is_unsafe=result.is_unsafe,
        version=result.version,
        python=result.python,
        home=at_home(assignment),
    )


def _files(graded: records.Graded, kind: str, views: Views) -> tuple[FileView, ...]:
    shown = (one for one in graded.attempts if one.kind == kind)
    full = (views.of(one.result, one.case, one.path) for one in shown if one.result)
    return tuple(map(shorten_view, full))


def shorten_view(view: FileView, stderr: int = LONGEST) -> FileView:
    """Return a view that is short enough to be read and mailed."""
    remarkable = tuple(map(_short_outcome, view.remarkable))
    return view._replace(file=shorten(view.file, stderr), remarkable=remarkable)


# --- marks -------------------------------------------------------------------------------------


def _marks(graded: records.Graded, assignment: Assignment) -> records.Marks:
    """Return the marks, without reasons that tell of private tests, and with none if withheld."""
    marks = graded.marks
    if marks.withheld:
        return records.Marks((), Fraction(0), "", Fraction(0), marks.of, WITHHELD, withheld=True)
    visible = assignment.cases.private_visible
    own = [part for part in assignment.marks if part.judged_by == records.PRIVATE]
    private = {part.name: _recount(part, graded, visible) for part in own}
    public = {part.name for part in assignment.marks if part.name not in private}
    parts = (
        one if one.name in public else one._replace(reason=private.get(one.name, ""))
        for one in marks.parts
    )
    return marks._replace(parts=tuple(parts))


def _recount(part: MarkPart, graded: records.Graded, visible: str) -> str:
    """Return the reason of a private part's mark, counted anew from what may be seen."""
    if visible == NOTHING:
        return ""
    found = [one for one in _private(graded.attempts) if is_meant(part, one.step)]
    passed = [one.passed for one in found if one.passed is not None and weight(part, one.names)]
    if not passed:
        return ""
    return f"{sum(passed)} of {number_of(len(passed), 'test')} passed."


def _private(attempts: Sequence[records.Attempt]) -> list[TestResult]:
    return list(tests([one for one in attempts if one.kind == records.PRIVATE]))
