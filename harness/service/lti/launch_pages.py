"""From a platform's page to a page of ours: the login, the launch, and the session that it begins.

A browser that refuses cookies in a frame shows by the platform's storage that the same browser
began the login; else the page opens in a window of its own.
"""

from __future__ import annotations

import re
import secrets
import time
from hmac import compare_digest
from typing import Any
from urllib.parse import urlencode

from fastapi.responses import JSONResponse, RedirectResponse, Response

from harness.errors import UsageError
from harness.service import monitoring
from harness.service.lti import connection, members, messages, platforms
from harness.service.lti.connection import PlatformClient, PlatformError
from harness.service.lti.messages import DEEP_LINKING, Launch, LaunchRefusedError
from harness.service.lti.platforms import KEYS, LAUNCH, LOGIN, PLATFORMS, CourseLink, Platform
from harness.service.pages.account import start_session
from harness.service.people import accounts
from harness.service.people.accounts import Secret
from harness.service.records import STUDENT, TEACHER
from harness.service.storage import courses, people, scores
from harness.service.storage.audit import AuditedTransaction
from harness.service.web import rendering
from harness.service.web.access import ANYBODY, FRAME_COOKIE, Context, Form, Routes
from harness.service.web.request_context import RequestContext, RequestRefused

ROUTES = Routes()
_FOREIGN = Form(files=0, fields=20, is_foreign=True, needs_token=False)
_COOKIE = "gtp_harness_lti"  # tells that a launch comes from the browser that began the login
_DAY = 86400
_LOGIN, _WAIT, _LINK = 600.0, 120.0, 1800.0  # seconds that a step of the launch may take
_LONGEST = 8000  # characters of what a login says
_TOLD = ("iss", "login_hint", "target_link_uri", "client_id", "lti_message_hint")
_ASSIGNMENT = re.compile(r"/courses/([0-9a-f]+)(?:/assignments/([0-9a-f]+))?(?:[/?].*)?")
_AGAIN = "open the page in your course again"


@ROUTES.at("GET", KEYS, ANYBODY)
def show_keys(context: Context) -> Response:
    """Give the public keys of this service."""
    return JSONResponse(platforms.publish_keys(context.service.settings))


# --- the login ---------------------------------------------------------------------------------


@ROUTES.at("GET", LOGIN, ANYBODY)
def begin_login(context: Context) -> Response:
    """Send a browser to the platform, to say who its user is."""
    return _begin_login(context, dict(context.request.query_params))


@ROUTES.at("POST", LOGIN, ANYBODY, most=_FOREIGN)
def begin_login_by_form(context: Context) -> Response:
    """Do the same for a platform that sends a form."""
    found = {name: value for name, value in context.form.items() if isinstance(value, str)}
    return _begin_login(context, {**dict(context.request.query_params), **found})


def _begin_login(context: RequestContext, told: dict[str, str]) -> Response:
    _count(context)
    if sum(map(len, told.values())) > _LONGEST:
        raise RequestRefused(400, "the login says too much")
    settings, cookie = context.service.settings, context.request.cookies.get(_COOKIE, "")
    with context.service.database.reading() as db:
        named = {"issuer": told.get("iss", ""), "client_id": told.get("client_id", "")}
        known = PLATFORMS.all(db, "id", **{n: v for n, v in named.items() if v or n == "issuer"})
    if len(known) != 1:
        raise RequestRefused(404, "this platform is not registered here: ask its administrator")
    platform = known[0]
    _let_frame(context, platform)
    if not platforms.own_path(settings, told.get("target_link_uri", "")):
        raise RequestRefused(403, "the link leads to another service")
    nonce, storage = secrets.token_urlsafe(24), told.get("lti_storage_target", "")[:100]
    state = {
        "platform": platform.id,
        "nonce": nonce,
        "browser": accounts.digest_of(cookie := cookie or secrets.token_urlsafe(24)),
        "stored": secrets.token_urlsafe(24),
        "target": told["target_link_uri"],
        "storage": storage,
        "again": {name: told[name] for name in _TOLD if told.get(name)},
    }
    with context.service.database.changing() as db:
        code = platforms.put_secret(db, "state", state, _LOGIN)
    address = _login_address(context, platform, told, code, nonce)
    if storage:
        answer = rendering.page(
            context, "lti_storage.html", [("Open the course", "")],
            address=address, key=_storage_key(code), value=state["stored"], frame=storage,
            origin=platforms.origin_of(platform.login_url),
        )  # fmt: skip
    else:
        answer = RedirectResponse(address, 303)
    _keep_in_frame(answer, _COOKIE, cookie, _DAY, "/lti")
    return answer


def _count(context: RequestContext) -> None:
    client = context.request.client
    if wait := context.service.rates.take(f"lti {client.host if client else ''}"):
        raise RequestRefused(429, f"too many open it: wait {wait} s", {"retry-after": str(wait)})


def _login_address(
    context: RequestContext, platform: Platform, told: dict[str, str], code: str, nonce: str
) -> str:
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": f"{context.service.settings.base}{LAUNCH}",
        "login_hint": told.get("login_hint", ""),
        "state": code,
        "nonce": nonce,
    }
    if "lti_message_hint" in told:
        query["lti_message_hint"] = told["lti_message_hint"]
    return members.with_query(platform.login_url, **query)


def _storage_key(code: str) -> str:
    return f"gtp-harness-{accounts.digest_of(code)[:16]}"


def _keep_in_frame(answer: Response, name: str, value: str, lasts: int, path: str) -> None:
    """Let a browser keep a cookie in frames, for this one site around it."""
    text = f"{name}={value}; Max-Age={lasts}; Path={path}; HttpOnly; Secure; SameSite=None"
    answer.headers.append("set-cookie", f"{text}; Partitioned")


def _is_framed(context: RequestContext) -> bool:
    """Whether the answer is shown in a frame; a browser that does not tell may have one."""
    return context.request.headers.get("sec-fetch-dest", "iframe") in ("iframe", "frame")


def _let_frame(context: RequestContext, platform: Platform) -> None:
    """Let the pages of a platform show this answer in a frame."""
    if _is_framed(context):
        context.request.state.frame = platform.frame


# --- the launch --------------------------------------------------------------------------------


@ROUTES.at("POST", LAUNCH, ANYBODY, most=_FOREIGN)
def take_launch(context: Context) -> Response:
    """Take what the platform says of its user, if all of it holds."""
    _count(context)
    code, token = context.field("state"), context.field("id_token")
    with context.service.database.reading() as db:
        state = platforms.read_secret(db, "state", code)
        platform = PLATFORMS.find(db, id=state["platform"]) if state else None
    if state is None or platform is None:
        raise RequestRefused(410, f"this was begun too long ago, or is used already: {_AGAIN}")
    _let_frame(context, platform)
    if not token:
        raise RequestRefused(403, f"{platform.title} did not let you in")
    try:
        launch = _read(context, platform, token, state)
    except (LaunchRefusedError, PlatformError) as error:
        told = {"platform": platform.id, "why": str(error)}
        monitoring.tell(context.service.settings, "launch refused", **told)
        raise RequestRefused(403, f"{platform.title} cannot open this course: {error}") from None
    waiting = {"platform": platform.id, "launch": launch._asdict(), "stored": state["stored"]}
    with context.service.database.changing() as db:
        if platforms.use_secret(db, "state", code) is None:
            raise RequestRefused(410, f"this is used already: {_AGAIN}")
        cookie = context.request.cookies.get(_COOKIE, "")
        if is_bound := compare_digest(accounts.digest_of(cookie), state["browser"]):
            wait = ""
        else:
            wait = platforms.put_secret(db, "wait", waiting, _WAIT)
    if is_bound:
        return _enter(context, platform, launch)
    return rendering.page(
        context, "lti_cookies.html", [("Open the course", "")],
        wait=wait if state["storage"] else "", key=_storage_key(code), frame=state["storage"],
        origin=platforms.origin_of(platform.login_url),
        again=f"{LOGIN}?{urlencode(state['again'])}",
    )  # fmt: skip


def _read(
    context: RequestContext, platform: Platform, token: str, state: dict[str, Any]
) -> Launch:
    service, now = context.service, time.time()
    kid = messages.find_kid(token, platform)
    client = PlatformClient(service.settings, platform, now)
    key = connection.find_key(client, service.database, kid)
    launch = messages.read_launch(token, platform, key, state["nonce"], now)
    target = platforms.own_path(service.settings, launch.target)
    if not target or launch.target != state["target"]:
        raise LaunchRefusedError("the link leads elsewhere")
    return launch


@ROUTES.at("POST", "/lti/confirm", ANYBODY)
def confirm(context: Context) -> Response:
    """Take a launch of a browser without cookies: the platform's storage shows it is the same."""
    with context.service.database.changing() as db:
        waiting = platforms.use_secret(db, "wait", context.field("wait"))
    if waiting is None:
        raise RequestRefused(410, f"this was begun too long ago: {_AGAIN}")
    platform = _load_platform(context, waiting)
    if not compare_digest(context.field("value").encode(), waiting["stored"].encode()):
        raise RequestRefused(403, f"this was begun in another browser: {_AGAIN}")
    return _enter(context, platform, Launch(**waiting["launch"]))


def _load_platform(context: RequestContext, kept: dict[str, Any]) -> Platform:
    with context.service.database.reading() as db:
        found = PLATFORMS.find(db, id=kept["platform"])
    if found is None:
        raise RequestRefused(403, "this platform is not registered here any more")
    _let_frame(context, found)
    return found


# --- a course of the platform that no course here is linked with -------------------------------


def _enter(context: RequestContext, platform: Platform, launch: Launch) -> Response:
    with context.service.database.reading() as db:
        link = members.find_link(db, platform, launch)
    if link:
        return _open(context, platform, link, launch)
    if launch.role != TEACHER:
        raise RequestRefused(403, "this course is not linked yet: its teacher opens it first")
    kept = {"platform": platform.id, "launch": launch._asdict()}
    with context.service.database.changing() as db:
        code = platforms.put_secret(db, "link", kept, _LINK)
    return _ask_for_course(context, launch, code)


def _ask_for_course(context: RequestContext, launch: Launch, code: str) -> Response:
    trail = [(launch.title, "")]
    return rendering.page(context, "lti_link.html", trail, launch=launch, link=code)


def show_link(context: Context) -> Response:
    """Show the form again that links a course."""
    _, launch = _find_kept(context)
    return _ask_for_course(context, launch, context.field("link"))


def _find_kept(context: RequestContext) -> tuple[Platform, Launch]:
    with context.service.database.reading() as db:
        kept = platforms.read_secret(db, "link", context.field("link"))
    if kept is None:
        raise RequestRefused(410, f"this was begun too long ago: {_AGAIN}")
    return _load_platform(context, kept), Launch(**kept["launch"])


@ROUTES.at("POST", "/lti/link", ANYBODY, most=Form(page=show_link))
def link_course(context: Context) -> Response:
    """Link a course with a new one, or with the one whose teacher made a code."""
    platform, launch = _find_kept(context)
    code = context.field("code")
    with context.service.database.acting() as act:
        if code:
            own = platforms.use_secret(act.db, "course", code)
            if own is None:
                raise UsageError("code: this one is unknown, used already, or too old")
            link = members.link_course(act, platform, launch, own["course"], own["person"])
        else:
            link = members.link_new_course(act, platform, launch)
        platforms.use_secret(act.db, "link", context.field("link"))
    return _open(context, platform, link, launch)


# --- the session -------------------------------------------------------------------------------


def _open(
    context: RequestContext, platform: Platform, link: CourseLink, launch: Launch
) -> Response:
    frame = platform.frame if _is_framed(context) else ""
    with context.service.database.acting() as act:
        path = _find_path(act, context, link, launch)
        person = members.admit(act, link, launch)
        session = accounts.begin_session(act, person, frame, lti=platform.id)
        kept = {"person": person.id, "path": path, "platform": platform.id}
        code = platforms.put_secret(act.db, "opened", kept, _WAIT) if frame else ""
    if not frame:
        return _start(context, session, path)
    answer = RedirectResponse(f"/lti/opened/{code}", 303)
    _keep_in_frame(answer, FRAME_COOKIE, session.text, int(accounts.SESSION), "/")
    return answer


def _start(context: RequestContext, session: Secret, path: str) -> Response:
    answer = start_session(context, session)
    answer.headers["location"] = path
    return answer


def _find_path(
    act: AuditedTransaction, context: RequestContext, link: CourseLink, launch: Launch
) -> str:
    """Return the page that a launch opens: of the linked course alone."""
    home = f"/courses/{link.course}"
    if launch.kind == DEEP_LINKING:
        if launch.role != TEACHER:
            raise RequestRefused(403, "only a teacher of the course chooses assignments")
        kept = {"link": link.id, "launch": launch._asdict()}
        return f"{home}/lti/pick?code={platforms.put_secret(act.db, 'pick', kept, _LINK)}"
    named = _ASSIGNMENT.fullmatch(platforms.own_path(context.service.settings, launch.target))
    if named and named[1] != link.course:
        raise RequestRefused(403, "this link is of another course")
    wanted = launch.assignment or (named[2] if named else "") or ""
    found = courses.ASSIGNMENTS.find(act.db, id=wanted, course=link.course) if wanted else None
    if found is None:
        return home
    known = scores.find_line(act.db, link.id, found.id)
    if known is None or (launch.line and launch.line != known):
        courses.lock_course(act.db, link.course)  # before anything is written
        courses.lock(act.db, found.id)
        scores.set_line(act.db, link.id, found.id, launch.line or known or "")
    is_seen = launch.role != STUDENT or not found.hidden
    return f"{home}/assignments/{found.id}" if is_seen else home


@ROUTES.at("GET", "/lti/opened/{code}", ANYBODY)
def show_opened(context: Context) -> Response:
    """Go to the page, if the browser keeps the session; else offer a window of its own."""
    code = context.request.path_params["code"]
    with context.service.database.reading() as db:
        kept = platforms.read_secret(db, "opened", code)
    if kept is None:
        raise RequestRefused(410, f"this was begun too long ago: {_AGAIN}")
    if context.by == kept["person"]:
        return RedirectResponse(kept["path"], 303)
    _load_platform(context, kept)
    return rendering.page(context, "lti_opened.html", [("Open the course", "")], code=code)


# The window may have a session already, which the frame that the form is in does not know.
@ROUTES.at("POST", "/lti/window/{code}", ANYBODY, most=Form(needs_token=False))
def open_window(context: Context) -> Response:
    """Begin a session in a window of its own."""
    with context.service.database.acting() as act:
        kept = platforms.use_secret(act.db, "opened", context.request.path_params["code"])
        person = people.PEOPLE.find(act.db, id=kept["person"]) if kept else None
        if kept is None or person is None:
            raise RequestRefused(410, f"this was begun too long ago: {_AGAIN}")
        session = accounts.begin_session(act, person, lti=kept["platform"])
    return _start(context, session, kept["path"])
