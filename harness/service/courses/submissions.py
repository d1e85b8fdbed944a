"""Submissions: taken in, whose they are, which one counts, and why.

Bytes are kept under their SHA-256 and caps, written down, and queued for a worker's intake. A
later roster may change the groups, and so whose a submission is.
"""

import datetime
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.archives.archive_streams import IntakeLimits
from harness.assignments.assignment import Late
from harness.assignments.clock_changes import measure
from harness.core.errors import ArchiveError, InvalidGradingStateError, UsageError
from harness.core.text import begin_sentence, one_line
from harness.grading.ledger.places import Store
from harness.grading.records import StudentSubmissions, SubmittedFile
from harness.service import records
from harness.service.courses import making, roster
from harness.service.courses.deadlines import load_rule
from harness.service.local_times import describe_date, describe_moment, describe_time
from harness.service.records import CourseAssignment, Member, OwnedUpload, Upload, new_id
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import AuditedTransaction

# What a grading would do with an upload: take it; take it unless its check refuses it; take it, or
# give no mark, because the harness failed to read it; pass over it; or take a later one.
Place = Literal["counts", "may count", "unread", "refused", "passed over"]
COUNTS: Place = "counts"
MAY_COUNT: Place = "may count"
UNREAD: Place = "unread"
REFUSED: Place = "refused"
PASSED_OVER: Place = "passed over"
_NOT_REFUSED = '"refused":""'  # as canonical JSON has it; within a text its quotes are escaped


class SubmissionHistory(NamedTuple):
    """Submissions of a student or group, each the last one last; withdrawn ones too."""

    own: tuple[OwnedUpload, ...] = ()
    others: tuple[OwnedUpload, ...] = ()  # sent with a group that continues without one
    unread: frozenset[str] = frozenset()  # ids of uploads that the harness failed to read

    @property
    def counting(self) -> list[Upload]:
        """Return what a grading is given: it takes the last one that is not refused."""
        own, others = (
            [one.upload for one in held if not one.upload.withdrawn]
            for held in (self.own, self.others)
        )
        return own or others

    @property
    def places(self) -> dict[str, Place]:
        """Return what a grading would do with the uploads that it is given, by their ids.

        The rule is that of :func:`harness.grading.ingest.sources.receive`, and the check's
        result is its result for the one upload.
        """
        found: dict[str, Place] = {}
        is_taken = False
        for one in reversed(self.counting):
            if is_taken:
                found[one.id] = PASSED_OVER
            elif one.record:
                found[one.id] = REFUSED if refusal(one) else COUNTS
            else:
                found[one.id] = UNREAD if one.id in self.unread else MAY_COUNT
            is_taken = is_taken or found[one.id] in (COUNTS, UNREAD)
        return found

    def find(self, *places: Place) -> Upload | None:
        """Return the last upload with one of these places, or None."""
        own = self.places
        return next((one for one in reversed(self.counting) if own[one.id] in places), None)

    @property
    def last(self) -> Upload | None:
        """Return the upload that counts; if none does yet, the last one that may."""
        return self.find(COUNTS, UNREAD) or self.find(MAY_COUNT)

    @property
    def all(self) -> list[Upload]:
        """Return all, for the staff, in the order of time."""
        return _in_order((*self.own, *self.others))

    def seen_by(self, student: str) -> list[Upload]:
        """Return the uploads that a student of it may see, without the work of others."""
        counting_ = self.counting
        others = (o for o in self.others if student in o.students or o.upload in counting_)
        return _in_order((*self.own, *others))


def refusal(upload: Upload) -> str:
    """Return why an upload was refused when it was checked, or ""."""
    if not upload.record or _NOT_REFUSED in upload.record:  # a class has hundreds to be read
        return ""
    return str(json.loads(upload.record)["refused"])


def _in_order(owned_uploads: Iterable[OwnedUpload]) -> list[Upload]:
    return sorted((one.upload for one in owned_uploads), key=lambda one: one.order)


def history_of(db: Connection, assignment: CourseAssignment, key: str) -> SubmissionHistory:
    """Return what one student or group submitted."""
    group = courses.submitting_as(db, assignment.course, key)
    own = {one.key for one in group}
    held = uploads.list_held(db, assignment.id, own)
    others = sorted({student for one in held for student in one.students} - own)
    if others:  # few have been in another group
        group += courses.MEMBERS.all(
            db, course=assignment.course, role=records.STUDENT, key=others
        )
    found = histories(group, held, queue.failed_checks(db, assignment.id))
    return found.get(key, SubmissionHistory())


def all_histories(db: Connection, assignment: CourseAssignment) -> dict[str, SubmissionHistory]:
    """Return what each student or group submitted, by their keys."""
    students, held = courses.students(db, assignment.course), uploads.list_held(db, assignment.id)
    return histories(students, held, queue.failed_checks(db, assignment.id))


def histories(
    students: Sequence[Member], owned: Sequence[OwnedUpload], failed: frozenset[str] = frozenset()
) -> dict[str, SubmissionHistory]:
    """Return what each student or group of a course has of ``owned``, sorted by time.

    ``failed``: ids of uploads in whose check the harness failed.
    """
    teams = {one.key: one.submits_as for one in students}
    groups: dict[str, list[OwnedUpload]] = {key: [] for key in teams.values()}
    for one in owned:
        for key in {teams[student] for student in one.students if student in teams}:
            groups[key].append(one)
    found = {}
    for key, group in groups.items():
        others = [
            one
            for one in group
            if one.upload.key != key
            and any(teams.get(student) == one.upload.key for student in one.students)
        ]
        own = tuple(one for one in group if one not in others)
        found[key] = SubmissionHistory(own, tuple(others), failed)
    return found


def places(student_histories: Iterable[SubmissionHistory]) -> dict[str, Place]:
    """Return what a grading would do with the uploads of several histories, by their ids.

    An upload that one group has with another counts if it counts for one of them.
    """
    own: dict[str, Place] = {}
    for history in student_histories:
        for upload, place in history.places.items():
            if upload not in own or own[upload] == PASSED_OVER:
                own[upload] = place
    return own


def history_with(student_histories: Iterable[SubmissionHistory], upload: str) -> SubmissionHistory:
    """Return the history in which a grading would first look at an upload, or an empty one."""
    having = [history for history in student_histories if upload in history.places]
    looked_at = (history for history in having if history.places[upload] != PASSED_OVER)
    return next(looked_at, next(iter(having), SubmissionHistory()))


# --- Say whether an upload counts, in sentences: pages and the API say the same ------------------


_PLACES = {
    COUNTS: "This one counts.",
    PASSED_OVER: "This one does not count, because there is a later one.",
    UNREAD: (
        "We failed to read this one, which is not your fault. No earlier one counts in its place."
        " Your teacher can start the check again."
    ),
}


def explain_place(history: SubmissionHistory, upload: Upload) -> str:
    """Return what a grading would do with an upload, in sentences; empty for a withdrawn one."""
    place = history.places.get(upload.id)
    if place == MAY_COUNT:
        if history.find(MAY_COUNT) != upload:
            return "This one will count if the check refuses the later ones, but not this one."
        until = _tell_settled(history) or "none counts"
        return f"This one will count if the check does not refuse it. Until then {until}."
    if place != REFUSED:
        return _PLACES[place] if place else ""
    if waiting := history.find(MAY_COUNT):
        other = f"{name_upload(waiting)} will count if the check does not refuse it"
    else:
        other = _tell_settled(history) or "no submission counts now: submit again"
    return f"This one does not count. {refusal(upload)} {begin_sentence(other)}."


def explain_counting(history: SubmissionHistory) -> str:
    """Return which of several submissions counts and why, in sentences; "" for less than two."""
    many, last = len(history.counting), history.last
    if many < 2:
        return ""
    if last is None:
        return f"None of your {many} submissions counts, because each was refused."
    place, is_last = history.places[last.id], last == history.counting[-1]
    if place == MAY_COUNT:
        until = _tell_settled(history) or "none counts"
        return (
            f"Of your {many} submissions, {name_upload(last)} will count if its check does not"
            f" refuse it. Until then {until}."
        )
    why = "it is the last one" if is_last else "it is the last one that is not refused"
    waiting = history.find(MAY_COUNT)
    later = f" {begin_sentence(name_upload(waiting))} is still to be checked." if waiting else ""
    return f"Of your {many} submissions, {name_upload(last)} counts, because {why}.{later}"


def _tell_settled(history: SubmissionHistory) -> str:
    """Return which submission was read and counts, as a clause; "" if there is none."""
    if unread := history.find(UNREAD):
        return f"there is no mark, because we failed to read {name_upload(unread)}"
    settled = history.find(COUNTS)
    return f"{name_upload(settled)} counts" if settled else ""


def name_upload(upload: Upload) -> str:
    """Return an upload with its time, for a sentence."""
    return f"the submission {upload.name} of {describe_moment(upload.at)}"


# --- Taking in what somebody uploads: kept under its SHA-256, written down, and queued -----------


_LONGEST = 120  # characters of a file's name


class StoredFile(NamedTuple):
    """A file whose bytes are in the store."""

    name: str  # as its owner calls it
    sha256: str
    size: int
    path: Path  # where they are


def keep(
    store: Store, file: Path, name: str, largest: int, expected: str = "the archive that you made"
) -> StoredFile:
    """Keep a file's bytes, which its owner calls ``name``; ``expected``: what to send.

    ``largest``: bytes that the service takes; no archive may have more than the limit of all.

    Raises:
        OSError: they cannot be written.
        UsageError: they are not any, or too many.
    """
    if not (size := file.stat().st_size):
        raise UsageError(f"the file is empty: choose {expected}")
    try:
        # The check refuses what is larger than any archive may be: it is said at once.
        limits = IntakeLimits()
        most = min(largest, limits.compressed)
        sha256 = store.keep(file, limits._replace(compressed=most))
    except ArchiveError as error:
        raise UsageError(f"the file is refused: {error}") from None
    except UsageError as error:  # the service's own trouble, such as a full disk
        raise error.__cause__ or error from None
    return StoredFile(name, sha256, size, store.path(sha256))


def explain_closed(
    db: Connection, assignment: CourseAssignment, key: str, now: datetime.datetime
) -> str:
    """Return why ``key`` cannot submit now, or "" if it can.

    A grading does not refuse what was accepted here.
    """
    if is_before(assignment, now):
        return f"it opens on {describe_date(assignment.opens)}"
    rule = load_rule(db, assignment, key)
    last = rule.refused_after
    return f"it closed on {describe_time(last)}" if last and _is_over(last, rule, now) else ""


def is_before(assignment: CourseAssignment, now: datetime.datetime) -> bool:
    """Whether an assignment is not open yet."""
    opens = making.moment(assignment.opens)
    return opens is not None and measure(opens, now) < datetime.timedelta()


def _is_over(last: datetime.datetime, rule: Late, now: datetime.datetime) -> bool:
    return measure(last, now) > datetime.timedelta(minutes=rule.grace_minutes)


def take(
    act: AuditedTransaction,
    assignment: CourseAssignment,
    member: Member,
    file: StoredFile,
    most: Settings | None = None,
) -> Upload:
    """Write down an upload whose bytes are kept, and let a worker check it.

    ``most``: has how many a student may submit, and how many bytes; None: any number.

    Raises:
        UsageError: nothing is taken now.
    """
    now, key = time.time(), member.submits_as
    assignment = making.hold(act.db, assignment)
    if reason := explain_closed(act.db, assignment, key, datetime.datetime.fromtimestamp(now)):
        raise UsageError(f"{assignment.title} does not accept submissions now: {reason}")
    if most:
        count, total = uploads.measure(act.db, assignment.id, member.person)
        if count >= most.most_uploads:
            raise UsageError(f"you have submitted {count} times, the limit: ask your teacher")
        if total + file.size > most.most_uploaded:
            raise UsageError(
                f"your submissions have {total:,} bytes, the limit is {most.most_uploaded:,}: ask"
                " your teacher"
            )
    name = one_line(file.name, _LONGEST) or "archive"
    number = uploads.next_number(act.db, assignment.id)
    own = new_id(), assignment.id, key, member.person, name, file.sha256, file.size, now
    upload = uploads.UPLOADS.add(act.db, Upload(*own, number=number))
    if not file.path.exists():  # the same bytes were pruned just now, which waits from here on
        raise UsageError("the file was not kept: submit it once more")
    together = courses.students_of(act.db, assignment.course, key)
    uploads.give_to(act.db, upload.id, (member.key, *together))  # who asks may be moved just now
    deadline = load_rule(act.db, assignment, key).deadline
    due = deadline.isoformat() if deadline else ""
    wanted = records.Job("", records.CHECK, assignment.id, upload.id, key, due=due)
    queue.put(act.db, wanted._replace(person=member.person))
    act.note("handed in", upload.id, sha256=file.sha256, name=name)
    return upload


def explain_bound(
    db: Connection, assignment: CourseAssignment, key: str, upload: Upload, now: datetime.datetime
) -> str:
    """Return why a student or group cannot withdraw an upload, or "" if it can."""
    if reason := explain_closed(db, assignment, key, now):
        return reason
    if all(one.upload.id != upload.id for one in history_of(db, assignment, key).own):
        return f"it belongs to the group {upload.key}, which continues without you"
    # Nobody brings an earlier try back when it is over.
    rule = load_rule(db, assignment, key)
    last = rule.deadline
    if last is not None and _is_over(last, rule, now):
        return f"the deadline was {describe_time(last)}"
    released = uploads.find_released(db, assignment.id)
    if released and upload.at > released.concluded:  # the mark is that of an earlier one
        return ""
    students = courses.students_of(db, assignment.course, key) if released else ()
    is_known = any(released and uploads.mark_of(db, released.id, one) for one in students)
    return "its mark is released" if is_known else ""


def require_withdrawable(
    db: Connection, assignment: CourseAssignment, key: str, upload: Upload
) -> None:
    """Raise InvalidGradingStateError if a student or group cannot withdraw an upload now."""
    if reason := explain_bound(db, assignment, key, upload, datetime.datetime.now()):
        raise InvalidGradingStateError(f"it cannot be withdrawn: {reason}")


def withdraw(
    act: AuditedTransaction, assignment: CourseAssignment, key: str, upload: Upload
) -> None:
    """Let an upload not count; raises as :func:`require_withdrawable`."""
    now = courses.lock(act.db, assignment.id) or assignment  # other dates, perhaps
    require_withdrawable(act.db, now, key, upload)
    uploads.UPLOADS.change(act.db, {"withdrawn": 1}, id=upload.id)
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


def entries(
    db: Connection, store: Store, assignment: CourseAssignment
) -> list[StudentSubmissions]:
    """Return an entry for each student or group, with what of theirs may be graded."""
    found = all_histories(db, assignment)
    return [
        one._replace(
            files=tuple(make_submitted_file(store, upload) for upload in found[one.key].counting)
        )
        for one in roster.students(courses.students(db, assignment.course))
    ]
