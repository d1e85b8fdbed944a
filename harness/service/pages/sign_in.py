"""Signing in and out, by a link or an OpenID provider, and the files that pages load."""

from __future__ import annotations

import json

from fastapi.responses import RedirectResponse, Response

from harness.service import monitoring
from harness.service.people import accounts, oidc
from harness.service.people.accounts import Secret
from harness.service.people.oidc import AwayError, Claims, Provider, RefusedError
from harness.service.records import Person
from harness.service.storage import courses, people
from harness.service.storage.audit import Act
from harness.service.web import rendering
from harness.service.web.access import COOKIE, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import ANYBODY, SIGNED_IN, Here

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


# --- Signing in by an OpenID provider ------------------------------------------------------------

_COOKIE = "gtp_harness_oidc"
_TEN_MINUTES = 600
_CHOICE = 300.0  # seconds to choose who of several one is


@ROUTES.at("GET", "/sign-in/oidc", ANYBODY)
def begin_at_provider(here: Now) -> Response:
    """Send somebody to the provider."""
    provider, secret = _provider(here), accounts.new_secret()
    try:
        answer = RedirectResponse(provider.begin(secret.text), 303)
    except AwayError as error:
        raise _away(here, error) from None
    answer.set_cookie(
        _COOKIE,
        secret.text,
        max_age=_TEN_MINUTES,
        path="/sign-in",
        httponly=True,
        samesite="lax",  # the provider sends people back from another site
        secure=here.service.settings.is_secure,
    )
    return answer


@ROUTES.at("GET", oidc.BACK, ANYBODY)
def come_back_from_provider(here: Now) -> Response:
    """Begin a session of the person that the provider names."""
    provider, query = _provider(here), here.request.query_params
    secret = here.request.cookies.get(_COOKIE, "")
    try:
        claims = provider.finish(secret, query.get("state", ""), query.get("code", ""))
    except AwayError as error:
        raise _away(here, error) from None
    except RefusedError as error:
        monitoring.tell(here.service.settings, "sign-in refused", why=str(error))
        raise Refused(
            403, f"you are not signed in: {error}. Begin anew on the sign-in page"
        ) from None
    answer = _sign_in(here, claims)
    answer.delete_cookie(_COOKIE, path="/sign-in")
    return answer


def _provider(here: Here) -> Provider:
    """Return the provider, which is not asked by one machine too often."""
    if here.service.provider is None:
        raise Refused(404, "this service has no other way to sign in than links")
    client = here.request.client
    if wait := here.service.rates.take(f"oidc {client.host if client else ''}"):
        raise Refused(429, f"too many sign in: wait {wait} s", {"retry-after": str(wait)})
    return here.service.provider


def _away(here: Here, error: AwayError) -> Refused:
    monitoring.warn(here.service.settings, f"sign-in by OIDC: {error}")
    return Refused(503, f"{error}. Try again later, or sign in by a link")


def _sign_in(here: Here, claims: Claims) -> Response:
    """Sign in the person of these claims; if several match (one in each course), ask which."""
    with here.service.database.acting() as act:
        found = _people(here, act, claims)
        if len(found) == 1:
            return start_session(here, accounts.begin_session(act, found[0], oidc=claims.subject))
        ways = [(one, *_way(act, one)) for one in found]
    if not ways:
        raise Refused(403, _UNKNOWN if claims.email or claims.own else _UNVERIFIED)
    return rendering.page(here, "who.html", [("Sign in", "")], ways=ways)


def _way(act: Act, person: Person) -> tuple[list[str], str]:
    """Return the courses of somebody, and a link for now."""
    titles = [course.title for course, _ in courses.of_person(act.db, person.id)]
    return titles, accounts.make_link(act, person.id, _CHOICE, once=True).text


_UNKNOWN = "no course knows the person your provider names: ask your teacher for a link"
_UNVERIFIED = "your provider does not say that your mail address is verified: sign in by a link"


def _people(here: Here, act: Act, claims: Claims) -> list[Person]:
    settings = here.service.settings
    if settings.oidc_claim != oidc.EMAIL:
        pair = settings.oidc_claim.casefold(), claims.own
        return people.by_id(act.db, json.dumps(pair)) if claims.own else []
    found = people.by_email(act.db, claims.email)
    if not found and claims.email and settings.oidc_add:
        return [accounts.add_person(act, claims.name or claims.email, claims.email)]
    return found
