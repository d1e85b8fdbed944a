"""What teachers see of the platform of their course: the link, what was sent, and deep linking."""

from __future__ import annotations

import time
from typing import NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness import shipped
from harness.errors import UsageError
from harness.service.courses import making, own_files
from harness.service.courses.point_weights import apply_weights, load_weights
from harness.service.lti import messages, platforms
from harness.service.lti.messages import Launch, LinkedAssignment
from harness.service.lti.platforms import LINKS, PLATFORMS, CourseLink, Platform
from harness.service.pages import forms
from harness.service.pages.forms import SecondQuestion
from harness.service.records import WAITING, CourseAssignment
from harness.service.storage import courses, scores
from harness.service.storage.scores import SCORES, Score
from harness.service.web import rendering
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, Form, Routes
from harness.service.web.request_context import RequestContext, RequestRefused

ROUTES = Routes()
_PATH = "/courses/{course}/lti"
_CODE = 7 * 86400.0  # seconds that a code holds
_SHOWN = 50  # scores


class LinkedCourse(NamedTuple):
    """A link of a course as its page shows it."""

    link: CourseLink
    platform: Platform
    sent: int
    waiting: int
    late: list[Score]  # that were tried


@ROUTES.at("GET", _PATH, STAFF_ONLY)
def show(context: Context) -> Response:
    """Show which courses of platforms open this one, and what they were told."""
    return _page(context)


def _page(context: RequestContext, code: str = "") -> Response:
    assert context.course
    with context.service.database.reading() as db:
        found = [_describe(db, one) for one in LINKS.all(db, "id", course=context.course.id)]
        titles = {
            one.id: one.title for one in courses.ASSIGNMENTS.all(db, course=context.course.id)
        }
    trail = [(context.course.title, f"/courses/{context.course.id}"), ("Moodle and Canvas", "")]
    return rendering.page(context, "lti_course.html", trail, links=found, titles=titles, code=code)


def _describe(db: Connection, link: CourseLink) -> LinkedCourse:
    platform = PLATFORMS.find(db, id=link.platform)
    assert platform is not None  # links refer to platforms
    late = [one for one in SCORES.all(db, "due", link=link.id, state=WAITING) if one.trouble]
    return LinkedCourse(link, platform, *scores.count(db, link.id), late[:_SHOWN])


@ROUTES.at("POST", f"{_PATH}/code", TEACHERS)
def make_code(context: Context) -> Response:
    """Make a code by which a course of a platform is linked with this one; it is shown once."""
    assert context.course
    with context.service.database.acting(context.by) as act:
        kept = {"course": context.course.id, "person": context.by}
        code = platforms.put_secret(act.db, "course", kept, _CODE)
        act.note("code to link made", context.course.id)
    return _page(context, code)


@ROUTES.at("POST", f"{_PATH}/now", TEACHERS)
def try_now(context: Context) -> Response:
    """Let the platform be asked, and told what waits, at once."""
    assert context.course
    with context.service.database.changing() as db:
        for one in LINKS.all(db, course=context.course.id):
            scores.try_now(db, one.id)
            if one.members_url:
                LINKS.change(db, {"due": time.time()}, id=one.id)
    return RedirectResponse(f"/courses/{context.course.id}/lti", 303)


@ROUTES.at("POST", f"{_PATH}/unlink", TEACHERS)
def unlink(context: Context) -> Response:
    """End a link, once it was said that this is wanted."""
    assert context.course
    back = f"/courses/{context.course.id}/lti"
    with context.service.database.acting(context.by) as act:
        found = LINKS.find(act.db, id=context.field("link"), course=context.course.id)
        if found is None:
            raise RequestRefused(404, "there is no such link")
        if not forms.is_sure(context):
            question = SecondQuestion(
                "End the link?",
                "Nobody gets in from the platform any more, and no marks go there. All people,"
                " submissions and marks of this course stay.",
                "Yes, end the link",
                back,
            )
            return forms.ask_again(context, [("End the link", "")], question)
        platforms.unlink(act, found)
    return RedirectResponse(back, 303)


# --- deep linking ------------------------------------------------------------------------------


@ROUTES.at("GET", f"{_PATH}/pick", TEACHERS)
def show_choice(context: Context) -> Response:
    """Let a teacher choose the assignment that an activity of the platform is to be."""
    code = context.field("code") or context.request.query_params.get("code", "")
    _find_request(context, code)
    assert context.course
    with context.service.database.reading() as db:
        found = courses.ASSIGNMENTS.all(db, "title", "id", course=context.course.id)
    trail = [(context.course.title, f"/courses/{context.course.id}"), ("Choose", "")]
    return rendering.page(
        context, "lti_pick.html", trail, assignments=found, shipped=shipped.names(), code=code
    )


def _find_request(context: RequestContext, code: str) -> tuple[CourseLink, Platform, Launch]:
    assert context.course
    with context.service.database.reading() as db:
        kept = platforms.read_secret(db, "pick", code)
        link = LINKS.find(db, id=kept["link"], course=context.course.id) if kept else None
        platform = PLATFORMS.find(db, id=link.platform) if link else None
    if kept is None or link is None or platform is None:
        raise RequestRefused(404, "this was begun too long ago: begin anew in your course")
    return link, platform, Launch(**kept["launch"])


@ROUTES.at("POST", f"{_PATH}/pick", TEACHERS, most=Form(page=show_choice))
def choose(context: Context) -> Response:
    """Send the platform which assignment was chosen; one that ships becomes the course's."""
    settings, now = context.service.settings, time.time()
    link, platform, launch = _find_request(context, context.field("code"))
    if not platform.has(launch.return_url):
        raise UsageError(
            f"{platforms.origin_of(launch.return_url) or 'where the answer goes'} is not"
            f" registered as an origin of {platform.title}: its administrator can add it"
        )
    with context.service.database.acting(context.by) as act:
        if platforms.use_secret(act.db, "pick", context.field("code")) is None:
            raise RequestRefused(404, "this was chosen already: begin anew in your course")
        kind, _, name = context.field("assignment").partition(":")
        if kind == "new":
            wanted = CourseAssignment(
                "", link.course, "", making.check_shipped(name), "", "", "", "",
                making.AS_ITS_OWN, 0.0,
            )  # fmt: skip
            found = making.assign(act, wanted)
        elif not (found_ := courses.ASSIGNMENTS.find(act.db, id=name, course=link.course)):
            raise UsageError("assignment: choose one of the list")
        else:
            found = found_
        courses.lock(act.db, found.id)
        if scores.find_line(act.db, link.id, found.id) is None:
            scores.set_line(act.db, link.id, found.id, "")
        act.note("assignment linked", found.id, platform=platform.id)
    if kind == "new":
        context.service.database.make_ledger_schema(found.id)
    own = apply_weights(own_files.assignment_of(settings, found), load_weights(found))
    address = f"{settings.base}/courses/{link.course}/assignments/{found.id}"
    most = float(sum(part.points for part in own.marks))
    chosen = LinkedAssignment(found.id, found.title, address, most)
    key = platforms.signing_key(settings, now)
    answer = messages.answer_deep_linking(platform, launch, chosen, key, now)
    shown = rendering.page(
        context, "lti_return.html", [("Back to the course", "")],
        address=launch.return_url, answer=answer, chosen=found.title,
    )  # fmt: skip
    origin = platforms.origin_of(launch.return_url)
    shown.headers["content-security-policy"] = rendering.POLICY.replace(
        "form-action 'self'", f"form-action 'self' {origin}"
    )
    return shown
