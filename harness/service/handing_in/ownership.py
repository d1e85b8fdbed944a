"""Decide who owns a submission after a later roster changed the groups.

A submission belongs to everyone in the group when it was sent, and goes with each of them. Of all
submissions that the students of a group own, the last one counts, with one exception: if a
student leaves a group that continues, its submissions stay the group's. They count for the
student who left only if there is nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from harness.service.records import Assigned, Held, Member, Upload
from harness.service.storage import courses, uploads


class Heap(NamedTuple):
    """What a student or a group submitted, each the last one last; withdrawn ones too."""

    own: tuple[Held, ...] = ()
    others: tuple[Held, ...] = ()  # sent with a group that continues without one

    @property
    def counting(self) -> list[Upload]:
        """Return what is graded: of these the last one that can be read."""
        return _list_held(self.own) or _list_held(self.others)

    @property
    def last(self) -> Upload | None:
        """Return the upload that counts as it seems now."""
        return next(reversed(self.counting), None)

    @property
    def all(self) -> list[Upload]:
        """Return all, for the staff, in the order of time."""
        return _in_order((*self.own, *self.others))

    def seen_by(self, student: str) -> list[Upload]:
        """Return the uploads that a student of it may see, without the work of others."""
        counting_ = self.counting
        others = (o for o in self.others if student in o.students or o.upload in counting_)
        return _in_order((*self.own, *others))


def _list_held(held: Iterable[Held]) -> list[Upload]:
    return [one.upload for one in held if not one.upload.withdrawn]


def _in_order(held: Iterable[Held]) -> list[Upload]:
    return sorted((one.upload for one in held), key=lambda one: (one.at, one.id))


def of(db: Connection, assigned: Assigned, key: str) -> Heap:
    """Return what one student or group submitted."""
    students = courses.students(db, assigned.course)
    own = [one.key for one in students if one.submits_as == key]
    return heaps(students, uploads.list_held(db, assigned.id, own)).get(key, Heap())


def of_all(db: Connection, assigned: Assigned) -> dict[str, Heap]:
    """Return what each student or group submitted, by their keys."""
    return heaps(courses.students(db, assigned.course), uploads.list_held(db, assigned.id))


def heaps(students: Sequence[Member], held: Sequence[Held]) -> dict[str, Heap]:
    """Return what each student or group of a course has of ``held``, which is sorted by time."""
    teams = {one.key: one.submits_as for one in students}
    found: dict[str, list[Held]] = {key: [] for key in teams.values()}
    for one in held:
        for key in {teams[student] for student in one.students if student in teams}:
            found[key].append(one)
    return {key: _heap(key, heap, teams) for key, heap in found.items()}


def _heap(key: str, held: Sequence[Held], teams: Mapping[str, str]) -> Heap:
    others = [one for one in held if _is_of_others(key, one, teams)]
    own = [one for one in held if one not in others]
    return Heap(tuple(own), tuple(others))


def _is_of_others(key: str, held: Held, teams: Mapping[str, str]) -> bool:
    sent_as = held.upload.key
    return sent_as != key and any(teams.get(student) == sent_as for student in held.students)


def counting(found: Iterable[Heap]) -> frozenset[str]:
    """Return the ids of the uploads that count as it seems now."""
    return frozenset(heap.last.id for heap in found if heap.last)
