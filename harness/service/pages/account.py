"""Signing in and out, by a link or an OpenID provider; the own name; API tokens; static files."""

from __future__ import annotations

import json

from fastapi.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.escaping import one_line
from harness.service import monitoring
from harness.service.pages import forms
from harness.service.pages.forms import SecondQuestion
from harness.service.people import accounts, oidc
from harness.service.people.accounts import Secret
from harness.service.people.oidc import AwayError, Claims, Provider, RefusedError
from harness.service.records import Person, Token
from harness.service.storage import courses, people
from harness.service.storage.audit import Act
from harness.service.web import rendering
from harness.service.web.access import COOKIE, Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import ANYBODY, SIGNED_IN, Here
from harness.text import read_number

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


# --- The account of the person who is signed in: the name that others see, and API tokens --------


@ROUTES.at("GET", "/me", SIGNED_IN)
def show_name(here: Now) -> Response:
    """Show the name, and a form to change it."""
    return rendering.page(here, "own_name.html", [("Your name", "")])


@ROUTES.at("POST", "/me", SIGNED_IN, most=Form(page=show_name))
def rename(here: Now) -> Response:
    """Change the name."""
    assert here.person
    with here.service.database.acting(here.by) as act:
        accounts.rename(act, here.person, here.field("name"))
    return RedirectResponse("/me", 303)


# --- The API tokens of the person who is signed in: made, shown once, revoked --------------------

_LONGEST = 20  # characters of a number that are shown


@ROUTES.at("GET", "/tokens", SIGNED_IN)
def show_tokens(here: Now) -> Response:
    """Show the person's tokens, never their secrets."""
    return _page(here)


def _page(here: Here, secret: str = "") -> Response:
    with here.service.database.reading() as db:
        found = people.TOKENS.all(db, "made", "id", person=here.by)
    crumbs = [("API tokens", "")]
    scopes = accounts.SCOPES
    return rendering.page(here, "tokens.html", crumbs, tokens=found, secret=secret, scopes=scopes)


@ROUTES.at("POST", "/tokens", SIGNED_IN, most=Form(page=show_tokens))
def make_token(here: Now) -> Response:
    """Make a token; its secret is on this answer and nowhere else."""
    name, scope, typed = (here.field(one) for one in ("name", "scope", "days"))
    if (days := read_number(typed)) is None:
        found = one_line(typed, _LONGEST)
        raise UsageError(f"days: found {found!r}, expected 1 to {accounts.LONGEST_TOKEN}")
    with here.service.database.acting(here.by) as act:
        _, secret = accounts.make_token(act, name, scope, days)
    return _page(here, secret.text)


@ROUTES.at("POST", "/tokens/{token}/revoke", SIGNED_IN)
def revoke_token(here: Now) -> Response:
    """Let a token hold no longer, once it was said that this is wanted."""
    token = _sure_token(here)
    if not forms.is_sure(here):
        return _ask_to_revoke(here, token.name)
    with here.service.database.acting(here.by) as act:
        accounts.revoke_token(act, token.id)
    return RedirectResponse("/tokens", 303)


def _sure_token(here: Here) -> Token:
    """Return the token that is asked for, if it is of the person who asks."""
    token = here.request.path_params["token"]
    with here.service.database.reading() as db:
        found = people.TOKENS.find(db, id=token, person=here.by) if token.isalnum() else None
    if found is None:
        raise Refused(404, "there is no such token")
    return found


def _ask_to_revoke(here: Here, name: str) -> Response:
    question = SecondQuestion(
        f"Revoke {name}?",
        "Programs that use this token are refused from then on, and this cannot be undone. You can"
        " make a new token and give it to them.",
        f"Yes, revoke {name}",
        "/tokens",
    )
    trail = [("API tokens", "/tokens"), (f"Revoke {name}", "")]
    return forms.ask_again(here, trail, question)
