"""Taking in what somebody uploads: kept under its SHA-256, written down, and queued."""

from __future__ import annotations

import datetime
import time
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.clock_changes import measure
from harness.errors import ArchiveError, UsageError
from harness.escaping import one_line
from harness.grading.ledger.originals import Store
from harness.grading.records import StudentSubmissions, SubmittedFile
from harness.intake.archive_limits import IntakeLimits
from harness.service.courses import making, roster
from harness.service.courses.grading import NotNowError
from harness.service.courses.late_terms import load_rule
from harness.service.handing_in import ownership
from harness.service.local_times import describe_date, describe_moment, describe_time
from harness.service.records import CHECK, Assigned, Job, Member, Upload
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import Act
from harness.service.storage.tables import new_id
from harness.service.storage.uploads import UPLOADS

_LONGEST = 120  # characters of a file's name


class Quota(NamedTuple):
    """How much one student may submit to one assignment; nobody who works on it meets it."""

    uploads: int
    size: int  # bytes together


def quota(settings: Settings) -> Quota:
    """Return how much a service takes."""
    return Quota(settings.most_uploads, settings.most_uploaded)


class Kept(NamedTuple):
    """A file whose bytes are in the store."""

    name: str  # as its owner calls it
    sha256: str
    size: int
    path: Path  # where they are


def keep(
    store: Store, source: Path, name: str, largest: int, wanted: str = "the archive that you made"
) -> Kept:
    """Keep a file's bytes, which its owner calls ``name``; ``wanted``: what to send.

    ``largest``: bytes that the service takes; no archive may have more than the limit of all.

    Raises:
        OSError: they cannot be written.
        UsageError: they are not any, or too many.
    """
    size = source.stat().st_size
    if not size:
        raise UsageError(f"the file is empty: choose {wanted}")
    try:
        # The check refuses what is larger than any archive may be: it is said at once.
        limits = IntakeLimits()
        most = min(largest, limits.compressed)
        sha256 = store.keep(source, limits._replace(compressed=most))
    except ArchiveError as error:
        raise UsageError(f"the file is refused: {error}") from None
    except UsageError as error:  # the service's own trouble, such as a full disk
        raise error.__cause__ or error from None
    return Kept(name, sha256, size, store.path(sha256))


def explain_closed(db: Connection, assigned: Assigned, key: str, now: datetime.datetime) -> str:
    """Return why ``key`` cannot submit now, or "" if it can.

    A grading does not refuse what was accepted here.
    """
    if is_before(assigned, now):
        return f"it opens on {describe_date(assigned.opens)}"
    rule = load_rule(db, assigned, key)
    last = rule.refused_after
    return f"it closed on {describe_time(last)}" if last and _is_over(last, rule, now) else ""


def is_before(assigned: Assigned, now: datetime.datetime) -> bool:
    """Whether an assignment is not open yet."""
    opens = making.moment(assigned.opens)
    return opens is not None and measure(opens, now) < datetime.timedelta()


def _is_over(last: datetime.datetime, rule: Late, now: datetime.datetime) -> bool:
    return measure(last, now) > datetime.timedelta(minutes=rule.grace_minutes)


def take(
    act: Act, assigned: Assigned, member: Member, kept: Kept, most: Quota | None = None
) -> Upload:
    """Write down an upload whose bytes are kept, and let a worker check it.

    ``most``: of the student; None: any number.

    Raises:
        UsageError: nothing is taken now.
    """
    now, key = time.time(), member.submits_as
    making.hold(act.db, assigned)
    if reason := explain_closed(act.db, assigned, key, datetime.datetime.fromtimestamp(now)):
        raise UsageError(f"{assigned.title} does not accept submissions now: {reason}")
    if most:
        _check_room(act.db, assigned, member, kept.size, most)
    name = one_line(kept.name, _LONGEST) or "archive"
    number = uploads.next_number(act.db, assigned.id)
    upload = Upload(
        new_id(), assigned.id, key, member.person, name, kept.sha256, kept.size, now, number=number
    )
    UPLOADS.add(act.db, upload)
    if not kept.path.exists():  # the same bytes were pruned just now, which waits from here on
        raise UsageError("the file was not kept: submit it once more")
    together = courses.students_of(act.db, assigned.course, key)
    uploads.give_to(act.db, upload.id, (member.key, *together))  # who asks may be moved just now
    deadline = load_rule(act.db, assigned, key).deadline
    due = deadline.isoformat() if deadline else ""
    wanted = Job("", CHECK, assigned.id, upload.id, key, due=due, person=member.person)
    queue.put(act.db, wanted)
    act.note("handed in", upload.id, sha256=kept.sha256, name=name)
    return upload


def _check_room(
    db: Connection, assigned: Assigned, member: Member, size: int, most: Quota
) -> None:
    count, total = uploads.measure(db, assigned.id, member.person)
    if count >= most.uploads:
        raise UsageError(f"you have submitted {count} times, the limit: ask your teacher")
    if total + size > most.size:
        raise UsageError(
            f"your submissions have {total:,} bytes, the limit is {most.size:,}: ask your teacher"
        )


def explain_bound(
    db: Connection, assigned: Assigned, key: str, upload: Upload, now: datetime.datetime
) -> str:
    """Return why a student or group cannot withdraw an upload, or "" if it can."""
    if reason := explain_closed(db, assigned, key, now):
        return reason
    if all(one.upload.id != upload.id for one in ownership.of(db, assigned, key).own):
        return f"it belongs to the group {upload.key}, which continues without you"
    return _explain_final(db, assigned, key, upload, now)


def _explain_final(
    db: Connection, assigned: Assigned, key: str, upload: Upload, now: datetime.datetime
) -> str:
    """Return why what was submitted stays: nobody brings an earlier try back when it is over."""
    rule = load_rule(db, assigned, key)
    last = rule.deadline
    if last is not None and _is_over(last, rule, now):
        return f"the deadline was {describe_time(last)}"
    released = uploads.find_released(db, assigned.id)
    if released and upload.at > released.concluded:  # the mark is that of an earlier one
        return ""
    students = courses.students_of(db, assigned.course, key) if released else ()
    is_known = any(released and uploads.mark_of(db, released.id, one) for one in students)
    return "its mark is released" if is_known else ""


def require_withdrawable(db: Connection, assigned: Assigned, key: str, upload: Upload) -> None:
    """Require that a student or group can withdraw an upload now.

    Raises:
        NotNowError: it stays.
    """
    if reason := explain_bound(db, assigned, key, upload, datetime.datetime.now()):
        raise NotNowError(f"it cannot be withdrawn: {reason}")


def withdraw(act: Act, assigned: Assigned, key: str, upload: Upload) -> None:
    """Let an upload of a student or group not count.

    Raises:
        NotNowError: it stays.
    """
    courses.lock(act.db, assigned.id)
    now = courses.ASSIGNMENTS.find(act.db, id=assigned.id) or assigned  # other dates, perhaps
    require_withdrawable(act.db, now, key, upload)
    UPLOADS.change(act.db, {"withdrawn": 1}, id=upload.id)
    queue.withdraw(act.db, upload.id)
    act.note("withdrawn", upload.id)


def is_pruned(store: Store, upload: Upload) -> bool:
    """Whether the bytes of an upload were removed."""
    return not store.path(upload.sha256).exists()


def make_submitted_file(store: Store, upload: Upload) -> SubmittedFile:
    """Return an upload as a source of a grading gives it: with a local time.

    Raises:
        UsageError: its bytes were pruned. Without them there is no mark, rather than a wrong one.
    """
    if is_pruned(store, upload):
        when = describe_moment(upload.at)
        raise UsageError(
            f"{upload.name} of {upload.key}, submitted on {when}, was removed by the"
            " rules of retention: this assignment can no longer be graded"
        )
    time_ = datetime.datetime.fromtimestamp(int(upload.at))
    return SubmittedFile(store.path(upload.sha256), upload.name, time_)


def entries(db: Connection, store: Store, assigned: Assigned) -> list[StudentSubmissions]:
    """Return an entry for each student or group, with what of theirs may be graded."""
    found = ownership.of_all(db, assigned)
    return [
        one._replace(
            handed=tuple(make_submitted_file(store, upload) for upload in found[one.key].counting)
        )
        for one in roster.students(courses.students(db, assigned.course))
    ]
