"""Rosters: a CSV of students becomes members of a course, with keys as a grading makes them.

The columns are those of a CSV that names submissions (:mod:`harness.grading.taking_in.sources`):
``student`` is needed; ``name``, ``group``, ``email`` and ids of platforms may be there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.records import Student, StudentSubmissions
from harness.grading.taking_in.sources import csv_source
from harness.grading.taking_in.sources.pieces import SourcePiece, entries
from harness.service.people import entering
from harness.service.records import STUDENT, Member
from harness.service.storage import courses
from harness.service.storage.audit import Act

_FILE = "roster.csv"
_EMAIL = "email"


class Listed(NamedTuple):
    """A student of a roster."""

    student: Student
    team: str  # the key of the group; empty: alone


def read(data: bytes) -> list[Listed]:
    """Return the students of a CSV, sorted by key.

    Raises:
        UsageError: says the line and the column that is wrong.
    """
    with tempfile.TemporaryDirectory() as room:
        path = Path(room, _FILE)
        path.write_bytes(data)
        try:
            rows = csv_source.read(path, ["student"])
            pieces = [SourcePiece(row.student(), group=row.get("group")) for row in rows]
        except UsageError as error:
            raise UsageError(str(error).replace(str(path), _FILE)) from None
    if not pieces:
        raise UsageError(f"{_FILE}: there are no students in it")
    return sorted(
        Listed(student, one.key if one.key != student.key else "")
        for one in entries(pieces)
        for student in one.students
    )


def take(act: Act, course: str, listed: Sequence[Listed]) -> list[Member]:
    """Make students members of a course; who is one already gets the roster's name and group.

    Who is not in the roster stays as it was.

    Raises:
        UsageError: a group would be taken for a student who is not in it.
    """
    known = {one.key: one for one in courses.students(act.db, course)}
    found = [_taken(act, course, one, known.get(one.student.key)) for one in listed]
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
                f"{_FILE}: a student of this course is called {one.team!r}, too: call the group"
                " otherwise"
            )


def _taken(act: Act, course: str, one: Listed, known: Member | None) -> Member:
    student = one.student
    told = {"name": student.name, "ids": json.dumps(student.ids), "team": one.team}
    if known:
        courses.MEMBERS.change(act.db, dict(told), course=course, person=known.person)
        return known._replace(**told)
    person = entering.add_person(act, student.name, dict(student.ids).get(_EMAIL, ""))
    return courses.MEMBERS.add(act.db, Member(course, person.id, STUDENT, student.key, **told))


def students(members: Sequence[Member]) -> list[StudentSubmissions]:
    """Return an entry for each student or group of a course, with nothing handed in yet."""
    heaps: dict[str, list[Member]] = {}
    for one in members:
        if one.role == STUDENT:
            heaps.setdefault(one.submits_as, []).append(one)
    return [entry(key, heap) for key, heap in sorted(heaps.items())]


def entry(key: str, members: Iterable[Member]) -> StudentSubmissions:
    """Return an entry of some students, with nothing handed in yet."""
    return StudentSubmissions(
        key, tuple(map(_student, sorted(members, key=lambda one: one.key))), ()
    )


def _student(one: Member) -> Student:
    pairs = tuple((str(name), str(value)) for name, value in json.loads(one.ids))
    return Student(one.key, one.name, pairs)
