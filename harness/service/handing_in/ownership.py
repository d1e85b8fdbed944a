"""Decide who owns a submission after a later roster changed the groups, and which one counts.

A submission belongs to everyone in the group when it was sent, and goes with each of them. Of all
submissions that the students of a group own, the last one that is not refused counts, with one
exception: if a student leaves a group that continues, its submissions stay the group's. They count
for the student who left only if there is nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.service.records import STUDENT, Assigned, Held, Member, Upload
from harness.service.storage import courses, queue, uploads

# What a grading would do with an upload: take it; take it unless its check refuses it; take it, or
# give no mark, because the harness failed to read it; pass over it; or take a later one.
Place = Literal["counts", "may count", "unread", "refused", "passed over"]
COUNTS: Place = "counts"
MAY_COUNT: Place = "may count"
UNREAD: Place = "unread"
REFUSED: Place = "refused"
PASSED_OVER: Place = "passed over"

_NOT_REFUSED = '"refused":""'  # as canonical JSON has it; within a text its quotes are escaped


class Heap(NamedTuple):
    """What a student or a group submitted, each the last one last; withdrawn ones too."""

    own: tuple[Held, ...] = ()
    others: tuple[Held, ...] = ()  # sent with a group that continues without one
    unread: frozenset[str] = frozenset()  # ids of uploads that the harness failed to read

    @property
    def counting(self) -> list[Upload]:
        """Return what a grading is given: it takes the last one that is not refused."""
        return _list_held(self.own) or _list_held(self.others)

    @property
    def places(self) -> dict[str, Place]:
        """Return what a grading would do with the uploads that it is given, by their ids.

        The rule is that of :func:`harness.grading.taking_in.receive.receive`, and the check's
        result is its result for the one upload.
        """
        found: dict[str, Place] = {}
        is_taken = False
        for one in reversed(self.counting):
            found[one.id] = PASSED_OVER if is_taken else self._place(one)
            is_taken = is_taken or found[one.id] in (COUNTS, UNREAD)
        return found

    def _place(self, upload: Upload) -> Place:
        """Return what a grading would do with an upload without a later one."""
        if upload.record:
            return REFUSED if refusal(upload) else COUNTS
        return UNREAD if upload.id in self.unread else MAY_COUNT

    def find(self, *places: Place) -> Upload | None:
        """Return the last upload with one of these places, or None."""
        own = self.places
        found = (one for one in reversed(self.counting) if own[one.id] in places)
        return next(found, None)

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


def _list_held(held: Iterable[Held]) -> list[Upload]:
    return [one.upload for one in held if not one.upload.withdrawn]


def _in_order(held: Iterable[Held]) -> list[Upload]:
    return sorted((one.upload for one in held), key=lambda one: one.order)


def of(db: Connection, assigned: Assigned, key: str) -> Heap:
    """Return what one student or group submitted."""
    group = courses.submitting_as(db, assigned.course, key)
    own = {one.key for one in group}
    held = uploads.list_held(db, assigned.id, own)
    others = sorted({student for one in held for student in one.students} - own)
    if others:  # few have been in another group
        group += courses.MEMBERS.all(db, course=assigned.course, role=STUDENT, key=others)
    return heaps(group, held, queue.failed_checks(db, assigned.id)).get(key, Heap())


def of_all(db: Connection, assigned: Assigned) -> dict[str, Heap]:
    """Return what each student or group submitted, by their keys."""
    students, held = courses.students(db, assigned.course), uploads.list_held(db, assigned.id)
    return heaps(students, held, queue.failed_checks(db, assigned.id))


def heaps(
    students: Sequence[Member], held: Sequence[Held], failed: frozenset[str] = frozenset()
) -> dict[str, Heap]:
    """Return what each student or group of a course has of ``held``, which is sorted by time.

    ``failed``: ids of uploads in whose check the harness failed.
    """
    teams = {one.key: one.submits_as for one in students}
    found: dict[str, list[Held]] = {key: [] for key in teams.values()}
    for one in held:
        for key in {teams[student] for student in one.students if student in teams}:
            found[key].append(one)
    return {key: _heap(key, heap, teams)._replace(unread=failed) for key, heap in found.items()}


def _heap(key: str, held: Sequence[Held], teams: Mapping[str, str]) -> Heap:
    others = [one for one in held if _is_of_others(key, one, teams)]
    own = [one for one in held if one not in others]
    return Heap(tuple(own), tuple(others))


def _is_of_others(key: str, held: Held, teams: Mapping[str, str]) -> bool:
    sent_as = held.upload.key
    return sent_as != key and any(teams.get(student) == sent_as for student in held.students)


def places(found: Iterable[Heap]) -> dict[str, Place]:
    """Return what a grading would do with the uploads of several heaps, by their ids.

    An upload that one group has with another counts if it counts for one of them.
    """
    own: dict[str, Place] = {}
    for heap in found:
        for upload, place in heap.places.items():
            if upload not in own or own[upload] == PASSED_OVER:
                own[upload] = place
    return own


def heap_with(found: Iterable[Heap], upload: str) -> Heap:
    """Return the heap in which a grading would first look at an upload, or an empty one."""
    having = [heap for heap in found if upload in heap.places]
    looked_at = (heap for heap in having if heap.places[upload] != PASSED_OVER)
    return next(looked_at, next(iter(having), Heap()))
