"""Pages about platforms: registering them, the links of a course, choosing an assignment."""

import time
from typing import Any

from fastapi.responses import RedirectResponse, Response

from harness.core.errors import UsageError
from harness.core.network import origin_of
from harness.reading import shipped
from harness.service.courses import making, own_files
from harness.service.courses.point_weights import apply_weights, load_weights
from harness.service.lti import connection, launch_pages, linked_courses, messages, platforms
from harness.service.pages import forms
from harness.service.records import WAITING, CourseAssignment, CourseLink, Platform
from harness.service.storage import courses, lti, queue
from harness.service.web import access, rendering
from harness.service.web.access import Context, Routes
from harness.service.web.request_context import RequestContext, RequestRefused, require_found

ROUTES = Routes()
_PATH = "/courses/{course}/lti"
_CODE = 7 * 86400.0  # seconds that a code holds
_SHOWN = 50  # scores


@ROUTES.at("GET", "/lti", access.ADMINS)
def show(context: Context) -> Response:
    """Show the platforms, and what their administrators need to know of this service."""
    return _page(context)


def _page(context: RequestContext, link: str = "") -> Response:
    with context.reading() as db:
        found = lti.PLATFORMS.all(db, "title", "id")
    return rendering.page(
        context, "lti_platforms.html", platforms=found, link=link, algorithms=platforms.ALGORITHMS
    )


@ROUTES.form("/lti/platforms", access.ADMINS, show)
def register(context: Context) -> Response:
    fields = Platform._fields[1:-1]  # all except the id, and when it was registered
    given = Platform(context.field("platform"), *map(context.field, fields))  # type: ignore[arg-type]
    with context.acting() as act:
        platforms.register(act, context.settings, given)
    return RedirectResponse("/lti", 303)


@ROUTES.at("POST", "/lti/platforms/remove", access.ADMINS)
def remove(context: Context) -> Response:
    """Remove a platform, once it was said that this is wanted."""
    with context.acting() as act:
        found = platforms.find(act.db, context.field("platform"))
        if not forms.is_sure(context):
            return forms.ask_again(context, "remove platform", "/lti", found.title)
        platforms.remove(act, found.id)
    return RedirectResponse("/lti", 303)


@ROUTES.form("/lti/keys/rotate", access.ADMINS, show)
def rotate(context: Context) -> Response:
    with context.acting() as act:
        platforms.rotate_keys(act, context.settings, time.time())
    return RedirectResponse("/lti", 303)


@ROUTES.at("POST", "/lti/registrations", access.ADMINS)
def make_link(context: Context) -> Response:
    """Make a link for the administrator of a platform; it is shown once."""
    with context.acting() as act:
        link = platforms.make_link(act, context.settings.base)
    return _page(context, link)


@ROUTES.at("GET", f"{platforms.REGISTER}/{{code}}", access.ANYBODY)
def ask_to_register(context: Context) -> Response:
    """Ask the administrator of a platform whether to register it."""
    query = context.request.query_params
    configuration = query.get("openid_configuration", "")
    origin = _check_link(context, configuration, once=False)
    key = query.get("registration_token", "")
    return rendering.page(
        context, "lti_register.html", origin=origin, configuration=configuration, key=key
    )


def _check_link(context: RequestContext, configuration: str, *, once: bool) -> str:
    """Return where a platform is, if a link to register it holds; its page may show this one."""
    if not platforms.is_plain(context.settings, configuration):
        why = "open this link from your platform: paste it where a tool is registered"
        raise RequestRefused(422, why)
    code, database = context.part("code"), context.service.database
    with database.changing() if once else database.reading() as db:
        if platforms.read_secret(db, "register", code, once=once) is None:
            raise RequestRefused(404, "this link is used, or too old: ask for a new one")
    context.request.state.frame = origin = origin_of(configuration)
    return origin


@ROUTES.at("POST", f"{platforms.REGISTER}/{{code}}", access.ANYBODY)
def perform(context: Context) -> Response:
    """Register a platform and this service with each other."""
    settings, configuration = context.settings, context.field("configuration")
    origin = _check_link(context, configuration, once=True)
    try:
        found = connection.register_there(settings, configuration, context.field("key"))
        with context.service.database.acting() as act:
            platforms.register(act, settings, found)
    except (connection.PlatformError, UsageError) as error:
        why = f"the platform was not registered: {error}. Ask for a new link"
        raise RequestRefused(422, why) from None
    return rendering.page(context, "lti_register.html", origin=origin, configuration="")


@ROUTES.at("GET", _PATH, access.STAFF_ONLY)
def show_links(context: Context) -> Response:
    """Show which courses of platforms open this one, and what they were told."""
    return _course_page(context)


def _course_page(context: RequestContext, code: str = "") -> Response:
    own, found = {"course": context.course.id}, []
    with context.reading() as db:
        titles = {one.id: one.title for one in courses.ASSIGNMENTS.all(db, **own)}
        for link in lti.LINKS.all(db, "id", **own):
            sent, waiting = lti.count_scores(db, link.id)
            scores = lti.SCORES.all(db, "due", link=link.id, state=WAITING)
            late = [one for one in scores if one.trouble][:_SHOWN]  # that were tried
            found.append((link, lti.PLATFORMS.find(db, id=link.platform), sent, waiting, late))
    return rendering.page(context, "lti_course.html", links=found, titles=titles, code=code)


@ROUTES.at("POST", f"{_PATH}/code", access.TEACHERS)
def make_code(context: Context) -> Response:
    """Make a code by which a course of a platform is linked with this one; it is shown once."""
    with context.acting() as act:
        kept = {"course": context.course.id, "person": context.by}
        code = platforms.put_secret(act.db, "course", kept, _CODE)
        act.note("code to link made", context.course.id)
    return _course_page(context, code)


@ROUTES.at("POST", f"{_PATH}/now", access.TEACHERS)
def try_now(context: Context) -> Response:
    """Let the platform be asked, and told what waits, at once."""
    with context.service.database.changing() as db:
        for one in lti.LINKS.all(db, course=context.course.id):
            queue.try_now(db, lti.SCORES, link=one.id)
            queue.try_now(db, lti.LINKS, id=one.id)
    return RedirectResponse(f"{context.course_page}/lti", 303)


@ROUTES.at("POST", f"{_PATH}/unlink", access.TEACHERS)
def unlink(context: Context) -> Response:
    """End a link, once it was said that this is wanted."""
    back = f"{context.course_page}/lti"
    with context.acting() as act:
        known = lti.LINKS.find(act.db, id=context.field("link"), course=context.course.id)
        found = require_found(known, "there is no such link")
        if not forms.is_sure(context):
            return forms.ask_again(context, "end link", back)
        platforms.unlink(act, found)
    return RedirectResponse(back, 303)


@ROUTES.at("GET", f"{_PATH}/pick", access.TEACHERS)
def show_choice(context: Context) -> Response:
    """Let a teacher choose the assignment that an activity of the platform is to be."""
    _find_request(context)
    with context.reading() as db:
        found = courses.ASSIGNMENTS.all(db, "title", "id", course=context.course.id)
    return rendering.page(
        context, "lti_pick.html",
        assignments=found, shipped=shipped.names(), code=_code_of(context),
    )  # fmt: skip


def _code_of(context: RequestContext) -> str:
    return context.field("code") or context.request.query_params.get("code", "")


def _find_request(context: RequestContext) -> tuple[CourseLink, Platform, messages.Launch]:
    step = launch_pages.read_step(context, "pick", _code_of(context))
    with context.reading() as db:
        link = linked_courses.find_link(db, step.platform, step.launch)
    if link is None or link.course != context.course.id:
        raise RequestRefused(404, "this is for another course")
    return link, step.platform, step.launch


@ROUTES.form(f"{_PATH}/pick", access.TEACHERS, show_choice)
def choose(context: Context) -> Response:
    """Send the platform which assignment was chosen; one that ships becomes the course's."""
    settings, now = context.settings, time.time()
    link, platform, launch = _find_request(context)
    origin = origin_of(launch.return_url)
    if not platform.has(launch.return_url):
        raise UsageError(
            f"{origin or 'where the answer goes'} is not registered as an origin of"
            f" {platform.title}: its administrator can add it"
        )
    with context.acting() as act:
        if platforms.read_secret(act.db, "pick", _code_of(context), once=True) is None:
            raise RequestRefused(410, "this was chosen already: begin anew in your course")
        kind, _, name = context.field("assignment").partition(":")
        if kind == "new":
            chosen = CourseAssignment(
                "", link.course, "", making.check_shipped(name),
                "", "", "", "", making.AS_ITS_OWN, 0.0,
            )  # fmt: skip
            found = making.assign(act, chosen)
        elif known := courses.ASSIGNMENTS.find(act.db, id=name, course=link.course):
            found = known
        else:
            raise UsageError("assignment: choose one of the list")
        courses.lock(act.db, found.id)
        if lti.LINES.find(act.db, link=link.id, assignment=found.id) is None:
            lti.set_line(act.db, link.id, found.id, "")
        act.note("assignment linked", found.id, platform=platform.id)
    context.service.database.make_ledger_schema(found.id)
    own = apply_weights(own_files.assignment_of(settings, found), load_weights(found))
    item: dict[str, Any] = {
        "type": "ltiResourceLink",
        "title": found.title,
        "url": f"{settings.base}/courses/{link.course}/assignments/{found.id}",
        "custom": {"assignment": found.id},
    }
    most = float(sum(part.points for part in own.marks))
    if launch.takes_line and most > 0:
        item["lineItem"] = {"scoreMaximum": most, "label": found.title, "resourceId": found.id}
    key = platforms.signing_key(settings, now)
    answer = messages.answer_deep_linking(platform, launch, item, key, now)
    shown = rendering.page(
        context, "lti_return.html",
        address=launch.return_url, answer=answer, chosen=found.title,
    )  # fmt: skip
    shown.headers["content-security-policy"] = rendering.POLICY.replace(
        "form-action 'self'", f"form-action 'self' {origin}"
    )
    return shown
