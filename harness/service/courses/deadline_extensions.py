"""Deadlines of one student or group: given and taken back by the staff."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

from harness.clock_changes import measure
from harness.errors import UsageError
from harness.service.courses import making
from harness.service.local_times import add_offset, describe_time, read_seconds
from harness.service.records import Assigned
from harness.service.storage import courses
from harness.service.storage.audit import Act


def latest(extensions: Mapping[str, str], students: Iterable[str]) -> str:
    """Return the deadline of their own that these students have together; empty: none."""
    own = [extensions[one] for one in students if one in extensions]
    return max(own, key=read_seconds, default="")


def extend(act: Act, assigned: Assigned, key: str, deadline: str) -> None:
    """Give a student, or each of a group, a later deadline; empty for the common one.

    It is theirs in whatever group they are later: the latest of its students' holds for a group.
    Marks that were made before stay as they are until the next grading.

    Raises:
        UsageError: it is not a local time, or not later than the common one.
    """
    courses.lock(act.db, assigned.id)
    own = making.date("deadline", deadline)
    common = making.moment(assigned.deadline) or making.moment(assigned.closes)
    if own and common is None:
        raise UsageError("deadline: the assignment has none that could be extended")
    later = making.moment(own)
    if later and common and measure(common, later) <= datetime.timedelta():
        raise UsageError(
            f"deadline: found {describe_time(later)},"
            f" expected a time after that of all, {describe_time(common)}"
        )
    courses.extend(act.db, assigned.id, courses.students_of(act.db, assigned.course, key), own)
    what = "deadline extended" if own else "extension ended"
    act.note(what, assigned.id, key=key, deadline=add_offset(own))
