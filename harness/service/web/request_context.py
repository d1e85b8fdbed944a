"""A request that may be answered: by whom it is, what its path names, and who may do it."""

import dataclasses
import http
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.datastructures import FormData

from harness.service import records
from harness.service.courses import submissions
from harness.service.jobs.result_files import folder_of
from harness.service.people import accounts
from harness.service.records import ASSISTANT, ROLES, STAFF, STUDENT
from harness.service.settings import Settings
from harness.service.storage import audit, courses, queue, uploads
from harness.service.web.service import Rates, Service

T = TypeVar("T")


class _Named(Generic[T]):
    """Object that a path names; for routes with that part."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, context: "RequestContext", _: type) -> T:
        found: T = context.named[self._name]
        return found


@dataclasses.dataclass(frozen=True)
class RequestContext:
    """A request that may be answered: by whom it is, and what it is about."""

    service: Service
    request: Request
    person: records.Person | None = None
    session: str = ""  # the secret of it; empty: none, or an API token was shown
    token: records.Token | None = None
    named: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # what the path names
    form: FormData = dataclasses.field(default_factory=FormData)
    why: str = ""  # the form was not taken; its page is shown again, with what was typed

    course = _Named[records.Course]("course")
    member = _Named[records.Member]("member")  # of the course: who asks
    assigned = _Named[records.CourseAssignment]("assigned")
    upload = _Named[records.Upload]("upload")
    grading = _Named[records.Grading]("grading")
    student = _Named[str]("student")  # the key of a student or group
    comment = _Named[records.Comment]("comment")  # for that student or group
    job = _Named[records.Job]("job")  # named by what it is about
    suite = _Named[records.Suite]("suite")
    run = _Named[records.SuiteRun]("run")
    colleague = _Named[records.Member]("colleague")  # a member of the staff

    @property
    def by(self) -> str:
        """Return the ID of the person asking, or "" if not signed in."""
        return self.person.id if self.person else ""

    @property
    def sender(self) -> str:
        """Return the address in the network that the request comes from; "" if not known."""
        client = self.request.client
        return client.host if client else ""

    def require_rate(self, rates: Rates, key: str, what: str) -> None:
        """Count the request, and refuse it if there are too many; ``what``: all of them."""
        if wait := rates.take(key):
            why = f"too many {what}: wait {wait} s"
            raise RequestRefused(429, why, {"retry-after": str(wait)})

    def part(self, name: str) -> str:
        """Return a part of the path that is not looked up."""
        found: str = self.request.path_params[name]
        return found

    @property
    def is_staff(self) -> bool:
        """Whether it is a teacher or an assistant of the course."""
        return "member" in self.named and self.member.role in STAFF

    @property
    def owns_suite(self) -> bool:
        """Whether it is the owner of the suite that the path names."""
        return "suite" in self.named and self.suite.person == self.by

    @property
    def form_token(self) -> str:
        """Return what the forms on a page must carry."""
        return accounts.form_token(self.session) if self.session else ""

    def field(self, name: str) -> str:
        """Return a field of the form, trimmed; empty if there is none."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def is_ticked(self, name: str) -> bool:
        """Whether a box of the form is ticked."""
        return self.field(name) == "yes"

    @property
    def settings(self) -> Settings:
        return self.service.settings

    def reading(self) -> AbstractContextManager[Connection]:
        """Give a transaction that reads."""
        return self.service.database.reading()

    def acting(self) -> AbstractContextManager[audit.AuditedTransaction]:
        """Give a transaction in which the person who asks does something."""
        return self.service.database.acting(self.by)

    @property
    def folder(self) -> Path:
        return self.settings.assignment_folder(self.assigned.id)

    @property
    def course_page(self) -> str:
        return f"/courses/{self.course.id}"

    @property
    def assignment_page(self) -> str:
        return f"{self.course_page}/assignments/{self.assigned.id}"

    @property
    def grading_page(self) -> str:
        return f"{self.assignment_page}/gradings/{self.grading.id}"

    @property
    def grading_folder(self) -> Path:
        """Return where the pages and sheets of the grading are."""
        return folder_of(self.folder, self.grading.id)

    @property
    def suite_page(self) -> str:
        return f"/suites/{self.suite.id}"

    @property
    def suite_folder(self) -> Path:
        return self.settings.suite(self.suite.id)


# --- What a path names ---------------------------------------------------------------------------
# It is looked up, and must belong together: an assignment to the course, an upload to the
# assignment, and to the student who asks. So no route can forget to look. A user outside a course
# gets the same answer as for a course that does not exist.

_Found = dict[str, object] | None  # what is named, by the names of RequestContext
_Look = Callable[[Connection, RequestContext, str], _Found]


class _Part(NamedTuple):
    """A part of a path that is looked up."""

    noun: str  # what there may be none of
    look: _Look
    within: str = ""  # what must be named before it


def _under(name: str, value: object) -> _Found:
    return {name: value} if value else None


def _course(db: Connection, context: RequestContext, name: str) -> _Found:
    found = courses.COURSES.find(db, id=name)
    member = courses.MEMBERS.find(db, course=name, person=context.by, role=[*ROLES])
    return {"course": found, "member": member} if found and member else None


def _member(name: str, column: str, *roles: str) -> _Look:
    """Return what looks up somebody in the course with one of these roles, for its staff."""

    def look(db: Connection, context: RequestContext, value: str) -> _Found:
        named = {"course": context.course.id, column: value, "role": [*roles]}
        found = courses.MEMBERS.find(db, **named) if context.is_staff else None
        return _under(name, found and (found.key if name == "student" else found))

    return look


def _assignment(db: Connection, context: RequestContext, name: str) -> _Found:
    found = courses.ASSIGNMENTS.find(db, id=name, course=context.course.id)
    return _under("assigned", found and (context.is_staff or not found.hidden) and found)


def _upload(db: Connection, context: RequestContext, name: str) -> _Found:
    found = uploads.UPLOADS.find(db, id=name, assignment=context.assigned.id)
    is_seen = found and (context.is_staff or found in own_uploads(db, context))
    return _under("upload", is_seen and found)


def own_uploads(db: Connection, context: RequestContext) -> list[records.Upload]:
    """Return what the student who asks may see of the submissions, the last one last."""
    history = submissions.history_of(db, context.assigned, context.member.submits_as)
    return history.seen_by(context.member.key)


def _grading(db: Connection, context: RequestContext, name: str) -> _Found:
    found = uploads.GRADINGS.find(db, id=name, assignment=context.assigned.id)
    return _under("grading", context.is_staff and found)


def _student(db: Connection, context: RequestContext, name: str) -> _Found:
    is_there = context.is_staff and courses.submitting_as(db, context.course.id, name)
    return {"student": name} if is_there else None


def _comment(db: Connection, context: RequestContext, name: str) -> _Found:
    students = courses.students_of(db, context.course.id, context.student)
    every = uploads.comments(db, context.assigned.id, students)
    return _under("comment", next((one for one in every if one.id == name), None))


def _job(kind: str) -> _Look:
    """Return what looks up a job of a kind, by what it is about."""

    def look(db: Connection, context: RequestContext, name: str) -> _Found:
        found = queue.JOBS.find(db, kind=kind, about=name, assignment=context.assigned.id)
        return _under("job", context.is_staff and found)

    return look


def _suite(db: Connection, context: RequestContext, name: str) -> _Found:
    found = courses.SUITES.find(db, id=name)
    return _under("suite", found and (found.is_open or found.person == context.by) and found)


def _run(db: Connection, context: RequestContext, name: str) -> _Found:
    return _under("run", courses.RUNS.find(db, id=name, suite=context.suite.id))


# By the names of the parts of a path, in this order.
_PARTS = {
    "course": _Part("course", _course),
    "assistant": _Part("assistant", _member("colleague", "person", ASSISTANT), "course"),
    "staff": _Part("teacher or assistant", _member("colleague", "person", *STAFF), "course"),
    "member": _Part("student", _member("student", "key", STUDENT), "course"),
    "former": _Part("student", _member("student", "key", records.FORMER), "course"),
    "assignment": _Part("assignment", _assignment, "course"),
    "upload": _Part("submission", _upload, "assignment"),
    "grading": _Part("grading", _grading, "assignment"),
    "student": _Part("student", _student, "assignment"),
    "comment": _Part("comment", _comment, "student"),
    "draft": _Part("draft", _job(records.DRAFT), "assignment"),
    "preview": _Part("preview", _job(records.PREVIEW), "assignment"),
    "suite": _Part("suite", _suite),
    "run": _Part("run", _run, "suite"),
}
FREE = frozenset({"code", "name", "token", "badge"})  # parts that nobody needs to look up


def look_up(db: Connection, context: RequestContext, named: Mapping[str, str]) -> RequestContext:
    """Return a request with all that its path names; refuses what is not, or not for who asks."""
    for name, part in _PARTS.items():
        if name in named:
            found = part.look(db, context, named[name].replace("\0", ""))
            if found is None:
                raise RequestRefused(404, f"there is no such {part.noun}")
            context = dataclasses.replace(context, named={**context.named, **found})
    return context


def explain_names(names: set[str]) -> str:
    """Return what is wrong with the names of the parts of a path, or "".

    Each is looked up, or need not be; some are looked up within others, which must be there, too.
    """
    if unknown := names - FREE - {*_PARTS}:
        return f"nobody looks up {', '.join(sorted(unknown))}"
    missing = {_PARTS[name].within for name in names & {*_PARTS}} - names - {""}
    return f"names no {', '.join(sorted(missing))}" if missing else ""


# --- Problems (RFC 9457): what the API answers instead of what was asked for ---------------------

MEDIA_TYPE = "application/problem+json"
# What any request may be answered with; 422: something in it cannot be read or cannot be done.
_ANY = (422, 429, 500, 503)
_SIGNED_IN = (401, 403, 404)
_CHANGING = (409, 413)


class RequestRefused(Exception):  # noqa: N818 - an answer rather than an error
    """A request that is not answered as asked; ``status`` as HTTP has it."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.why = reason
        self.headers = headers


def require_found(found: T | None, why: str, status: int = 404) -> T:
    """Return what was looked for; refuse the request if there is none."""
    if found is None:
        raise RequestRefused(status, why)
    return found


class Problem(BaseModel):
    """Why a request is not answered as asked."""

    title: str
    status: int
    detail: str


# Made once: each route of the API has it for each status.
_SCHEMA = Problem.model_json_schema()


def respond(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a problem as an answer."""
    told = Problem(title=http.HTTPStatus(status).phrase, status=status, detail=reason)
    return JSONResponse(told.model_dump(), status, dict(headers or {}), media_type=MEDIA_TYPE)


def document_problems(method: str, *, signed_in: bool) -> dict[int | str, dict[str, Any]]:
    """Return the problems that a route of the API may answer with, for the schema."""
    statuses = _ANY + (_SIGNED_IN if signed_in else (404,))
    statuses += _CHANGING if method != "GET" else ()
    return {
        status: {
            "description": http.HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
        }
        for status in sorted(statuses)
    }
