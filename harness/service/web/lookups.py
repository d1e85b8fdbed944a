"""What a path names is looked up, and must belong together: an assignment to the course, an upload
to the assignment, and to the student who asks. So no route can forget to look.

A user outside a course gets the same answer as for a course that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlalchemy import Connection

from harness.service.courses import submissions
from harness.service.records import (
    ASSISTANT,
    DRAFT,
    FORMER,
    PREVIEW,
    ROLES,
    STUDENT,
    TEACHER,
    Upload,
)
from harness.service.storage import courses, queue, suites, uploads
from harness.service.web.here import Here
from harness.service.web.problems import Refused

_Look = Callable[[Connection, Here, str], Here]


def _course(db: Connection, here: Here, name: str) -> Here:
    found = courses.COURSES.find(db, id=name)
    member = courses.MEMBERS.find(db, course=name, person=here.by, role=[*ROLES])
    if found is None or member is None:
        raise Refused(404, "there is no such course")
    return here._replace(course=found, member=member)


def _assignment(db: Connection, here: Here, name: str) -> Here:
    assert here.course
    found = courses.ASSIGNMENTS.find(db, id=name, course=here.course.id)
    if found is None or (found.hidden and not here.is_staff):
        raise Refused(404, "there is no such assignment")
    return here._replace(assigned=found)


def _colleague(*roles: str) -> _Look:
    """Return what looks up a member of the staff with one of these roles."""

    def look(db: Connection, here: Here, name: str) -> Here:
        assert here.course
        found = courses.MEMBERS.find(db, course=here.course.id, person=name, role=[*roles])
        if found is None or not here.is_staff:
            raise Refused(404, f"there is no such {' or '.join(roles)}")
        return here._replace(colleague=found)

    return look


def _of_course(role: str) -> _Look:
    """Return what looks up a student of the course, or a former one, by the key."""

    def look(db: Connection, here: Here, name: str) -> Here:
        assert here.course
        found = courses.MEMBERS.find(db, course=here.course.id, key=name, role=role)
        if found is None or not here.is_staff:
            raise Refused(404, "there is no such student")
        return here._replace(student=found.key)

    return look


def _upload(db: Connection, here: Here, name: str) -> Here:
    known = here.sure()
    found = uploads.UPLOADS.find(db, id=name, assignment=known.assigned.id)
    if found is None or not (here.is_staff or found in own_uploads(db, here)):
        raise Refused(404, "there is no such submission")
    return here._replace(upload=found)


def own_uploads(db: Connection, here: Here) -> list[Upload]:
    """Return what the student who asks may see of the submissions, the last one last."""
    known = here.sure()
    heap = submissions.of(db, known.assigned, known.member.submits_as)
    return heap.seen_by(known.member.key)


def _grading(db: Connection, here: Here, name: str) -> Here:
    found = uploads.GRADINGS.find(db, id=name, assignment=here.sure().assigned.id)
    if found is None or not here.is_staff:
        raise Refused(404, "there is no such grading")
    return here._replace(grading=found)


def _student(db: Connection, here: Here, name: str) -> Here:
    if not (here.is_staff and courses.submitting_as(db, here.sure().course.id, name)):
        raise Refused(404, "there is no such student")
    return here._replace(student=name)


def _comment(db: Connection, here: Here, name: str) -> Here:
    known = here.sure()
    students = courses.students_of(db, known.course.id, here.student)
    every = uploads.comments(db, known.assigned.id, students)
    found = next((one for one in every if one.id == name), None)
    if found is None:
        raise Refused(404, "there is no such comment")
    return here._replace(comment=found)


def _job(kind: str) -> _Look:
    """Return what looks up a job of a kind, by what it is about."""

    def look(db: Connection, here: Here, name: str) -> Here:
        found = queue.JOBS.find(db, kind=kind, about=name, assignment=here.sure().assigned.id)
        if found is None or not here.is_staff:
            raise Refused(404, f"there is no such {kind}")
        return here._replace(job=found)

    return look


def _suite(db: Connection, here: Here, name: str) -> Here:
    found = suites.SUITES.find(db, id=name)
    if found is None or not (found.is_open or found.person == here.by):
        raise Refused(404, "there is no such suite")
    return here._replace(suite=found)


def _run(db: Connection, here: Here, name: str) -> Here:
    found = suites.RUNS.find(db, id=name, suite=here.sure_suite().id)
    if found is None:
        raise Refused(404, "there is no such run")
    return here._replace(run=found)


# By the names of the parts of a path, in this order.
_LOOKED_UP: dict[str, _Look] = {
    "course": _course,
    "assistant": _colleague(ASSISTANT),
    "staff": _colleague(TEACHER, ASSISTANT),
    "member": _of_course(STUDENT),
    "former": _of_course(FORMER),
    "assignment": _assignment,
    "upload": _upload,
    "grading": _grading,
    "student": _student,
    "comment": _comment,
    "draft": _job(DRAFT),
    "preview": _job(PREVIEW),
    "suite": _suite,
    "run": _run,
}
# What must be named before it.
_WITHIN = {
    **dict.fromkeys(("assignment", "assistant", "staff", "member", "former"), "course"),
    **dict.fromkeys(("upload", "grading", "student", "draft", "preview"), "assignment"),
    "comment": "student",
    "run": "suite",
}
FREE = frozenset({"code", "name", "token", "badge"})  # parts that nobody needs to look up


def look_up(db: Connection, here: Here, named: Mapping[str, str]) -> Here:
    """Return a request with all that its path names, by the names of the parts.

    Raises:
        Refused: there is no such thing, or not for who asks.
    """
    for name, look in _LOOKED_UP.items():
        if name in named:
            here = look(db, here, named[name].replace("\0", ""))
    return here


def find_unknown(names: Iterable[str]) -> set[str]:
    """Return the parts of a path that nobody looks up, and that need it."""
    return {*names} - FREE - {*_LOOKED_UP}


def find_missing(names: Iterable[str]) -> set[str]:
    """Return the parts that a path with these lacks: the others are looked up within them."""
    found: set[str] = set()
    for name in names:
        while name := _WITHIN.get(name, ""):
            found.add(name)
    return found - {*names}
