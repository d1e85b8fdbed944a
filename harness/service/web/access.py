"""Access rules: one on every route, and one place where it is applied.

A route declares its rule (:class:`Routes`); one without a rule ends the start of the service. What
its path names is looked up before it is answered (:mod:`harness.service.web.request_context`).
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute
from sqlalchemy import Connection

from harness.service.people import accounts
from harness.service.records import COMMENT, RIGHTS, ROLES, STAFF, STUDENT, TEACHER, Member
from harness.service.storage import people
from harness.service.web import request_context
from harness.service.web.request_context import RequestContext, RequestRefused
from harness.service.web.service import Service

COOKIE = "gtp_harness_session"
FRAME_COOKIE = "gtp_harness_frame"  # of a session in a frame of a platform's page
FORM_TOKEN = "form_token"


class Rule(NamedTuple):
    """Rule of a route."""

    name: str
    roles: frozenset[str] = frozenset()  # in the course of the path; empty if it has no course
    signed_in: bool = True
    admins: bool = False  # administrators only
    right: str = ""  # the right that an assistant needs
    owns: bool = False  # the owner of the suite only
    removes: bool = False  # the comment of the path: its author and teachers only

    def allows(self, context: RequestContext) -> bool:
        """Whether a person with this role in the course or suite of the path may do it."""
        member: Member | None = context.named.get("member")
        if self.roles and (member is None or member.role not in self.roles):
            return False
        if self.right and (member is None or not member.has(self.right)):
            return False
        if self.removes and (member is None or not member.may_remove(context.comment)):
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


Page = Callable[[RequestContext], Response]


class Form(NamedTuple):
    """The most that a form has, and the page that it is on.

    If the form is not taken, that page is shown again, with what was typed and the reason.
    """

    files: int = 1
    fields: int = 50
    page: Page | None = None
    is_foreign: bool = False  # it may be on a page of another site; what it says is signed
    needs_token: bool = True  # of the session; else a secret in its address stands for it


_A_FORM = Form()


@dataclass(frozen=True, eq=False)
class Guard:
    """Applies a rule to a request, before anything of its body is read.

    Pages know people by the cookie of a session; the API by a token alone, so that no other site
    can use it through a browser.
    """

    rule: Rule
    scope: str = ""  # what an API token must allow; empty: a page
    most: Form = _A_FORM

    async def __call__(self, request: Request) -> AsyncIterator[None]:
        context = await run_in_threadpool(self._look_up, request)
        if request.method == "GET":  # or HEAD, which is asked as GET
            request.state.context = context
            yield
            return
        under_way = context.service.under_way  # what has a body: so many at a time of one person
        if not under_way.begin(context.by):
            why = f"{under_way.most} requests of yours are under way: wait until one is answered"
            raise RequestRefused(429, why, {"retry-after": "1"})
        try:
            request.state.context = context if self.scope else await self._with_form(context)
            yield
        finally:
            under_way.end(context.by)

    def _look_up(self, request: Request) -> RequestContext:
        service: Service = request.app.state.service
        with service.database.reading() as db:
            context = self.identify(db, RequestContext(service, request))
            request.state.by = context.by  # for the log, also if the request is refused
            if self.rule.signed_in and context.person is None:
                if not self.scope:
                    raise RequestRefused(401, "sign in first")
                why = "no API token was sent: make one"
                if "authorization" in request.headers:
                    why = "this API token is unknown or has expired: make a new one"
                why = f"{why} on the page {context.settings.base}/tokens"
                raise RequestRefused(401, why, {"www-authenticate": "Bearer"})  # RFC 9110, 15.5.2
            if context.person:
                rates = service.rates if context.token else service.page_rates
                context.require_rate(rates, context.person.id, "requests")
            if context.token and context.token.scope not in (self.scope, "all"):
                why = f"the token's scope is {context.token.scope!r}, not {self.scope!r}"
                raise RequestRefused(403, why)
            if self.rule.admins and not (context.person and context.person.is_admin):
                raise RequestRefused(403, f"this is for {self.rule.name}")
            return self.look_up_named(db, context)

    def look_up_named(self, db: Connection, context: RequestContext) -> RequestContext:
        """Return a request with all that its path names, if the rule allows it."""
        found = request_context.look_up(db, context, context.request.path_params)
        if not self.rule.allows(found):
            raise RequestRefused(403, f"this is for {self.rule.name}")
        return found

    def identify(self, db: Connection, context: RequestContext) -> RequestContext:
        """Return a request with the person whom its cookie or its token is of."""
        if self.scope:
            kind, _, text = context.request.headers.get("authorization", "").partition(" ")
            found = accounts.by_token(db, text.strip()) if kind.lower() == "bearer" else None
            return replace(context, person=found[0], token=found[1]) if found else context
        cookies = context.request.cookies
        session = cookies.get(COOKIE) or cookies.get(FRAME_COOKIE, "")
        digest = accounts.digest_of(session)
        person = people.of_session(db, digest) if session else None
        if person and COOKIE not in cookies:
            context.request.state.frame = people.find_frame(db, digest)
        return replace(context, person=person, session=session) if person else context

    async def _with_form(self, context: RequestContext) -> RequestContext:
        """Read a form, which must be of a page of ours."""
        request, most = context.request, self.most
        if not most.is_foreign:  # then a browser must not say that it comes from another site
            origin = request.headers.get("origin", "")
            site = request.headers.get("sec-fetch-site", "same-origin")
            ours = (context.settings.base, str(request.base_url).rstrip("/"))
            if site not in ("same-origin", "none") or (origin and origin not in ours):
                raise RequestRefused(403, "the form comes from another site")
        form = await request.form(max_files=most.files, max_fields=most.fields)
        if most.needs_token and context.session and form.get(FORM_TOKEN) != context.form_token:
            why = "the page is too old: open it again, and send the form once more"
            raise RequestRefused(403, why)
        return replace(context, form=form)


def _context_of(request: Request) -> RequestContext:
    context: RequestContext = request.state.context
    return context


Context = Annotated[RequestContext, Depends(_context_of)]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class Routes(APIRouter):
    """Routes that say who may use them."""

    def at(
        self, method: str, path: str, may: Rule, most: Form = _A_FORM
    ) -> Callable[[Endpoint], Endpoint]:
        """Return what makes a function the answer to a request of a page."""
        options: dict[str, Any] = {"response_model": None, "include_in_schema": False}
        guards = [Depends(Guard(may, most=most))]
        return self.api_route(path, methods=[method], dependencies=guards, **options)

    def form(
        self, path: str, may: Rule, page: Page | None = None, **most: Any
    ) -> Callable[[Endpoint], Endpoint]:
        """Return what makes a function the answer to a form; ``most``: see :class:`Form`."""
        return self.at("POST", path, may, Form(page=page, **most))


def guard_of(route: APIRoute) -> Guard | None:
    """Return the guard of a route, or None."""
    found = (one.dependency for one in route.dependencies)
    return next((one for one in found if isinstance(one, Guard)), None)


def is_still_allowed(context: RequestContext) -> bool:
    """Whether the same person may still do it; for an answer that takes long."""
    guard = guard_of(context.request.scope["route"])
    assert guard is not None  # see require_rules
    try:
        with context.reading() as db:
            now = guard.identify(db, RequestContext(context.service, context.request))
            return now.by == context.by and bool(guard.look_up_named(db, now))
    except RequestRefused:
        return False


def require_rules(app: FastAPI) -> None:
    """See that every route has a rule, and that all its path names is looked up."""
    for route in app.routes:
        if not isinstance(route, APIRoute) or (guard := guard_of(route)) is None:
            why = f"the route {getattr(route, 'path', route)} does not say who may use it"
            raise RuntimeError(why)
        rule, names = guard.rule, set(route.param_convertors)
        if wrong := request_context.explain_names(names):
            raise RuntimeError(f"{route.path}: {wrong}")
        if ("course" in names) is not bool(rule.roles) or (rule.owns and "suite" not in names):
            raise RuntimeError(f"{route.path}: the rule {rule.name!r} does not fit its path")
