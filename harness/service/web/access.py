"""Who may do what: one rule on every route, and one place where it is applied.

A route declares its rule (:class:`Routes`); one without a rule ends the start of the service. What
the path names is looked up here, and must belong together: an assignment to the course, an upload
to the assignment, and to the student who asks. So no route can forget to look.

A user outside a course gets the same answer as for a course that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute
from sqlalchemy import Connection
from starlette.datastructures import FormData

from harness.service.handing_in import ownership
from harness.service.people import entering, secrets
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
    Assigned,
    Comment,
    Course,
    Grading,
    Job,
    Member,
    Person,
    Suite,
    SuiteRun,
    Token,
    Upload,
)
from harness.service.storage import comments_and_overrides, courses, queue, suites, uploads
from harness.service.web.problems import document_problems
from harness.service.web.service import Service

COOKIE = "gtp_harness_session"
FORM_TOKEN = "form_token"
TOKENS = "token"  # how the schema calls what the API knows people by


class Refused(Exception):  # noqa: N818 - an answer rather than an error
    """A request that is not answered as asked; ``status`` as HTTP has it."""

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.headers = headers


class Rule(NamedTuple):
    """Who may use a route."""

    name: str
    roles: frozenset[str] = frozenset()  # in the course of the path; empty if it has no course
    signed_in: bool = True
    admins: bool = False  # administrators only
    right: str = ""  # the right that an assistant needs
    owns: bool = False  # the owner of the suite only
    removes: bool = False  # the comment of the path: its author and teachers only

    def allows(self, here: Here) -> bool:
        """Whether a person with this role in the course or suite of the path may do it."""
        member = here.member
        if self.roles and (member is None or member.role not in self.roles):
            return False
        if self.right and (member is None or not member.has(self.right)):
            return False
        if self.removes and (member is None or not member.may_remove(here.sure_comment())):
            return False
        return here.owns_suite or not self.owns


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


def whoever_may(right: str) -> Rule:
    """Return the rule for teachers, and for assistants who were given one of RIGHTS."""
    return Rule(f"teachers, and assistants who may {RIGHTS[right]}", STAFF, right=right)


class Here(NamedTuple):
    """A request that may be answered: by whom it is, and what it is about."""

    service: Service
    request: Request
    person: Person | None = None
    session: str = ""  # the secret of it; empty: none, or an API token was shown
    token: Token | None = None
    course: Course | None = None
    member: Member | None = None
    assigned: Assigned | None = None
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
        return secrets.form_token(self.session) if self.session else ""

    def field(self, name: str) -> str:
        """Return a field of the form, trimmed; empty if there is none."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def sure_suite(self) -> Suite:
        """Return the suite that a path names; for routes whose rule has looked it up."""
        assert self.suite
        return self.suite

    def sure_comment(self) -> Comment:
        """Return the comment that a path names; for routes whose rule has looked it up."""
        assert self.comment
        return self.comment

    def sure_colleague(self) -> Member:
        """Return the colleague that a path names; for routes whose rule has looked it up."""
        assert self.colleague
        return self.colleague

    def sure_run(self) -> SuiteRun:
        """Return the run that a path names; for routes whose rule has looked it up."""
        assert self.run
        return self.run

    def sure(self) -> Known:
        """Return what a path in an assignment names; for routes whose rule has looked it up."""
        assert self.course and self.member and self.assigned
        return Known(self.course, self.member, self.assigned)


class Known(NamedTuple):
    """What a path in an assignment names."""

    course: Course
    member: Member
    assigned: Assigned


# --- looking up --------------------------------------------------------------------------------

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
    heap = ownership.of(db, known.assigned, known.member.submits_as)
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
    every = comments_and_overrides.comments(db, known.assigned.id, students)
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


# --- the guard ---------------------------------------------------------------------------------


class Form(NamedTuple):
    """The most that a form has, and the page that it is on.

    If the form is not taken, that page is shown again, with what was typed and the reason.
    """

    files: int = 1
    fields: int = 50
    page: Callable[[Here], Response] | None = None


_A_FORM = Form()


class Guard:
    """Applies a rule to a request, before anything of its body is read.

    Pages know people by the cookie of a session; the API by a token alone, so that no other site
    can use it through a browser.
    """

    def __init__(self, rule: Rule, scope: str = "", most: Form = _A_FORM) -> None:
        """``scope``: what an API token must allow; empty: a page."""
        self.rule = rule
        self.scope = scope
        self.most = most

    async def __call__(self, request: Request) -> AsyncIterator[None]:
        here = await run_in_threadpool(self._look_up, request)
        if request.method == "GET":  # or HEAD, which is asked as GET
            request.state.here = here
            yield
            return
        with _count(here):  # until it is answered
            request.state.here = here if self.scope else await self._with_form(here)
            yield

    def _look_up(self, request: Request) -> Here:
        service: Service = request.app.state.service
        with service.database.reading() as db:
            here = self._identify(db, Here(service, request))
            request.state.by = here.by  # for the log, also if the request is refused
            self._check_person(here)
            for name, look in _LOOKED_UP.items():
                if name in request.path_params:
                    text = request.path_params[name]
                    here = look(db, here, text.replace("\0", ""))
        if not self.rule.allows(here):
            raise Refused(403, f"this is for {self.rule.name}")
        return here

    def _identify(self, db: Connection, here: Here) -> Here:
        if self.scope:
            kind, _, text = here.request.headers.get("authorization", "").partition(" ")
            found = entering.by_token(db, text.strip()) if kind.lower() == "bearer" else None
            return here._replace(person=found[0], token=found[1]) if found else here
        session = here.request.cookies.get(COOKIE, "")
        person = entering.by_session(db, session) if session else None
        return here._replace(person=person, session=session) if person else here

    def _check_person(self, here: Here) -> None:
        if self.rule.signed_in and here.person is None:
            wanted = {"www-authenticate": "Bearer"} if self.scope else {}  # RFC 9110, 15.5.2
            raise Refused(401, self._explain_stranger(here), wanted)
        rates = here.service.rates if here.token else here.service.page_rates
        if here.person and (wait := rates.take(here.person.id)):
            raise Refused(429, f"too many requests: wait {wait} s", {"retry-after": str(wait)})
        if here.token and here.token.scope not in (self.scope, "all"):
            raise Refused(403, f"the token's scope is {here.token.scope!r}, not {self.scope!r}")
        if self.rule.admins and not (here.person and here.person.is_admin):
            raise Refused(403, f"this is for {self.rule.name}")

    def _explain_stranger(self, here: Here) -> str:
        """Return what somebody does whom the service does not know."""
        if not self.scope:
            return "sign in first"
        page = f"{here.service.settings.base}/tokens"
        if "authorization" not in here.request.headers:
            return f"no API token was sent: make one on the page {page}"
        return f"this API token is not known, or it has ended: make a new one on the page {page}"

    async def _with_form(self, here: Here) -> Here:
        """Read a form, which must be of a page of ours."""
        _check_origin(here)
        form = await here.request.form(max_files=self.most.files, max_fields=self.most.fields)
        if here.session and form.get(FORM_TOKEN) != here.form_token:
            raise Refused(403, "the page is too old: open it again, and send the form once more")
        return here._replace(form=form)


@contextmanager
def _count(here: Here) -> Iterator[None]:
    """Count a request with a body while it is under way: somebody may have so many at a time."""
    under_way = here.service.under_way
    if not under_way.begin(here.by):
        why = f"{under_way.most} requests of yours are under way: wait until one is answered"
        raise Refused(429, why, {"retry-after": "1"})
    try:
        yield
    finally:
        under_way.end(here.by)


def _check_origin(here: Here) -> None:
    """Refuse what a browser says comes from another site."""
    origin = here.request.headers.get("origin", "")
    site = here.request.headers.get("sec-fetch-site", "same-origin")
    ours = (here.service.settings.base, str(here.request.base_url).rstrip("/"))
    if site not in ("same-origin", "none") or (origin and origin not in ours):
        raise Refused(403, "the form comes from another site")


def _here(request: Request) -> Here:
    here: Here = request.state.here
    return here


Now = Annotated[Here, Depends(_here)]


# --- routes ------------------------------------------------------------------------------------

Endpoint = Callable[..., Any]


class Routes(APIRouter):
    """Routes that say who may use them. ``is_api``: known by tokens, told in the schema."""

    def __init__(self, *, is_api: bool = False, **rest: Any) -> None:
        super().__init__(**rest)
        self._is_api = is_api

    def at(
        self, method: str, path: str, may: Rule, scope: str = "", most: Form = _A_FORM, **rest: Any
    ) -> Callable[[Endpoint], Endpoint]:
        """Return what makes a function the answer to a request.

        ``scope``: of the API alone; ``most``: of pages alone.
        """
        guard = Guard(may, (scope or "read") if self._is_api else "", most)
        options = {"response_model": None, "include_in_schema": self._is_api, **rest}
        if self._is_api:
            options = {**options, **_describe_route(method, path, may, options)}
        return self.api_route(path, methods=[method], dependencies=[Depends(guard)], **options)


def _describe_route(method: str, path: str, may: Rule, options: dict[str, Any]) -> dict[str, Any]:
    """Return what the schema tells of a route: its path, its problems, if it wants a token."""
    text = {"in": "path", "required": True, "schema": {"type": "string"}}
    own = {
        "parameters": [{"name": name, **text} for name in re.findall(r"\{(\w+)", path)],
        "security": [{TOKENS: []}] if may.signed_in else [],
    }
    problems = document_problems(method, signed_in=may.signed_in)
    return {
        "responses": {**problems, **options.get("responses", {})},
        "openapi_extra": {**own, **options.get("openapi_extra", {})},
    }


def guard_of(route: APIRoute) -> Guard | None:
    """Return the guard of a route, or None."""
    found = (one.dependency for one in route.dependencies)
    return next((one for one in found if isinstance(one, Guard)), None)


def require_rules(app: FastAPI) -> None:
    """See that every route has a rule, and that all its path names is looked up.

    Raises:
        RuntimeError: one has none.
    """
    for route in app.routes:
        if not isinstance(route, APIRoute) or (guard := guard_of(route)) is None:
            raise RuntimeError(
                f"the route {getattr(route, 'path', route)} does not say who may use it"
            )
        _check_path(route, guard.rule)


def _check_path(route: APIRoute, rule: Rule) -> None:
    names = set(route.param_convertors)
    if unknown := names - FREE - set(_LOOKED_UP):
        raise RuntimeError(f"{route.path}: nobody looks up {', '.join(sorted(unknown))}")
    if ("course" in names) is not bool(rule.roles) or (rule.owns and "suite" not in names):
        raise RuntimeError(f"{route.path}: the rule {rule.name!r} does not fit its path")
    missing = _before(names) - names
    if missing:
        raise RuntimeError(f"{route.path}: names no {', '.join(sorted(missing))}")


def _before(names: Iterable[str]) -> set[str]:
    """Return the parts that a path must name for the others to be looked up."""
    found: set[str] = set()
    for name in names:
        while name := _WITHIN.get(name, ""):
            found.add(name)
    return found
