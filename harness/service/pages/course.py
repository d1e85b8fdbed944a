"""Courses and their assignments: listed, changed or removed."""

import datetime
import secrets
import time

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.errors import UsageError
from harness.service.courses import changes, making, own_files, standings, submissions
from harness.service.jobs import checklist
from harness.service.local_times import keep_same, read_seconds
from harness.service.pages import forms
from harness.service.records import Course, CourseAssignment
from harness.service.storage import courses
from harness.service.web import rendering
from harness.service.web.access import ADMINS, MEMBERS, TEACHERS, Context, Routes

ROUTES = Routes()


@ROUTES.at("GET", "/courses/new", ADMINS)
def show_new(context: Context) -> Response:
    once = context.field("once") or secrets.token_hex(32)
    return rendering.page(context, "course_new.html", [("New course", "")], once=once)


@ROUTES.form("/courses", ADMINS, show_new)
def make(context: Context) -> Response:
    title, once = context.field("title"), context.field("once")
    with context.acting() as act:

        def find(name: str) -> Course | None:
            return courses.COURSES.find(act.db, id=name)

        sent = ("course", title)
        made = making.make_once(act, once, sent, find, lambda: making.course(act, title))
    return RedirectResponse(f"/courses/{made.id}", 303)


@ROUTES.at("GET", "/courses/{course}", MEMBERS)
def show(context: Context) -> Response:
    with context.reading() as db:
        every = courses.ASSIGNMENTS.all(db, "deadline", "title", course=context.course.id)
        found = [one for one in every if context.is_staff or not one.hidden]
        own = {
            one.id: standings.standing_of(db, one, context.member.submits_as)
            for one in found
            if not context.is_staff
        }
        chips = {one.id: _list_chips(db, context, one) for one in found if context.is_staff}
    trail = [(context.course.title, "")]
    return rendering.page(context, "course.html", trail, assignments=found, own=own, chips=chips)


def _list_chips(db: Connection, context: Context, one: CourseAssignment) -> list[tuple[str, str]]:
    """Return how far an assignment is, for its staff: kinds of chips, and their words."""
    missing = not checklist.load(db, context.settings, one).is_ready
    is_closed = bool(one.closes) and read_seconds(one.closes) < time.time()
    open_ = ("off", "Closed") if is_closed else ("good", "Open")
    is_before = submissions.is_before(one, datetime.datetime.now())
    return [
        *([("look", "Needs set-up")] if missing else []),
        ("off", "Hidden") if one.hidden else ("new", "Not open yet") if is_before else open_,
    ]


# --- The course folder that submissions run with -------------------------------------------------


@ROUTES.at("GET", "/courses/{course}/assignments/{assignment}/course-folder", TEACHERS)
def show_course_folder(context: Context) -> Response:
    settings, assigned = context.settings, context.assigned
    return rendering.page(
        context,
        "course_folder.html",
        rendering.crumbs(context, "Course folder"),
        overlay=own_files.assignment_of(settings, assigned).engine.overlay,
        has_overlay=own_files.has_overlay(settings, assigned),
    )


# --- Pages on which teachers change or remove an assignment, and rename or remove a course -------

_COURSE = "/courses/{course}"
_ONE = f"{_COURSE}/assignments/{{assignment}}"
_DATES = ("opens", "deadline", "closes", "deduction", "grace")


@ROUTES.at("GET", f"{_ONE}/change", TEACHERS)
def show_change(context: Context) -> Response:
    with context.reading() as db:
        kept = changes.list_kept(db, context.assigned)
        lost = changes.list_lost(db, context.settings, context.assigned)
    filled = changes.values_of(context.assigned).digest
    trail = rendering.crumbs(context, "Change or remove")
    return rendering.page(
        context, "assignment_change.html", trail, kept=kept, lost=lost, filled=filled
    )


@ROUTES.form(f"{_ONE}/change", TEACHERS, show_change)
def change_assignment(context: Context) -> Response:
    """Change an assignment, once it was seen what changes for those who have submitted."""
    now = context.assigned
    wanted = now._replace(
        title=context.field("title"),
        opens=keep_same(context.field("opens"), now.opens),
        deadline=keep_same(context.field("deadline"), now.deadline),
        closes=keep_same(context.field("closes"), now.closes),
        deduction=context.field("deduction"),
        grace=making.read_grace(context.field("grace"), 0),
        hidden=context.is_ticked("hidden"),
    )
    filled, seen = context.field("filled") or None, context.field("seen")
    # Before the dates are judged, which may fit no longer.
    changes.values_of(now).require(filled)
    with context.acting() as act:
        planned = changes.plan(act.db, now, wanted)
        moves_dates = any(getattr(now, name) != getattr(planned.made, name) for name in _DATES)
        is_to_be_seen = moves_dates and bool(planned.ended or changes.list_kept(act.db, now))
        if not is_to_be_seen or seen:
            changes.change(act, now, wanted, seen or None, filled)
            return RedirectResponse(context.assignment_page, 303)
    trail = rendering.crumbs(context, "Change")
    return rendering.page(context, "assignment_change_seen.html", trail, planned=planned)


@ROUTES.form(f"{_ONE}/remove", TEACHERS, show_change)
def remove_assignment(context: Context) -> Response:
    """Remove an assignment that nobody has submitted to."""
    _require_tick(context)
    with context.acting() as act:
        changes.remove_assignment(act, context.assigned)
    changes.clear(context.settings, context.assigned)
    return RedirectResponse(context.course_page, 303)


def _require_tick(context: Context) -> None:
    if not forms.is_sure(context):
        raise UsageError("to remove it, tick that you want this")


@ROUTES.at("GET", f"{_COURSE}/settings", TEACHERS)
def show_course(context: Context) -> Response:
    with context.reading() as db:
        kept = changes.list_kept_in_course(db, context.course)
        students = courses.students(db, context.course.id)
        found = courses.ASSIGNMENTS.all(db, "title", course=context.course.id)
    return rendering.page(
        context,
        "course_change.html",
        [(context.course.title, context.course_page), ("Settings", "")],
        kept=kept,
        students=students,
        assignments=found,
        filled=changes.values_of_course(context.course).digest,
    )


@ROUTES.form(f"{_COURSE}/change", TEACHERS, show_course)
def rename_course(context: Context) -> Response:
    with context.acting() as act:
        filled = context.field("filled") or None
        changes.rename_course(act, context.course, context.field("title"), filled)
    return RedirectResponse(context.course_page, 303)


@ROUTES.form(f"{_COURSE}/remove", TEACHERS, show_course)
def remove_course(context: Context) -> Response:
    """Remove a course that nobody has submitted in."""
    _require_tick(context)
    with context.acting() as act:
        removed = changes.remove_course(act, context.course)
    changes.clear_course(context.settings, context.course, removed)
    return RedirectResponse("/", 303)
