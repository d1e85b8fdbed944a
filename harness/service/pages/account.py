"""Signing in and out, by a link or an OpenID provider; the own name; API tokens; static files."""

import json

from fastapi.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.service import monitoring
from harness.service.pages import forms
from harness.service.people import accounts, oidc
from harness.service.storage import courses, people
from harness.service.web import rendering
from harness.service.web.access import ANYBODY, COOKIE, SIGNED_IN, Context, Routes
from harness.service.web.request_context import RequestContext, RequestRefused, require_found
from harness.text import one_line, read_number

ROUTES = Routes()
_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}


@ROUTES.at("GET", "/", SIGNED_IN)
def enter_site(context: Context) -> Response:
    return RedirectResponse("/courses", 303)


@ROUTES.at("GET", "/courses", SIGNED_IN)
def beginning(context: Context) -> Response:
    with context.reading() as db:
        found = courses.of_person(db, context.by)
    return rendering.page(context, "courses.html", courses=found)


@ROUTES.at("GET", "/sign-in", ANYBODY)
def sign_in(context: Context) -> Response:
    provider = oidc.name_of(context.settings)
    return rendering.page(context, "sign_in.html", [("Sign in", "")], provider=provider)


@ROUTES.at("GET", "/enter/{code}", ANYBODY)
def before_entering(context: Context) -> Response:
    """Ask whether to sign in by a link: mail filters, which only look at it, do not use it up."""
    with context.reading() as db:
        person = people.of_link(db, accounts.digest_of(context.part("code")))
    if person is None:
        return _explain_ended(context)
    accounts.require_enabled(person)
    return rendering.page(context, "enter.html", [("Sign in", "")], person=person)


def _explain_ended(context: RequestContext) -> Response:
    """Say what somebody does whose link does not hold, and who sends a new one."""
    provider = oidc.name_of(context.settings)
    return rendering.page(context, "link_ended.html", [("Sign in", "")], 404, provider=provider)


@ROUTES.at("POST", "/enter/{code}", ANYBODY)
def enter(context: Context) -> Response:
    with context.service.database.acting() as act:
        entered = accounts.enter_by_link(act, context.part("code"))
    if entered is None:
        return _explain_ended(context)
    return start_session(context, entered[1])


def start_session(
    context: RequestContext, session: accounts.Secret, path: str = "/courses"
) -> Response:
    """Let a browser keep a session, and show its courses, or another page."""
    answer = RedirectResponse(path, 303)
    answer.set_cookie(
        COOKIE,
        session.text,
        max_age=int(accounts.SESSION),
        httponly=True,
        samesite="lax",
        secure=context.settings.is_secure,
    )
    return answer


@ROUTES.at("POST", "/leave", SIGNED_IN)
def leave(context: Context) -> Response:
    with context.service.database.changing() as db:
        people.SESSIONS.remove(db, digest=accounts.digest_of(context.session))
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE)
    return answer


@ROUTES.at("GET", "/static/{name}", ANYBODY)
def static(context: Context) -> Response:
    kind, data = require_found(
        rendering.files().get(context.part("name")), "there is no such file"
    )
    return Response(data, media_type=f"{kind}; charset=utf-8", headers=_FOREVER)


@ROUTES.at("GET", "/health", ANYBODY)
def health(context: Context) -> Response:
    """Say that this process answers."""
    return Response("ok\n", media_type="text/plain")


# --- Signing in by an OpenID provider ------------------------------------------------------------

_COOKIE = "gtp_harness_oidc"
_TEN_MINUTES = 600
_CHOICE = 300.0  # seconds to choose who of several one is


@ROUTES.at("GET", "/sign-in/oidc", ANYBODY)
def begin_at_provider(context: Context) -> Response:
    """Send somebody to the provider."""
    provider, secret = _provider(context), accounts.new_secret()
    try:
        answer = RedirectResponse(provider.begin(secret.text), 303)
    except oidc.ProviderUnavailableError as error:
        raise _away(context, error) from None
    answer.set_cookie(
        _COOKIE,
        secret.text,
        max_age=_TEN_MINUTES,
        path="/sign-in",
        httponly=True,
        samesite="lax",  # the provider sends people back from another site
        secure=context.settings.is_secure,
    )
    return answer


@ROUTES.at("GET", oidc.BACK, ANYBODY)
def come_back_from_provider(context: Context) -> Response:
    """Begin a session of the person that the provider names."""
    provider, query = _provider(context), context.request.query_params
    secret = context.request.cookies.get(_COOKIE, "")
    try:
        claims = provider.finish(secret, query.get("state", ""), query.get("code", ""))
    except oidc.ProviderUnavailableError as error:
        raise _away(context, error) from None
    except oidc.SignInRefusedError as error:
        monitoring.tell(context.settings, "sign-in refused", why=str(error))
        raise RequestRefused(
            403, f"you are not signed in: {error}. Begin anew on the sign-in page"
        ) from None
    answer = _sign_in(context, claims)
    answer.delete_cookie(_COOKIE, path="/sign-in")
    return answer


def _provider(context: RequestContext) -> oidc.Provider:
    """Return the provider, which is not asked by one machine too often."""
    why = "this service has no other way to sign in than links"
    provider = require_found(context.service.provider, why)
    context.require_rate(context.service.rates, f"oidc {context.sender}", "sign in")
    return provider


def _away(context: RequestContext, error: oidc.ProviderUnavailableError) -> RequestRefused:
    monitoring.warn(context.settings, f"sign-in by OIDC: {error}")
    return RequestRefused(503, f"{error}. Try again later, or sign in by a link")


def _sign_in(context: RequestContext, claims: oidc.Claims) -> Response:
    """Sign in the person of these claims; if several match (one in each course), ask which."""
    settings, ways = context.settings, []
    with context.service.database.acting() as act:
        if settings.oidc_claim != oidc.EMAIL:
            pair = settings.oidc_claim.casefold(), claims.settings_claim
            found = people.by_id(act.db, json.dumps(pair)) if claims.settings_claim else []
        else:
            found = people.by_email(act.db, claims.email)
            if not found and claims.email and settings.oidc_add:
                found = [accounts.add_person(act, claims.name or claims.email, claims.email)]
        if len(found) == 1:
            session = accounts.begin_session(act, found[0], oidc=claims.subject)
            return start_session(context, session)
        for one in found:
            titles = [course.title for course, _ in courses.of_person(act.db, one.id)]
            ways.append((one, titles, accounts.make_link(act, one.id, _CHOICE, once=True).text))
    if not ways:
        raise RequestRefused(
            403, _UNKNOWN if claims.email or claims.settings_claim else _UNVERIFIED
        )
    return rendering.page(context, "who.html", [("Sign in", "")], ways=ways)


_UNKNOWN = "no course knows the person your provider names: ask your teacher for a link"
_UNVERIFIED = "your provider does not say that your mail address is verified: sign in by a link"


# --- The account of the person who is signed in: the name that others see, and API tokens --------


@ROUTES.at("GET", "/me", SIGNED_IN)
def show_name(context: Context) -> Response:
    return rendering.page(context, "own_name.html", [("Your name", "")])


@ROUTES.form("/me", SIGNED_IN, show_name)
def rename(context: Context) -> Response:
    assert context.person
    with context.acting() as act:
        accounts.rename(act, context.person, context.field("name"))
    return RedirectResponse("/me", 303)


@ROUTES.at("GET", "/tokens", SIGNED_IN)
def show_tokens(context: Context) -> Response:
    """Show the person's tokens, never their secrets."""
    return _page(context)


def _page(context: RequestContext, secret: str = "") -> Response:
    with context.reading() as db:
        found = people.TOKENS.all(db, "made", "id", person=context.by)
    return rendering.page(
        context, "tokens.html", [("API tokens", "")],
        tokens=found, secret=secret, scopes=accounts.SCOPES,
    )  # fmt: skip


@ROUTES.form("/tokens", SIGNED_IN, show_tokens)
def make_token(context: Context) -> Response:
    """Make a token; its secret is on this answer and nowhere else."""
    name, scope, typed = (context.field(one) for one in ("name", "scope", "days"))
    if (days := read_number(typed)) is None:
        found = one_line(typed, 20)  # characters of a number that are shown
        raise UsageError(f"days: found {found!r}, expected 1 to {accounts.LONGEST_TOKEN}")
    with context.acting() as act:
        _, secret = accounts.make_token(act, name, scope, days)
    return _page(context, secret.text)


@ROUTES.at("POST", "/tokens/{token}/revoke", SIGNED_IN)
def revoke_token(context: Context) -> Response:
    """Let a token hold no longer, once it was said that this is wanted."""
    name = context.part("token")
    with context.reading() as db:
        token = people.TOKENS.find(db, id=name, person=context.by) if name.isalnum() else None
    token = require_found(token, "there is no such token")
    if not forms.is_sure(context):
        question = forms.SecondQuestion(
            f"Revoke {token.name}?",
            "Programs that use this token are refused from then on, and this cannot be undone."
            " You can make a new token and give it to them.",
            f"Yes, revoke {token.name}",
            "/tokens",
        )
        trail = [("API tokens", "/tokens"), (f"Revoke {token.name}", "")]
        return forms.ask_again(context, trail, question)
    with context.acting() as act:
        accounts.revoke_token(act, token.id)
    return RedirectResponse("/tokens", 303)
