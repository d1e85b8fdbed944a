"""A request that may be answered: by whom it is, what its path names, and who may do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fastapi import Request
from sqlalchemy import Connection
from starlette.datastructures import FormData

from harness.service.courses import submissions
from harness.service.people import accounts
from harness.service.records import (
    ASSISTANT,
    COMMENT,
    DRAFT,
    FORMER,
    PREVIEW,
    RIGHTS,
    ROLES,
    STAFF,
    STUDENT,
    TEACHER,
    Comment,
    Course,
    CourseAssignment,
    Grading,
    Job,
    Member,
    Person,
    Suite,
    SuiteRun,
    Token,
    Upload,
)
from harness.service.storage import courses, queue, uploads
from harness.service.web.problems import RequestRefused
from harness.service.web.service import Service


class RequestContext(NamedTuple):
    """A request that may be answered: by whom it is, and what it is about."""

    service: Service
    request: Request
    person: Person | None = None
    session: str = ""  # the secret of it; empty: none, or an API token was shown
    token: Token | None = None
    course: Course | None = None
    member: Member | None = None
    assigned: CourseAssignment | None = None
    upload: Upload | None = None
    grading: Grading | None = None
    student: str = ""  # the key of the student or group that the path names
    comment: Comment | None = None  # for that student or group
    job: Job | None = None  # that the path names by what it is about
    suite: Suite | None = None
    run: SuiteRun | None = None
    colleague: Member | None = None  # a member of the staff that the path names
    form: FormData = FormData()
    why: str = ""  # the form was not taken; its page is shown again, with what was typed

    @property
    def by(self) -> str:
        """Return the ID of the person asking, or "" if not signed in."""
        return self.person.id if self.person else ""

    @property
    def is_staff(self) -> bool:
        """Whether it is a teacher or an assistant of the course."""
        return self.member is not None and self.member.role in STAFF

    @property
    def owns_suite(self) -> bool:
        """Whether it is the owner of the suite that the path names."""
        return self.suite is not None and self.suite.person == self.by

    @property
    def form_token(self) -> str:
        """Return what the forms on a page must carry."""
        return accounts.form_token(self.session) if self.session else ""

    def field(self, name: str) -> str:
        """Return a field of the form, trimmed; empty if there is none."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def require_suite(self) -> Suite:
        """Return the suite that a path names; for routes whose rule has looked it up."""
        assert self.suite
        return self.suite

    def require_comment(self) -> Comment:
        """Return the comment that a path names; for routes whose rule has looked it up."""
        assert self.comment
        return self.comment

    def require_colleague(self) -> Member:
        """Return the colleague that a path names; for routes whose rule has looked it up."""
        assert self.colleague
        return self.colleague

    def require_run(self) -> SuiteRun:
        """Return the run that a path names; for routes whose rule has looked it up."""
        assert self.run
        return self.run

    def require(self) -> AssignmentPath:
        """Return what a path in an assignment names; for routes whose rule has looked it up."""
        assert self.course and self.member and self.assigned
        return AssignmentPath(self.course, self.member, self.assigned)


class AssignmentPath(NamedTuple):
    """What a path in an assignment names."""

    course: Course
    member: Member
    assigned: CourseAssignment


# --- Rules of who may do what: each route has one of them ----------------------------------------


class Rule(NamedTuple):
    """Who may use a route."""

    name: str
    roles: frozenset[str] = frozenset()  # in the course of the path; empty if it has no course
    signed_in: bool = True
    admins: bool = False  # administrators only
    right: str = ""  # the right that an assistant needs
    owns: bool = False  # the owner of the suite only
    removes: bool = False  # the comment of the path: its author and teachers only

    def allows(self, context: RequestContext) -> bool:
        """Whether a person with this role in the course or suite of the path may do it."""
        member = context.member
        if self.roles and (member is None or member.role not in self.roles):
            return False
        if self.right and (member is None or not member.has(self.right)):
            return False
        if self.removes and (member is None or not member.may_remove(context.require_comment())):
            return False
        return context.owns_suite or not self.owns


ANYBODY = Rule("anybody", signed_in=False)
SIGNED_IN = Rule("people who are signed in")
ADMINS = Rule("administrators", admins=True)
MEMBERS = Rule("members of the course", frozenset(ROLES))
STUDENTS = Rule("students of the course", frozenset({STUDENT}))
STAFF_ONLY = Rule("teachers and assistants of the course", STAFF)
TEACHERS = Rule("teachers of the course", frozenset({TEACHER}))
OWNERS = Rule("the owner of the suite", owns=True)
COMMENT_REMOVERS = Rule(
    "the author of the comment, if still allowed to comment, and teachers of the course",
    STAFF,
    right=COMMENT,
    removes=True,
)


def require_permission(right: str) -> Rule:
    """Return the rule for teachers, and for assistants who were given one of RIGHTS."""
    return Rule(f"teachers, and assistants who may {RIGHTS[right]}", STAFF, right=right)


# --- What a path names ---------------------------------------------------------------------------
# It is looked up, and must belong together: an assignment to the course, an upload to the
# assignment, and to the student who asks. So no route can forget to look.
#
# A user outside a course gets the same answer as for a course that does not exist.


_Look = Callable[[Connection, RequestContext, str], RequestContext]


def _course(db: Connection, context: RequestContext, name: str) -> RequestContext:
    found = courses.COURSES.find(db, id=name)
    member = courses.MEMBERS.find(db, course=name, person=context.by, role=[*ROLES])
    if found is None or member is None:
        raise RequestRefused(404, "there is no such course")
    return context._replace(course=found, member=member)


def _assignment(db: Connection, context: RequestContext, name: str) -> RequestContext:
    assert context.course
    found = courses.ASSIGNMENTS.find(db, id=name, course=context.course.id)
    if found is None or (found.hidden and not context.is_staff):
        raise RequestRefused(404, "there is no such assignment")
    return context._replace(assigned=found)


def _colleague(*roles: str) -> _Look:
    """Return what looks up a member of the staff with one of these roles."""

    def look(db: Connection, context: RequestContext, name: str) -> RequestContext:
        assert context.course
        found = courses.MEMBERS.find(db, course=context.course.id, person=name, role=[*roles])
        if found is None or not context.is_staff:
            raise RequestRefused(404, f"there is no such {' or '.join(roles)}")
        return context._replace(colleague=found)

    return look


def _of_course(role: str) -> _Look:
    """Return what looks up a student of the course, or a former one, by the key."""

    def look(db: Connection, context: RequestContext, name: str) -> RequestContext:
        assert context.course
        found = courses.MEMBERS.find(db, course=context.course.id, key=name, role=role)
        if found is None or not context.is_staff:
            raise RequestRefused(404, "there is no such student")
        return context._replace(student=found.key)

    return look


def _upload(db: Connection, context: RequestContext, name: str) -> RequestContext:
    known = context.require()
    found = uploads.UPLOADS.find(db, id=name, assignment=known.assigned.id)
    if found is None or not (context.is_staff or found in own_uploads(db, context)):
        raise RequestRefused(404, "there is no such submission")
    return context._replace(upload=found)


def own_uploads(db: Connection, context: RequestContext) -> list[Upload]:
    """Return what the student who asks may see of the submissions, the last one last."""
    known = context.require()
    history = submissions.history_of(db, known.assigned, known.member.submits_as)
    return history.seen_by(known.member.key)


def _grading(db: Connection, context: RequestContext, name: str) -> RequestContext:
    found = uploads.GRADINGS.find(db, id=name, assignment=context.require().assigned.id)
    if found is None or not context.is_staff:
        raise RequestRefused(404, "there is no such grading")
    return context._replace(grading=found)


def _student(db: Connection, context: RequestContext, name: str) -> RequestContext:
    if not (context.is_staff and courses.submitting_as(db, context.require().course.id, name)):
        raise RequestRefused(404, "there is no such student")
    return context._replace(student=name)


def _comment(db: Connection, context: RequestContext, name: str) -> RequestContext:
    known = context.require()
    students = courses.students_of(db, known.course.id, context.student)
    every = uploads.comments(db, known.assigned.id, students)
    found = next((one for one in every if one.id == name), None)
    if found is None:
        raise RequestRefused(404, "there is no such comment")
    return context._replace(comment=found)


def _job(kind: str) -> _Look:
    """Return what looks up a job of a kind, by what it is about."""

    def look(db: Connection, context: RequestContext, name: str) -> RequestContext:
        found = queue.JOBS.find(
            db, kind=kind, about=name, assignment=context.require().assigned.id
        )
        if found is None or not context.is_staff:
            raise RequestRefused(404, f"there is no such {kind}")
        return context._replace(job=found)

    return look


def _suite(db: Connection, context: RequestContext, name: str) -> RequestContext:
    found = courses.SUITES.find(db, id=name)
    if found is None or not (found.is_open or found.person == context.by):
        raise RequestRefused(404, "there is no such suite")
    return context._replace(suite=found)


def _run(db: Connection, context: RequestContext, name: str) -> RequestContext:
    found = courses.RUNS.find(db, id=name, suite=context.require_suite().id)
    if found is None:
        raise RequestRefused(404, "there is no such run")
    return context._replace(run=found)


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


def look_up(db: Connection, context: RequestContext, named: Mapping[str, str]) -> RequestContext:
    """Return a request with all that its path names, by the names of the parts.

    Raises:
        RequestRefused: there is no such thing, or not for who asks.
    """
    for name, look in _LOOKED_UP.items():
        if name in named:
            context = look(db, context, named[name].replace("\0", ""))
    return context


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
