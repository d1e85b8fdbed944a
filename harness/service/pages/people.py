"""People: signing in and out, the own account, and the students and staff of a course."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from fastapi.responses import RedirectResponse, Response

from harness.core.errors import UsageError
from harness.core.text import number_of, one_line, read_number
from harness.grading.exports import sheet
from harness.service import monitoring
from harness.service.courses import gradebooks, roster, roster_files, staff
from harness.service.pages import forms
from harness.service.people import accounts, mails, oidc
from harness.service.records import FORMER, ROSTER
from harness.service.storage import courses, people
from harness.service.web import access, rendering
from harness.service.web.access import ANYBODY, SIGNED_IN, STAFF_ONLY, TEACHERS, Context, Routes
from harness.service.web.request_context import RequestContext, RequestRefused, require_found

ROUTES = Routes()
_COURSE = "/courses/{course}"
_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}


@ROUTES.at("GET", "/sign-in", ANYBODY)
def sign_in(context: Context) -> Response:
    provider = oidc.name_of(context.settings)
    return rendering.page(context, "sign_in.html", provider=provider)


@ROUTES.at("GET", "/enter/{code}", ANYBODY)
def before_entering(context: Context) -> Response:
    """Ask whether to sign in by a link: mail filters, which only look at it, do not use it up."""
    with context.reading() as db:
        person = people.of_link(db, accounts.digest_of(context.part("code")))
    if person is None:
        provider = oidc.name_of(context.settings)
        return rendering.page(context, "link_ended.html", 404, provider=provider)
    accounts.require_enabled(person)
    return rendering.page(context, "enter.html", person=person)


@ROUTES.at("POST", "/enter/{code}", ANYBODY)
def enter(context: Context) -> Response:
    with context.service.database.acting() as act:
        entered = accounts.enter_by_link(act, context.part("code"))
    if entered is None:
        provider = oidc.name_of(context.settings)
        return rendering.page(context, "link_ended.html", 404, provider=provider)
    return start_session(context, entered[1])


def start_session(
    context: RequestContext, session: accounts.Secret, path: str = "/courses"
) -> Response:
    """Let a browser keep a session, and show its courses, or another page."""
    answer = RedirectResponse(path, 303)
    _keep_cookie(context, answer, access.COOKIE, session.text, max_age=int(accounts.SESSION))
    return answer


def _keep_cookie(context: Context, answer: Response, name: str, value: str, **how: Any) -> None:
    """Let a browser keep a cookie, which it also sends if another site sends people here."""
    is_secure = context.settings.is_secure
    answer.set_cookie(name, value, httponly=True, samesite="lax", secure=is_secure, **how)


@ROUTES.at("POST", "/leave", SIGNED_IN)
def leave(context: Context) -> Response:
    with context.service.database.changing() as db:
        people.SESSIONS.remove(db, digest=accounts.digest_of(context.session))
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(access.COOKIE)
    return answer


@ROUTES.at("GET", "/static/{name}", ANYBODY)
def static(context: Context) -> Response:
    found = rendering.files().get(context.part("name"))
    kind, data = require_found(found, "there is no such file")
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
    with _asking_provider(context) as provider:
        secret = accounts.new_secret()
        answer = RedirectResponse(provider.begin(secret.text), 303)
    _keep_cookie(context, answer, _COOKIE, secret.text, max_age=_TEN_MINUTES, path="/sign-in")
    return answer


@ROUTES.at("GET", oidc.BACK, ANYBODY)
def come_back_from_provider(context: Context) -> Response:
    """Begin a session of the person that the provider names."""
    query, secret = context.request.query_params, context.request.cookies.get(_COOKIE, "")
    try:
        with _asking_provider(context) as provider:
            claims = provider.finish(secret, query.get("state", ""), query.get("code", ""))
    except oidc.SignInRefusedError as error:
        monitoring.tell(context.settings, "sign-in refused", why=str(error))
        why = f"you are not signed in: {error}. Begin anew on the sign-in page"
        raise RequestRefused(403, why) from None
    answer = _sign_in(context, claims)
    answer.delete_cookie(_COOKIE, path="/sign-in")
    return answer


@contextlib.contextmanager
def _asking_provider(context: RequestContext) -> Iterator[oidc.Provider]:
    """Give the provider, which is not asked by one machine too often; refuse if it is away."""
    why = "this service has no other way to sign in than links"
    provider = require_found(context.service.provider, why)
    context.require_rate(context.service.rates, f"oidc {context.sender}", "sign in")
    try:
        yield provider
    except oidc.ProviderUnavailableError as error:
        monitoring.warn(context.settings, f"sign-in by OIDC: {error}")
        raise RequestRefused(503, f"{error}. Try again later, or sign in by a link") from None


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
    if not ways and (claims.email or claims.settings_claim):
        why = "no course knows the person your provider names: ask your teacher for a link"
        raise RequestRefused(403, why)
    if not ways:
        why = "your provider does not say that your mail address is verified: sign in by a link"
        raise RequestRefused(403, why)
    return rendering.page(context, "who.html", ways=ways)


# --- The account of the person who is signed in: the name that others see, and API tokens --------


@ROUTES.at("GET", "/me", SIGNED_IN)
def show_name(context: Context) -> Response:
    return rendering.page(context, "own_name.html")


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
        context, "tokens.html", tokens=found, secret=secret, scopes=accounts.SCOPES
    )


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
        return forms.ask_again(context, "revoke", "/tokens", token.name)
    with context.acting() as act:
        accounts.revoke_token(act, token.id)
    return RedirectResponse("/tokens", 303)


# --- The students of a course, and its roster ----------------------------------------------------


@ROUTES.at("GET", f"{_COURSE}/students", STAFF_ONLY)
def show(context: Context) -> Response:
    with context.reading() as db:
        students = courses.students(db, context.course.id)
        former = courses.students(db, context.course.id, FORMER)
    return rendering.page(context, "students.html", students=students, former=former)


@ROUTES.at("GET", f"{_COURSE}/students/import", TEACHERS)
def show_import(context: Context) -> Response:
    return rendering.page(context, "roster_import.html")


@ROUTES.at("GET", f"{_COURSE}/students/links", TEACHERS)
def show_links(context: Context) -> Response:
    """Show how students get links to sign in by, and what became of mails with them."""
    with context.reading() as db:
        last = {"kind": ROSTER, "course": context.course.id}
        letters = people.LETTERS.all(db, "address", "id", **last)
        _, without = mails.list_reached(db, context.course.id)
    no_mail = mails.NO_MAIL
    return rendering.page(
        context, "student_links.html", letters=letters, without=without, no_mail=no_mail
    )


@ROUTES.form(f"{_COURSE}/roster", TEACHERS, show_import)
def take_roster(context: Context) -> Response:
    with forms.receive_files(context, expected="a file with the roster") as sent:
        try:
            wanted = roster_files.read(sent.path, sent.name)
        except UsageError as error:  # a page begins with a capital letter, a name may have none
            raise UsageError(f"the roster cannot be used: {error}") from None
        data = gradebooks.read_roster(sent.path)
    with context.acting() as act:
        found = roster.take(act, context.course.id, wanted)
    gradebooks.keep_roster(context.settings, context.course.id, data)
    name = roster_files.show_name(sent.name)
    return rendering.page(context, "roster.html", name=name, found=found)


@ROUTES.form(f"{_COURSE}/students/remove", TEACHERS, show)
def remove(context: Context) -> Response:
    """Remove a student from the course, once it was said that this is wanted."""
    course, place = context.course, f"{context.course_page}/students"
    with context.acting() as act:
        found = roster.find_present(act, course.id, context.field("student"))
        if not forms.is_sure(context):
            name = found.name or found.key
            return forms.ask_again(context, "remove student", place, name, course.title)
        roster.remove(act, course.id, found.key)
    return RedirectResponse(place, 303)


@ROUTES.form(f"{_COURSE}/students/restore", TEACHERS, show)
def restore(context: Context) -> Response:
    with context.acting() as act:
        roster.restore(act, context.course.id, context.field("student"))
    return RedirectResponse(f"{context.course_page}/students", 303)


# --- Links to sign in by: a file with all of them, or mails; a student asks for one --------------


@ROUTES.at("POST", f"{_COURSE}/links", TEACHERS)
def make_links(context: Context) -> Response:
    """Give a CSV of links for all students, once it was said that earlier ones may end.

    It is the only copy there is.
    """
    course, place = context.course, f"{context.course_page}/students"
    with context.acting() as act:
        if not forms.is_sure(context) and roster.have_links(act.db, course.id):
            return forms.ask_again(context, "links", place, course.title)
        links = roster.make_links(act, course.id, context.settings.base)
    rows = [roster.StudentLink._fields, *links]
    return rendering.attachment("links.csv", sheet.table(rows).encode(), "text/csv")


@ROUTES.form("/sign-in/link", ANYBODY, sign_in)
def ask_for_link(context: Context) -> Response:
    """Let a link be sent to an address, if somebody has it: the answer is the same."""
    context.require_rate(context.service.asking, context.sender, "ask for links")
    with context.service.database.changing() as db:
        is_taken = mails.ask(db, context.field("email"))
    if not is_taken:
        raise RequestRefused(429, "too many ask for links: try again in an hour")
    return rendering.page(context, "link_asked.html", is_sent=bool(context.settings.mail))


@ROUTES.at("POST", f"{_COURSE}/links/send", TEACHERS)
def send_links(context: Context) -> Response:
    """Queue letters with links for students who have an address, once it was said to be wanted."""
    with context.acting() as act:
        letters = len(mails.list_reached(act.db, context.course.id)[0])
        if letters and not forms.is_sure(context):
            place = f"{context.course_page}/students"
            told = "" if context.settings.mail else f" {mails.NO_MAIL}"
            names = (context.course.title, number_of(letters, "mail"), told)
            return forms.ask_again(context, "links by mail", place, *names)
        mails.to_roster(act, context.course.id)
    return RedirectResponse(f"{context.course_page}/students/links", 303)


# --- The staff of a course: teachers and assistants are listed, added, changed and removed -------


@ROUTES.at("GET", f"{_COURSE}/staff", STAFF_ONLY)
def show_staff(context: Context) -> Response:
    with context.reading() as db:
        found = staff.list_staff(db, context.course.id)
    return rendering.page(context, "staff.html", staff=found)


@ROUTES.at("GET", f"{_COURSE}/staff/new", TEACHERS)
def show_new(context: Context) -> Response:
    return rendering.page(context, "staff_new.html")


@ROUTES.at("GET", f"{_COURSE}/staff/{{staff}}/change", TEACHERS)
def show_change(context: Context) -> Response:
    return rendering.page(context, "staff_change.html")


@ROUTES.form(f"{_COURSE}/staff", TEACHERS, show_new)
def add_staff(context: Context) -> Response:
    """Add a teacher or an assistant, and show the link to sign in by: its only copy."""
    name, role, email = (context.field(one) for one in ("name", "role", "email"))
    wanted = staff.NewStaff(name, role, _rights(context), email)
    with context.acting() as act:
        made = staff.add(act, context.course.id, wanted)
        link = accounts.make_course_link(act, made.person, context.settings.base)
    return rendering.page(context, "staff_link.html", name=made.name, link=link)


@ROUTES.form(f"{_COURSE}/staff/link", TEACHERS, show_staff)
def link_staff(context: Context) -> Response:
    """Make a new link for a member of the staff, and show its only copy."""
    base, person = context.settings.base, context.field("person")
    with context.acting() as act:
        if not forms.is_sure(context) and people.some_have_links(act.db, [person]):
            found = staff.find_to_link(act, context.course.id, person)
            place = f"{context.course_page}/staff"
            return forms.ask_again(context, "link of staff", place, found.name)
        made, link = staff.make_link(act, context.course.id, person, base)
    return rendering.page(context, "staff_link.html", name=made.name, link=link)


@ROUTES.form(f"{_COURSE}/staff/change", TEACHERS, show_staff)
def change_staff(context: Context) -> Response:
    """Change the role and rights of a member of the staff, or remove the member."""
    course, place, person = context.course, f"{context.course_page}/staff", context.field("person")
    if not context.field("remove"):
        with context.acting() as act:
            staff.change(act, course.id, person, context.field("role"), _rights(context))
        return RedirectResponse(place, 303)
    with context.acting() as act:
        found = staff.find_removable(act, course.id, person)
        if forms.is_sure(context):
            staff.remove(act, course.id, person)
            return RedirectResponse("/courses" if person == context.by else place, 303)
    return forms.ask_again(context, "remove staff", place, found.name, course.title)


def _rights(context: RequestContext) -> tuple[str, ...]:
    return tuple(one for one in context.form.getlist("may") if isinstance(one, str))
