"""Deadlines: what being late costs, in words, and extensions for one student or group."""

import datetime
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.assignments.clock_changes import measure
from harness.core.errors import UsageError
from harness.core.text import number_of
from harness.grading.marks.marking import describe_span, judge_time
from harness.grading.records import decimal
from harness.service import local_times
from harness.service.courses import making
from harness.service.records import CourseAssignment, Upload
from harness.service.storage import courses, uploads
from harness.service.storage.audit import AuditedTransaction

Fact = tuple[str, str]  # a term, and what it is; empty for none


def load_rule(db: Connection, assignment: CourseAssignment, key: str) -> Late:
    """Return the dates that hold for a student or a group, by the key."""
    students = courses.students_of(db, assignment.course, key)
    return making.late(assignment, courses.extensions(db, assignment.id)).of(students)


def load_rules(
    db: Connection, assignment: CourseAssignment, submissions: Sequence[Upload], key: str = ""
) -> dict[str, Late]:
    """Return the dates that hold for uploads, by their ids.

    ``key``: of the student or group who asks; "": for those of the owners who are in the course.
    """
    if key:
        return dict.fromkeys((one.id for one in submissions), load_rule(db, assignment, key))
    rule = making.late(assignment, courses.extensions(db, assignment.id))
    owners = uploads.owners_of(db, [one.id for one in submissions])
    groups: dict[str, list[str]] = {}
    for one in courses.students(db, assignment.course):
        groups.setdefault(one.submits_as, []).append(one.key)
    rules = {}
    for upload in submissions:
        students = owners.get(upload.id, frozenset())
        keys = sorted(key for key, group in groups.items() if not students.isdisjoint(group))
        # The group, or the student, that has it now.
        own = upload.key if upload.key in keys or not keys else keys[0]
        rules[upload.id] = rule.of(groups.get(own, ()))
    return rules


def list_dates(assignment: CourseAssignment, rule: Late, extension: str = "") -> list[Fact]:
    """Return the dates of an assignment and what being late costs.

    ``rule``: of the student or group; ``extension``: the deadline that an extension gives them.
    """
    common, last = local_times.describe_date(assignment.deadline), rule.refused_after
    return [
        ("Opens", local_times.describe_date(assignment.opens)),
        ("Your deadline", local_times.describe_date(extension)),
        ("Deadline of the others" if extension else "Deadline", common),
        ("Closed after", local_times.describe_time(last) if last else ""),
        ("If you are late", describe_terms(rule)),
    ]


def list_dates_for_staff(assignment: CourseAssignment, rule: Late) -> list[Fact]:
    """Return the dates of an assignment, as those have them who set them."""
    return [
        ("Opens", local_times.describe_date(assignment.opens)),
        ("Deadline", local_times.describe_date(assignment.deadline)),
        ("Closed after", local_times.describe_date(assignment.closes)),
        ("Late submissions", describe_terms(rule)),
    ]


def list_open_dates(
    db: Connection, assignment: CourseAssignment, now: datetime.datetime
) -> list[str]:
    """Return until when students can still submit, a phrase for each date that is not over.

    Late submissions that are accepted without an end have no such date.
    """
    extensions = courses.extensions(db, assignment.id)
    dates = {
        "the deadline is": assignment.deadline,
        "the last extension ends": latest_deadline(extensions, extensions),
        "late submissions are accepted until": assignment.closes,
    }
    grace = datetime.timedelta(minutes=assignment.grace)
    return [
        f"{words} {local_times.describe_time(time)}"
        for words, text in dates.items()
        if (time := making.moment(text)) and measure(time, now) <= grace
    ]


def describe_terms(rule: Late) -> str:
    """Return until when late submissions are accepted and what they lose; empty: no deadline."""
    if rule.deadline is None:
        return ""
    last = rule.refused_after
    if last is None:
        told = f"Late submissions are accepted at any time: {describe_cost(rule)}."
    elif measure(rule.deadline, last) <= datetime.timedelta():
        told = "Late submissions are refused."
    else:
        until = local_times.describe_time(last)
        told = f"Late submissions are accepted until {until}: {describe_cost(rule)}."
    if rule.grace_minutes:
        grace = number_of(rule.grace_minutes, "minute")
        told += f" The first {grace} after a date still count."
    return told


def describe_cost(rule: Late) -> str:
    """Return what a late submission loses, as a clause."""
    if not rule.deduction:
        return "no points are taken off"
    return f"{decimal(rule.deduction)} % of the points reached are taken off"


def warn_late(rule: Late, at: float, last: Upload | None) -> str:
    """Return what to know before submitting late, or "" if a submission would be in time.

    ``last``: the submission that counts, or may count.
    """
    if not describe_late(rule, at):
        return ""
    warning = f"You are late now: {describe_cost(rule)}."
    if last is None:
        return warning
    return (
        f"{warning} A new submission counts instead of {last.name} of"
        f" {local_times.describe_moment(last.at)}, and cannot be withdrawn."
    )


def describe_late(rule: Late, at: float) -> str:
    """Return how late a submission is and what that costs, or "" if it is in time.

    ``at``: when it came, in seconds since 1970.
    """
    time = datetime.datetime.fromtimestamp(int(at))  # as it is graded
    found = judge_time(rule, time)
    if found.refused:
        return "too late: it gets no points"
    if not found.late or rule.deadline is None:
        return ""
    return f"late by {describe_span(measure(rule.deadline, time))}: {describe_cost(rule)}"


# --- Deadlines of one student or group: given and taken back by the staff ------------------------


def latest_deadline(extensions: Mapping[str, str], students: Iterable[str]) -> str:
    """Return the deadline of their own that these students have together; empty: none."""
    own = [extensions[one] for one in students if one in extensions]
    return max(own, key=local_times.read_seconds, default="")


def extend(act: AuditedTransaction, assignment: CourseAssignment, key: str, deadline: str) -> None:
    """Give a student, or each of a group, a later deadline; empty for the common one.

    It is theirs in whatever group they are later: the latest of its students' holds for a group.
    Marks that were made before stay as they are until the next grading.

    Raises:
        UsageError: it is not a local time, or not later than the common one.
    """
    assignment = courses.lock(act.db, assignment.id) or assignment  # other dates, perhaps
    own = making.date("deadline", deadline)
    common = making.moment(assignment.deadline) or making.moment(assignment.closes)
    if own and common is None:
        raise UsageError("deadline: the assignment has none that could be extended")
    later = making.moment(own)
    if later and common and measure(common, later) <= datetime.timedelta():
        raise UsageError(
            f"deadline: found {local_times.describe_time(later)},"
            f" expected a time after that of all, {local_times.describe_time(common)}"
        )
    courses.extend(act.db, assignment.id, courses.students_of(act.db, assignment.course, key), own)
    what = "deadline extended" if own else "extension ended"
    act.note(what, assignment.id, key=key, deadline=local_times.add_offset(own))
