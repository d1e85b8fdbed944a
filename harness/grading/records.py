"""The records that the packages of grading exchange. They are immutable, and only hold data.

A source gives a :class:`StudentSubmissions` for each student or group; intake turns it into a
:class:`Submission`; the runner adds an :class:`Attempt` for each case file; marking turns these
into :class:`Marks`; every export gets a :class:`ClassResult`.
"""

import datetime
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from harness.assignments.assignment import Assignment
from harness.core.records import Build, Diagnosis, FileResult
from harness.core.text import natural_order

_NUMBER = re.compile(r"\d{1,9}([./]\d{1,9})?", re.ASCII)
# The kinds of case files.
PUBLIC, PRIVATE, IMAGE = "public", "private", "image"


class Student(NamedTuple):
    """A student, who gets a mark."""

    key: str  # what the source tells students apart by; unique in a class, safe as a file name
    name: str  # as shown
    ids: tuple[tuple[str, str], ...] = ()  # such as ("canvas", "4711"), ("login", "ada")


class SubmittedFile(NamedTuple):
    """One archive or folder that was submitted."""

    path: Path
    name: str  # as the student called it, without what the source put before it
    time: datetime.datetime | None = None  # local, like the assignment's deadline
    late: bool = False  # the source says so


class SourcePiece(NamedTuple):
    """One file or folder of one student. Without ``file``: somebody who submitted nothing."""

    student: Student  # its key identifies students in the source and is not yet a file name
    file: SubmittedFile | None = None
    order: tuple[Any, ...] = ()  # among all that this student, or the group, submitted
    group: str = ""


class StudentSubmissions(NamedTuple):
    """The submitted files of a student or a group, the latest last; perhaps none."""

    key: str  # of the student, or of the group
    students: tuple[Student, ...]
    files: tuple[SubmittedFile, ...]


class CheckLog(NamedTuple):
    """The evidence in the log for a test before submitting; the log's points depend on it."""

    present: bool = False
    transcript: bool = False  # of a terminal
    unpacked: bool = False  # it shows the archive being unpacked
    ran: bool = False  # it shows a run with its result
    receipt: str = ""  # of gtp-harness check: what its hashes say, as a sentence
    remarks: tuple[str, ...] = ()  # a sentence for each thing that is missing or odd

    @property
    def good(self) -> bool:
        """Whether it earns the mark."""
        return self.present and self.transcript and self.unpacked and self.ran


class Submission(NamedTuple):
    """The submission that is graded: the last submitted file that can be read."""

    key: str  # of the entry
    students: tuple[Student, ...]
    name: str = ""  # of the file submitted
    sha256: str = ""  # of its bytes, under which they are kept; empty if nothing usable
    time: datetime.datetime | None = None
    late: bool = False  # the source says so
    root: str = ""  # what the names of the submission's own files begin with in the archive
    kept: tuple[str, ...] = ()  # its files by their names below root
    forbidden: tuple[str, ...] = ()  # files in the archive that the course folder replaces
    faults: tuple[str, ...] = ()  # what is wrong with it, a phrase each
    remarks: tuple[str, ...] = ()  # what else there is to be said, a sentence each
    refused: str = ""  # why there is nothing to grade; else empty
    log: CheckLog = CheckLog()
    unread: str = ""  # how the harness failed to read it; never costs a mark


class Measured(NamedTuple):
    """One run of a case file with a submission, and its measurements. 0 and "": not known."""

    result: FileResult | None  # None if there was nothing to run
    seconds: float = 0.0  # wall time of the file's commands
    cpu: float = 0.0  # seconds of CPU time of the engine and all it started
    memory: int = 0  # bytes, the most it held
    started: str = ""  # ISO 8601, UTC
    alone: bool = False  # nothing else was running


class Attempt(NamedTuple):
    """The result of one case file with one submission; the last of several runs of it."""

    submission: str  # its key
    kind: str  # PUBLIC, PRIVATE or IMAGE
    case: str  # the case file's name, as the assignment calls it
    result: FileResult | None  # None: the harness failed, or there is nothing to run
    build: Build | None = None  # of the submission; None: the assignment has no build steps
    flaky: tuple[int, ...] = ()  # steps whose verdict changed between runs
    near_limit: str = ""  # the limit that was nearly or just hit, with the figures; else empty
    fault: str = ""  # how the harness failed; never costs a mark
    path: str = ""  # where the case file lies, and with it the files that its commands name
    runs: tuple[Measured, ...] = ()  # in order; as a rule, the last of them is the one that counts


class PartMark(NamedTuple):
    """The mark of one part, of :class:`harness.assignments.assignment.MarkPart`."""

    name: str
    points: Fraction
    of: Fraction
    reason: str  # a sentence: "17 of 20 tests passed"
    complete: bool = True  # False: something could not be judged, and does not count


class Marks(NamedTuple):
    """The mark of one submission: its parts, less the late penalty."""

    parts: tuple[PartMark, ...]
    deduction: Fraction  # points
    deduction_reason: str  # a sentence; empty: none
    total: Fraction  # the sum of the parts less the deduction
    of: Fraction  # what could be reached
    note: str = ""  # why all is 0, or why there is no mark yet
    withheld: bool = False  # the harness failed: there is no mark yet, and none is exported

    def __str__(self) -> str:
        """Such as ``4.5 of 5``."""
        return f"{decimal(self.total)} of {decimal(self.of)}"


class Suspicion(NamedTuple):
    """Public tests that pass although their images, with the same answer, fail."""

    tests: int  # public tests passed that have images
    images: int  # of these tests
    failed: int  # of these images
    chance: float  # of at least so many failures, if images are as hard as the tests
    example: str  # a test, its image, the answer expected and the one got


class Graded(NamedTuple):
    """A graded submission: its attempts, marks and diagnoses."""

    submission: Submission
    attempts: tuple[Attempt, ...]  # in the order of the case files
    marks: Marks
    suspicion: Suspicion | None = None
    diagnoses: tuple[Diagnosis, ...] = ()  # of the public tests

    @property
    def build(self) -> Build | None:
        """The result of building it; None where nothing was built."""
        return next((one.build for one in self.attempts if one.build), None)


class Item(NamedTuple):
    """One test under suspicion."""

    kind: str  # PUBLIC or PRIVATE
    case: str
    line: int  # 1-based, of the command in the case file
    command: str
    judged: int  # submissions on which it was judged
    passed: int
    correlation: float | None  # point-biserial, of passing it with the other tests' share
    interval: tuple[float, float] | None  # of the correlation, 95 %
    remarks: tuple[str, ...] = ()  # "nobody passes it", "strong submissions disagree with it"


class Twins(NamedTuple):
    """Submissions whose programs are the same except for blanks and comments."""

    keys: tuple[str, ...]  # of the submissions, sorted; at least two
    exact: bool  # byte for byte
    files: tuple[str, ...]  # that were compared, as the first of them calls them


class WrongAnswer(NamedTuple):
    """One cause of wrong answers of a submission, as an audit found it."""

    file: str  # the name of its case file in the submission's folder of the audit
    command: str
    kind: str  # in what way its answer is wrong
    right: str
    found: str
    mistakes: tuple[str, ...]  # of the bank, that explain it, a sentence each, the likeliest first


class Audited(NamedTuple):
    """The findings of an audit for one submission. They change no mark."""

    submission: str  # its key
    build: str  # the digest of the submission and of what it is run with
    seconds: float  # that it was looked at
    conversations: int  # drawn, and compared with the oracle's
    unsure: int  # differences not told: not shown each time, or an adapter's own refusals
    wrong: tuple[WrongAnswer, ...]
    trouble: str = ""  # why it could not be looked at, or too little to tell; else empty
    confirmed: bool = True  # False: what was found has not been asked again, alone


class GivenMark(NamedTuple):
    """A mark that a person gave a student instead of the computed one, which is kept."""

    student: str  # the key
    points: Fraction
    reason: str


def counting_mark(marks: Marks, given_mark: GivenMark | None) -> Marks:
    """Return the mark that counts for a student: the given one, else the computed one."""
    if given_mark is None:
        return marks
    was = "there was none" if marks.withheld else f"{marks}"
    note = f"Given by a person instead of the computed mark ({was}): {given_mark.reason}"
    parts = () if marks.withheld else marks.parts
    return marks._replace(parts=parts, total=given_mark.points, note=note, withheld=False)


class Newcomer(NamedTuple):
    """A student without a mark: new in a group whose mark was given before, and is in force."""

    student: Student
    key: str  # of the group's submission

    def __str__(self) -> str:
        """As a sentence, without an end."""
        name = self.student.name or self.student.key
        return (
            f"{name} is new in {self.key}, whose mark was given before: {name} gets one when its"
            " change is accepted"
        )


class ClassResult(NamedTuple):
    """The results of a class. Every export gets them."""

    assignment: Assignment
    graded: tuple[Graded, ...]  # sorted by key
    items: tuple[Item, ...]
    sandbox: str  # as recorded with every result; "off: …" is said in red
    started: str  # ISO 8601, UTC
    version: str  # of the harness
    cases: tuple[tuple[str, str, str], ...] = ()  # (kind, name, SHA-256) of the case files
    python: str = ""  # that ran the engines, as recorded with every result; empty: none
    twins: tuple[Twins, ...] = ()
    audits: tuple[Audited, ...] = ()  # of those that were audited as they are now, sorted by key
    given: tuple[GivenMark, ...] = ()  # instead of computed ones
    unmarked: tuple[Newcomer, ...] = ()

    @property
    def of(self) -> Fraction:
        """The points that can be reached in this grading."""
        return max((one.marks.of for one in self.graded), default=Fraction(0))

    def as_people_count(self) -> "ClassResult":
        """Return it for reports that people read: the submission ``s2`` before ``s10``."""
        return self._replace(
            graded=tuple(sorted(self.graded, key=lambda one: natural_order(one.submission.key))),
            audits=tuple(sorted(self.audits, key=lambda one: natural_order(one.submission))),
            twins=tuple(
                one._replace(keys=tuple(sorted(one.keys, key=natural_order))) for one in self.twins
            ),
        )

    def get_given_mark(self, student: Student) -> GivenMark | None:
        """Return the mark that a person gave a student, or None."""
        return next((one for one in self.given if one.student == student.key), None)

    @property
    def is_unsafe(self) -> bool:
        """Whether submissions, or some of them, were run without a sandbox."""
        return any(one.startswith("off") for one in self.sandbox.split("; "))


def decimal(value: Fraction, places: int = 2) -> str:
    """Write points as ``4``, ``4.5`` or ``3.33``: rounded half up, no superfluous zeros."""
    scaled = (value * 10**places * 2 + 1) // 2
    whole, rest = divmod(abs(scaled), 10**places)
    sign = "-" if scaled < 0 else ""
    return (
        f"{sign}{whole}.{rest:0{places}}".rstrip("0").rstrip(".") if places else f"{sign}{whole}"
    )


def exact(text: str) -> Fraction | None:
    """Return a number such as ``4.5`` or ``9/2``; None if it is not one or has too many digits."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return None
