"""Making courses and their assignments."""

import datetime
import hashlib
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from sqlalchemy import Connection

from harness.assignments import assignment as assignments
from harness.assignments.assignment import Assignment, Late
from harness.assignments.clock_changes import is_skipped, read_moment, write
from harness.core.errors import UsageError
from harness.core.text import read_number
from harness.grading.records import exact
from harness.reading import shipped
from harness.service.courses.point_weights import apply_weights, load_weights
from harness.service.local_times import read_seconds
from harness.service.people import accounts
from harness.service.records import TEACHER, Course, CourseAssignment, Member, new_id
from harness.service.storage import courses, people
from harness.service.storage.audit import AuditedTransaction

AS_ITS_OWN = -1  # minutes of grace: those of the assignment itself
REMOVED = "this assignment was removed"
_YEARS = range(1970, 9999)  # in which every time has a zone


def course(act: AuditedTransaction, title: str) -> Course:
    """Make a course; the person who acts is its first teacher.

    Raises:
        UsageError: it has no title, or a very long one.
    """
    made = courses.COURSES.add(act.db, Course(new_id(), read_title(title), time.time()))
    person = people.PEOPLE.find(act.db, id=act.by)
    name = person.name if person else ""
    courses.MEMBERS.add(act.db, Member(made.id, act.by, TEACHER, name=name))
    act.note("course made", made.id, title=made.title)
    return made


def assign(
    act: AuditedTransaction, assignment: CourseAssignment, uploaded: Assignment | None = None
) -> CourseAssignment:
    """Make an assignment of a course; ``assignment`` has no id yet.

    ``uploaded``: what it is made of, if that does not ship.

    Where it has no title, no date or no rule for being late, the assignment's own stand.

    Raises:
        UsageError: there is no such assignment, or a date or a number cannot be read.
    """
    own = uploaded or assignments.find(assignment.source)
    late = own.late
    made = check(
        assignment._replace(
            id=new_id(),
            title=assignment.title or own.title,
            deadline=assignment.deadline or _format_time(late.deadline),
            closes=assignment.closes or _format_time(late.refused_after),
            deduction=assignment.deduction or str(late.deduction),
            grace=late.grace_minutes if assignment.grace == AS_ITS_OWN else assignment.grace,
            made=time.time(),
        )
    )
    courses.ASSIGNMENTS.add(act.db, made)
    act.note("assignment made", made.id, course=made.course, source=made.source)
    return made


def check_shipped(source: str) -> str:
    """Return the source of an assignment that ships, by its name.

    Raises:
        UsageError: none has it. (A folder on the server is not for everybody to name.)
    """
    if source not in shipped.names():
        raise UsageError(
            f"there is no assignment {source!r}; there are: {', '.join(shipped.names())}"
        )
    return source


def apply_course_settings(
    assignment: Assignment, course_assignment: CourseAssignment, extensions: Mapping[str, str]
) -> Assignment:
    """Return an assignment of a course as it is graded: with this course's dates and points.

    ``assignment``: what it is made of. ``extensions``: deadlines of students, by their keys.
    """
    weighed = apply_weights(assignment, load_weights(course_assignment))
    own = late(course_assignment, extensions)
    return weighed._replace(title=course_assignment.title, late=own)


def late(assignment: CourseAssignment, extensions: Mapping[str, str]) -> Late:
    """Return the late penalty of this course; see :func:`apply_course_settings`."""
    own = tuple((key, read_moment(extensions[key])) for key in extensions)
    dates = moment(assignment.deadline), moment(assignment.closes)
    return Late(*dates, Fraction(assignment.deduction or 0), assignment.grace, own)


def moment(text: str) -> datetime.datetime | None:
    """Return a local time; None where there is none."""
    return read_moment(text) if text else None


def read_title(text: str) -> str:
    """Return a title of a course, an assignment or a suite; raises UsageError."""
    return accounts.check_name(text, "title")


def date(name: str, text: str) -> str:
    """Return a time as it is kept: local, without a zone; one with an offset is converted."""
    try:
        read = moment(text.strip())
    except (ValueError, OverflowError):
        read = None
    if text.strip() and (read is None or read.year not in _YEARS):
        raise UsageError(f"{name}: found {text!r}, expected a local time such as 2026-01-29T23:55")
    if read and is_skipped(read):
        raise UsageError(
            f"{name}: found {text!r}, but the clocks go forward over this time on that day:"
            " choose an earlier or a later time"
        )
    return _format_time(read)


def read_grace(text: str, default: int = AS_ITS_OWN) -> int:
    """Return minutes of grace that somebody typed; ``default``: if nothing was.

    Raises:
        UsageError: it is not a number of minutes.
    """
    if not text:
        return default
    if (minutes := read_number(text)) is None:
        raise UsageError(f"grace: found {text!r}, expected a number of minutes such as 10")
    return minutes


def _format_time(time_: datetime.datetime | None) -> str:
    return write(time_) if time_ else ""


def check(assignment: CourseAssignment) -> CourseAssignment:
    """Return an assignment with its title and dates as they are kept.

    Raises:
        UsageError: one of them cannot be read, or they do not go together.
    """
    made = assignment._replace(
        title=read_title(assignment.title),
        opens=date("opens", assignment.opens),
        deadline=date("deadline", assignment.deadline),
        closes=date("closes", assignment.closes),
    )
    last = made.closes or made.deadline
    if made.deadline and read_seconds(last) < read_seconds(made.deadline):
        raise UsageError("closes: this is before the deadline: choose a later time, or the same")
    if made.opens and last and read_seconds(made.opens) >= read_seconds(last):
        raise UsageError("opens: this is after the last time to submit: choose an earlier time")
    if not 0 <= made.grace < 100_000:
        raise UsageError(f"grace: found {made.grace}, expected minutes from 0")
    share = exact(made.deduction or "0")
    if share is None or share > 100:
        raise UsageError(
            f"deduction: found {made.deduction!r}, expected a percentage from 0 to 100"
        )
    return made


# --- A form that a browser sends again, as by a double click, makes one thing --------------------


T = TypeVar("T", bound=Any)  # a record with an id


def make_once(
    act: AuditedTransaction,
    form: str,
    content: tuple[str, ...],
    find: Callable[[str], T | None],
    make: Callable[[], T],
) -> T:
    """Make something, or return what the same form with the same content has made.

    ``form``: the one-time value of the form, or "" for none; ``content``: where the form went and
    what it had; ``find``: returns what was made by its id, or None to make it anew.
    """
    if not form:
        return make()
    key = hashlib.sha256("\0".join((form, *content)).encode()).hexdigest()
    repeated = people.claim_key(act.db, act.by, key, key)
    if repeated.made and (known := find(repeated.made)):
        return known
    made = make()
    people.keep_made(act.db, repeated, made.id)
    return made


def hold(db: Connection, assignment: CourseAssignment) -> CourseAssignment:
    """Return an assignment as it is now, which stays until the end of a transaction.

    What a request looked up may be older.

    Raises:
        UsageError: it was removed.
    """
    if (found := courses.hold(db, assignment.id)) is None:
        raise UsageError(REMOVED)
    return found
