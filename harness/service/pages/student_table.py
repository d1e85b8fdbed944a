"""Where each student or group stands with an assignment: what the staff has before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.grading.records import StudentSubmissions
from harness.service.courses import making, roster, submissions
from harness.service.courses.deadlines import describe_late, latest_deadline
from harness.service.courses.submissions import MAY_COUNT, Heap
from harness.service.pages.forms import upload_state
from harness.service.records import FAULT, Assigned, Job, Upload
from harness.service.storage import courses, queue

SUBMITTED, NOTHING, REFUSED, FAULTY = "submitted", "nothing", "refused", "fault"
_CHOICES = {
    SUBMITTED: "Submitted",
    NOTHING: "Nothing submitted",
    REFUSED: "Refused",
    FAULTY: "Not checked",
}


class StudentStanding(NamedTuple):
    """What there is of a student or a group."""

    key: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    state: str  # of the submission that counts, in words
    upload: Upload | None  # that submission
    number: int  # of all submissions
    extension: str
    late: str  # of that submission: how late, and what that costs; empty if in time
    place: str  # what a grading would do with it; empty if there is none


def of_all(db: Connection, assigned: Assigned) -> list[StudentStanding]:
    """Return where each student or group of a course stands, sorted by key."""
    entries = roster.students(courses.students(db, assigned.course))
    heaps = submissions.of_all(db, assigned)
    jobs = queue.checks(db, assignment=assigned.id)
    extensions = courses.extensions(db, assigned.id)
    rule = making.late(assigned, extensions)
    return [_standing(entry, heaps[entry.key], jobs, rule) for entry in entries]


def of_one(db: Connection, assigned: Assigned, key: str) -> StudentStanding:
    """Return where a student or group of a course stands."""
    group = courses.submitting_as(db, assigned.course, key)
    heap = submissions.of(db, assigned, key)
    jobs = queue.checks(db, about=[one.id for one in heap.counting])
    rule = making.late(assigned, courses.extensions(db, assigned.id))
    return _standing(roster.entry(key, group), heap, jobs, rule)


def choices(standings: Sequence[StudentStanding]) -> list[tuple[str, str, int]]:
    """Return by what a list can be filtered: the kind, its words, how many are of it."""
    counts = Counter(kind for one in standings for kind in one.kinds)
    found = [(kind, words, counts[kind]) for kind, words in _CHOICES.items() if counts[kind]]
    return [("all", "All", len(standings)), *found]


def _standing(
    entry: StudentSubmissions,
    heap: Heap,
    jobs: Mapping[str, Job],
    rule: Late,
) -> StudentStanding:
    keys = [one.key for one in entry.students]
    extensions = {key: time.isoformat() for key, time in rule.own}
    own, last = latest_deadline(extensions, keys), heap.last
    late = describe_late(rule.of(keys), last.at) if last else ""
    names = tuple(one.name for one in entry.students if one.name)
    kinds, words = _how_far(heap, jobs)
    place = heap.places[last.id] if last else ""
    return StudentStanding(entry.key, names, kinds, words, last, len(heap.all), own, late, place)


def _how_far(heap: Heap, jobs: Mapping[str, Job]) -> tuple[tuple[str, ...], str]:
    """Return of which kinds a student or group is, and how far the submission that counts is."""
    upload = heap.last
    if upload is None:
        if not heap.counting:
            return (NOTHING,), "nothing submitted"
        return (SUBMITTED, REFUSED), "refused: nothing counts"
    job = jobs.get(upload.id)
    if job and job.state == FAULT:
        return (SUBMITTED, FAULTY), "could not be checked"
    return (SUBMITTED,), f"{upload_state(upload, job)}{_tell_later(heap, upload)}"


def _tell_later(heap: Heap, upload: Upload) -> str:
    """Return what became of the last submission, if it is not the one that counts."""
    last = heap.counting[-1]
    if last == upload:
        return ""
    is_waiting = heap.places[last.id] == MAY_COUNT
    return f"; a later one {'waits for its check' if is_waiting else 'is refused'}"
