"""Rosters: students become members of a course, with keys as a grading makes them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.records import Student, StudentSubmissions
from harness.service.courses import roster_files
from harness.service.courses.roster_files import Listed
from harness.service.people import entering
from harness.service.records import STUDENT, Member
from harness.service.storage import courses, people
from harness.service.storage.audit_log import Act

_EMAIL = "email"


def read(data: bytes) -> list[Listed]:
    """Return the students of a roster; raises as :func:`roster_files.read`."""
    with tempfile.NamedTemporaryFile(prefix="gtp-harness-roster-") as file:
        file.write(data)
        file.flush()
        return roster_files.read(Path(file.name))


def take(act: Act, course: str, listed: Sequence[Listed]) -> list[Member]:
    """Make students members of a course; members get the roster's name and group.

    Members missing from the roster stay unchanged.

    Raises:
        UsageError: a group would be taken for a student who is not in it.
    """
    known = {one.key: one for one in courses.students(act.db, course)}
    found = [_add_or_change(act, course, one, known.get(one.student.key)) for one in listed]
    _check_groups(courses.students(act.db, course))
    moved = {
        one.key: [known[one.key].team, one.team]
        for one in found
        if one.key in known and known[one.key].team != one.team
    }
    act.note("roster taken", course, students=len(found), moved=moved)
    return found


def _check_groups(members: Sequence[Member]) -> None:
    """See that no group has the key of a student: what they submit is told apart by it."""
    keys = {one.key.casefold() for one in members}
    for one in members:
        if one.team.casefold() in keys:
            raise UsageError(
                f"{roster_files.FILE}: a student of this course is called {one.team!r}, too: call"
                " the group otherwise"
            )


def _add_or_change(act: Act, course: str, one: Listed, known: Member | None) -> Member:
    student = one.student
    told = {"name": student.name, "ids": json.dumps(student.ids), "team": one.team}
    if known:
        courses.MEMBERS.change(act.db, dict(told), course=course, person=known.person)
        return known._replace(**told)
    person = entering.add_person(act, student.name, dict(student.ids).get(_EMAIL, ""))
    return courses.MEMBERS.add(act.db, Member(course, person.id, STUDENT, student.key, **told))


class StudentLink(NamedTuple):
    """A link for a student to sign in by. This is its only copy."""

    student: str  # the key
    name: str
    email: str
    link: str


def make_links(act: Act, course: str, base: str) -> list[StudentLink]:
    """Make links for all students of a course; those they had hold no longer.

    ``base``: what the addresses of the service begin with.
    """
    return [_make_link(act, one, base) for one in courses.students(act.db, course)]


def _make_link(act: Act, one: Member, base: str) -> StudentLink:
    person = people.PEOPLE.find(act.db, id=one.person)
    people.revoke_links(act.db, one.person)
    email = person.email if person else ""
    return StudentLink(one.key, one.name, email, entering.make_course_link(act, one.person, base))


def students(members: Sequence[Member]) -> list[StudentSubmissions]:
    """Return an entry for each student or group of a course, with nothing submitted yet."""
    heaps: dict[str, list[Member]] = {}
    for one in members:
        if one.role == STUDENT:
            heaps.setdefault(one.submits_as, []).append(one)
    return [entry(key, heap) for key, heap in sorted(heaps.items())]


def entry(key: str, members: Iterable[Member]) -> StudentSubmissions:
    """Return an entry of some students, with nothing submitted yet."""
    return StudentSubmissions(
        key, tuple(map(_student, sorted(members, key=lambda one: one.key))), ()
    )


def _student(one: Member) -> Student:
    pairs = tuple((str(name), str(value)) for name, value in json.loads(one.ids))
    return Student(one.key, one.name, pairs)
