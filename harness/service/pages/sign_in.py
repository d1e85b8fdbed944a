"""Signing in and out, and the files that pages load."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.service.people import accounts, oidc
from harness.service.people.accounts import Secret
from harness.service.storage import courses, people
from harness.service.web import rendering
from harness.service.web.access import COOKIE, Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import ANYBODY, SIGNED_IN

ROUTES = Routes()
_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}


@ROUTES.at("GET", "/", SIGNED_IN)
def beginning(here: Now) -> Response:
    """Show the courses that somebody is in."""
    with here.service.database.reading() as db:
        found = courses.of_person(db, here.by)
    return rendering.page(here, "courses.html", courses=found)


@ROUTES.at("GET", "/sign-in", ANYBODY)
def sign_in(here: Now) -> Response:
    """Say how somebody signs in."""
    provider = oidc.name_of(here.service.settings)
    return rendering.page(here, "sign_in.html", [("Sign in", "")], provider=provider)


@ROUTES.at("GET", "/enter/{code}", ANYBODY)
def before_entering(here: Now) -> Response:
    """Ask whether to sign in by a link: mail filters, which only look at it, do not use it up."""
    code = here.request.path_params["code"]
    with here.service.database.reading() as db:
        person = people.of_link(db, accounts.digest_of(code))
    if person is None:
        return _explain_ended(here)
    accounts.refuse_shut_out(person)
    return rendering.page(here, "enter.html", [("Sign in", "")], person=person)


def _explain_ended(here: Here) -> Response:
    """Say what somebody does whose link does not hold, and who sends a new one."""
    provider = oidc.name_of(here.service.settings)
    return rendering.page(here, "link_ended.html", [("Sign in", "")], 404, provider=provider)


@ROUTES.at("POST", "/enter/{code}", ANYBODY)
def enter(here: Now) -> Response:
    """Begin a session."""
    with here.service.database.acting() as act:
        entered = accounts.enter_by_link(act, here.request.path_params["code"])
    if entered is None:
        return _explain_ended(here)
    return start_session(here, entered[1])


def start_session(here: Here, session: Secret) -> Response:
    """Let a browser keep a session, and show its courses."""
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE,
        session.text,
        max_age=int(accounts.SESSION),
        httponly=True,
        samesite="lax",
        secure=here.service.settings.is_secure,
    )
    return answer


@ROUTES.at("POST", "/leave", SIGNED_IN)
def leave(here: Now) -> Response:
    """End a session."""
    with here.service.database.changing() as db:
        accounts.leave(db, here.session)
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE)
    return answer


@ROUTES.at("GET", "/static/{name}", ANYBODY)
def static(here: Now) -> Response:
    """Give a file that pages load."""
    found = rendering.files().get(here.request.path_params["name"])
    if found is None:
        raise Refused(404, "there is no such file")
    kind, data = found
    return Response(data, media_type=f"{kind}; charset=utf-8", headers=_FOREVER)


@ROUTES.at("GET", "/health", ANYBODY)
def health(here: Now) -> Response:
    """Say that this process answers."""
    return Response("ok\n", media_type="text/plain")
