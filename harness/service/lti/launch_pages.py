"""From a platform's page to a page of ours: the login, the launch, and the session that it begins.

A browser that refuses cookies in a frame shows by the platform's storage that the same browser
began the login; else the page opens in a window of its own.
"""

import re
import secrets
import time
from hmac import compare_digest
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi.responses import JSONResponse, RedirectResponse, Response

from harness.core.errors import UsageError
from harness.core.network import origin_of
from harness.service import monitoring
from harness.service.lti import linked_courses, messages, platforms
from harness.service.lti.connection import PlatformClient, PlatformError
from harness.service.lti.messages import DEEP_LINKING, Launch, LaunchRefusedError
from harness.service.pages.people import start_session
from harness.service.people import accounts
from harness.service.records import STUDENT, TEACHER, CourseLink, Platform
from harness.service.storage import audit, courses, lti, people
from harness.service.web import rendering
from harness.service.web.access import ANYBODY, FRAME_COOKIE, Context, Routes
from harness.service.web.request_context import RequestContext, RequestRefused, require_found

ROUTES = Routes()
_FOREIGN: dict[str, Any] = {"files": 0, "fields": 20, "is_foreign": True, "needs_token": False}
_COOKIE = "gtp_harness_lti"  # tells that a launch comes from the browser that began the login
_DAY = 86400
_LOGIN, _WAIT, _LINK = 600.0, 120.0, 1800.0  # seconds that a step of the launch may take
_LONGEST = 8000  # characters of what a login says
_AGAIN = ("iss", "login_hint", "target_link_uri", "client_id", "lti_message_hint")
_ASSIGNMENT = re.compile(r"/courses/([0-9a-f]+)(?:/assignments/([0-9a-f]+))?(?:[/?].*)?")


@ROUTES.at("GET", platforms.KEYS, ANYBODY)
def show_keys(context: Context) -> Response:
    """Give the public keys of this service."""
    return JSONResponse(platforms.publish_keys(context.settings))


class Step(NamedTuple):
    """Data that a launch step keeps for the next one."""

    platform: Platform
    data: dict[str, Any]

    @property
    def launch(self) -> Launch:
        return Launch.model_construct(**self.data["launch"])


def read_step(context: RequestContext, kind: str, code: str, *, once: bool = False) -> Step:
    """Return what a secret leads to; pages of the platform may show the answer in a frame."""
    database = context.service.database
    with database.changing() if once else database.reading() as db:
        kept = platforms.read_secret(db, kind, code, once=once)
        platform = lti.PLATFORMS.find(db, id=kept["platform"]) if kept else None
    if kept is None or platform is None:
        why = "this was begun too long ago, or is used already: open the page in your course again"
        raise RequestRefused(410, why)
    context.request.state.frame = _frame(context, platform)
    return Step(platform, kept)


def _keep_step(
    context: RequestContext, kind: str, lifetime: float, platform: Platform, **data: object
) -> str:
    """Return a secret that leads to some data in the next step."""
    with context.service.database.changing() as db:
        return platforms.put_secret(db, kind, {"platform": platform.id, **data}, lifetime)


def _frame(context: RequestContext, platform: Platform) -> str:
    """Return whose pages may frame the answer; a browser that does not tell may have a frame."""
    is_framed = context.request.headers.get("sec-fetch-dest", "iframe") in ("iframe", "frame")
    return " ".join(platform.origins) if is_framed else ""


def _keep_in_frame(answer: Response, name: str, value: str, lifetime: int, path: str) -> None:
    """Let a browser keep a cookie in frames, for this one site around it."""
    text = f"{name}={value}; Max-Age={lifetime}; Path={path}; HttpOnly; Secure; SameSite=None"
    answer.headers.append("set-cookie", f"{text}; Partitioned")


@ROUTES.form(platforms.LOGIN, ANYBODY, **_FOREIGN)
@ROUTES.at("GET", platforms.LOGIN, ANYBODY)
def begin_login(context: Context) -> Response:
    """Send a browser to the platform, to say who its user is; it asks by an address or a form."""
    context.require_rate(context.service.rates, f"lti {context.sender}", "open it")
    told = dict(context.request.query_params)
    told |= {name: value for name, value in context.form.items() if isinstance(value, str)}
    if sum(map(len, told.values())) > _LONGEST:
        raise RequestRefused(400, "the login says too much")
    settings, target = context.settings, told.get("target_link_uri", "")
    named = {"issuer": told.get("iss", "")}
    if client := told.get("client_id"):
        named["client_id"] = client
    with context.reading() as db:
        known = lti.PLATFORMS.all(db, "id", **named)
    if len(known) != 1:
        raise RequestRefused(404, "this platform is not registered here: ask its administrator")
    platform = known[0]
    context.request.state.frame = _frame(context, platform)
    if not platforms.own_path(settings, target):
        raise RequestRefused(403, "the link leads to another service")
    nonce, storage = secrets.token_urlsafe(24), told.get("lti_storage_target", "")[:100]
    cookie = context.request.cookies.get(_COOKIE, "") or secrets.token_urlsafe(24)
    state = {
        "nonce": nonce,
        "browser": accounts.digest_of(cookie),
        "stored": secrets.token_urlsafe(24),
        "target": target,
        "storage": storage,
        "again": {name: told[name] for name in _AGAIN if told.get(name)},
    }
    code = _keep_step(context, "state", _LOGIN, platform, **state)
    query = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": f"{settings.base}{platforms.LAUNCH}",
        "login_hint": told.get("login_hint", ""),
        "state": code,
        "nonce": nonce,
        **({"lti_message_hint": told["lti_message_hint"]} if "lti_message_hint" in told else {}),
    }
    address = platforms.with_query(platform.login_url, query)
    answer: Response = RedirectResponse(address, 303)
    if storage:
        answer = rendering.page(
            context, "lti_storage.html", address=address, value=state["stored"],
            **_storage(platform, code, storage),
        )  # fmt: skip
    _keep_in_frame(answer, _COOKIE, cookie, _DAY, "/lti")
    return answer


def _storage(platform: Platform, code: str, frame: str) -> dict[str, Any]:
    """Return where the platform keeps a value for a launch, and under which key."""
    key = f"gtp-harness-{accounts.digest_of(code)[:16]}"
    return {"key": key, "frame": frame, "origin": origin_of(platform.login_url)}


@ROUTES.form(platforms.LAUNCH, ANYBODY, **_FOREIGN)
def take_launch(context: Context) -> Response:
    """Take what the platform says of its user, if all of it holds."""
    context.require_rate(context.service.rates, f"lti {context.sender}", "open it")
    code, token = context.field("state"), context.field("id_token")
    platform, state = read_step(context, "state", code)
    if not token:
        raise RequestRefused(403, f"{platform.title} did not let you in")
    try:
        find_key = PlatformClient(context.settings, platform).find_key
        launch = messages.read_launch(token, platform, find_key, state["nonce"], time.time())
        if launch.target != state["target"]:  # which is an address of this service
            raise LaunchRefusedError("the link leads elsewhere")
    except (LaunchRefusedError, PlatformError) as error:
        told = {"platform": platform.id, "why": str(error)}
        monitoring.tell(context.settings, "launch refused", **told)
        raise RequestRefused(403, f"{platform.title} cannot open this course: {error}") from None
    read_step(context, "state", code, once=True)
    cookie = context.request.cookies.get(_COOKIE, "")
    if compare_digest(accounts.digest_of(cookie), state["browser"]):
        return _enter(context, platform, launch)
    wait = ""
    if state["storage"]:
        kept = {"launch": launch.model_dump(), "stored": state["stored"]}
        wait = _keep_step(context, "wait", _WAIT, platform, **kept)
    return rendering.page(
        context, "lti_cookies.html", wait=wait,
        again=f"{platforms.LOGIN}?{urlencode(state['again'])}",
        **_storage(platform, code, state["storage"]),
    )  # fmt: skip


@ROUTES.at("POST", "/lti/confirm", ANYBODY)
def confirm(context: Context) -> Response:
    """Take a launch of a browser without cookies: the platform's storage shows it is the same."""
    step = read_step(context, "wait", context.field("wait"), once=True)
    if not compare_digest(context.field("value").encode(), step.data["stored"].encode()):
        raise RequestRefused(403, "this was begun in another browser: open the page again")
    return _enter(context, step.platform, step.launch)


def _enter(context: RequestContext, platform: Platform, launch: Launch) -> Response:
    with context.reading() as db:
        link = linked_courses.find_link(db, platform, launch)
    if link:
        return _open(context, platform, link, launch)
    if launch.role != TEACHER:
        raise RequestRefused(403, "this course is not linked yet: its teacher opens it first")
    code = _keep_step(context, "link", _LINK, platform, launch=launch.model_dump())
    return rendering.page(context, "lti_link.html", launch=launch, link=code)


def show_link(context: Context) -> Response:
    """Show the form again that links a course."""
    code = context.field("link")
    step = read_step(context, "link", code)
    return rendering.page(context, "lti_link.html", launch=step.launch, link=code)


@ROUTES.form("/lti/link", ANYBODY, show_link)
def link_course(context: Context) -> Response:
    """Link a course with a new one, or with the one whose teacher made a code."""
    step, code = read_step(context, "link", context.field("link")), context.field("code")
    with context.service.database.acting() as act:
        own = platforms.read_secret(act.db, "course", code, once=True) if code else None
        if code and own is None:
            raise UsageError("code: this one is unknown, used already, or too old")
        link = linked_courses.link_course(act, step.platform, step.launch, own)
        platforms.read_secret(act.db, "link", context.field("link"), once=True)
    return _open(context, step.platform, link, step.launch)


def _open(context: Context, platform: Platform, link: CourseLink, launch: Launch) -> Response:
    frame = _frame(context, platform)
    with context.service.database.acting() as act:
        path = _find_path(act, context, link, launch)
        person = linked_courses.admit(act, link, launch)
        session = accounts.begin_session(act, person, frame, lti=platform.id)
        kept = {"person": person.id, "path": path, "platform": platform.id}
        code = platforms.put_secret(act.db, "opened", kept, _WAIT) if frame else ""
    if not frame:
        return start_session(context, session, path)
    answer = RedirectResponse(f"/lti/opened/{code}", 303)
    _keep_in_frame(answer, FRAME_COOKIE, session.text, int(accounts.SESSION), "/")
    return answer


def _find_path(
    act: audit.AuditedTransaction, context: RequestContext, link: CourseLink, launch: Launch
) -> str:
    """Return the page that a launch opens: of the linked course alone."""
    home = f"/courses/{link.course}"
    if launch.kind == DEEP_LINKING:
        if launch.role != TEACHER:
            raise RequestRefused(403, "only a teacher of the course chooses assignments")
        kept = {"platform": link.platform, "launch": launch.model_dump()}
        return f"{home}/lti/pick?code={platforms.put_secret(act.db, 'pick', kept, _LINK)}"
    named = _ASSIGNMENT.fullmatch(platforms.own_path(context.settings, launch.target))
    if named and named[1] != link.course:
        raise RequestRefused(403, "this link is of another course")
    wanted = launch.assignment or (named[2] if named else "") or ""
    found = courses.ASSIGNMENTS.find(act.db, id=wanted, course=link.course) if wanted else None
    if found is None:
        return home
    known = lti.LINES.find(act.db, link=link.id, assignment=found.id)
    if known is None or launch.line not in ("", known.url):
        courses.lock_course(act.db, link.course)  # before anything is written
        courses.lock(act.db, found.id)
        lti.set_line(act.db, link.id, found.id, launch.line)
    is_seen = launch.role != STUDENT or not found.hidden
    return f"{home}/assignments/{found.id}" if is_seen else home


@ROUTES.at("GET", "/lti/opened/{code}", ANYBODY)
def show_opened(context: Context) -> Response:
    """Go to the page, if the browser keeps the session; else offer a window of its own."""
    code = context.part("code")
    kept = read_step(context, "opened", code).data
    if context.by == kept["person"]:
        return RedirectResponse(kept["path"], 303)
    return rendering.page(context, "lti_opened.html", code=code)


# The window may have a session already, which the frame that the form is in does not know.
@ROUTES.form("/lti/window/{code}", ANYBODY, needs_token=False)
def open_window(context: Context) -> Response:
    """Begin a session in a window of its own."""
    platform, kept = read_step(context, "opened", context.part("code"), once=True)
    with context.service.database.acting() as act:
        found = people.PEOPLE.find(act.db, id=kept["person"])
        person = require_found(found, "you are not known here any more", 410)
        session = accounts.begin_session(act, person, lti=platform.id)
    return start_session(context, session, kept["path"])
