"""Students who leave a course: removed, and added again. Nothing of theirs is lost.

A former student does not see the course, and counts nowhere in it: the next grading leaves the
student out. Submissions, marks, comments and extensions stay with the key of the student, so that
all is there again once the student is.
"""

from __future__ import annotations

from harness.errors import UsageError
from harness.service.records import FORMER, STUDENT, Member
from harness.service.storage import courses
from harness.service.storage.audit import Act


def find_present(act: Act, course: str, key: str) -> Member:
    """Return a student of a course, who stays so until the end of the transaction.

    Raises:
        UsageError: the course has no such student.
    """
    return _find(act, course, key, STUDENT)


def remove(act: Act, course: str, key: str) -> Member:
    """Remove a student from a course.

    Raises:
        UsageError: as :func:`find_present`.
    """
    found = find_present(act, course, key)
    return _change(act, found._replace(role=FORMER), "student removed")


def restore(act: Act, course: str, key: str) -> Member:
    """Add a removed student again.

    Raises:
        UsageError: there is no such former student.
    """
    found = _find(act, course, key, FORMER)
    return _change(act, found._replace(role=STUDENT), "student added again")


def _find(act: Act, course: str, key: str, role: str) -> Member:
    courses.lock_course(act.db, course)  # a roster may be taken at the same time
    found = courses.MEMBERS.find(act.db, course=course, key=key, role=role)
    if not key or found is None:
        raise UsageError("there is no such student: open the page of the course again")
    return found


def _change(act: Act, one: Member, what: str) -> Member:
    courses.MEMBERS.change(act.db, {"role": one.role}, course=one.course, person=one.person)
    act.note(what, one.course, key=one.key, student=one.person)
    return one
