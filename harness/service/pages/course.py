"""Courses and their assignments: listed, made, changed, renamed and removed."""

import datetime
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from harness.assignments import assignment as assignments
from harness.assignments import needs
from harness.assignments.clock_changes import measure, write
from harness.core import file_system
from harness.core.errors import UsageError
from harness.reading import shipped
from harness.service.courses import changes, making, own_files, standings, submissions
from harness.service.jobs import checklist, private_cases
from harness.service.local_times import keep_same, to_field
from harness.service.pages import forms
from harness.service.records import CourseAssignment
from harness.service.storage import courses
from harness.service.storage.audit import AuditedTransaction
from harness.service.web import rendering
from harness.service.web.access import ADMINS, MEMBERS, SIGNED_IN, TEACHERS, Context, Routes

ROUTES = Routes()
_COURSE = "/courses/{course}"
_ALL = f"{_COURSE}/assignments"
_ONE = f"{_ALL}/{{assignment}}"


@ROUTES.at("GET", "/", SIGNED_IN)
def enter_site(context: Context) -> Response:
    return RedirectResponse("/courses", 303)


@ROUTES.at("GET", "/courses", SIGNED_IN)
def beginning(context: Context) -> Response:
    with context.reading() as db:
        found = courses.of_person(db, context.by)
    return rendering.page(context, "courses.html", courses=found)


@ROUTES.at("GET", "/courses/new", ADMINS)
def show_new(context: Context) -> Response:
    once = context.field("once") or secrets.token_hex(32)
    return rendering.page(context, "course_new.html", once=once)


@ROUTES.form("/courses", ADMINS, show_new)
def make(context: Context) -> Response:
    title, once = context.field("title"), context.field("once")
    with context.acting() as act:
        made = making.make_once(
            act,
            once,
            ("course", title),
            lambda name: courses.COURSES.find(act.db, id=name),
            lambda: making.course(act, title),
        )
    return RedirectResponse(f"/courses/{made.id}", 303)


@ROUTES.at("GET", _COURSE, MEMBERS)
def show(context: Context) -> Response:
    with context.reading() as db:
        every = courses.ASSIGNMENTS.all(db, "deadline", "title", course=context.course.id)
        found = [one for one in every if context.is_staff or not one.hidden]
        own, ready = {}, {}  # to a student the own standing, to the staff what is set up
        for one in found:
            if context.is_staff:
                ready[one.id] = checklist.load(db, context.settings, one).is_ready
            else:
                own[one.id] = standings.standing_of(db, one, context.member.submits_as)
    now = datetime.datetime.now()
    early = {one.id for one in found if submissions.is_before(one, now)}
    told: dict[str, Any] = {"own": own, "ready": ready, "early": early, "now": now.timestamp()}
    return rendering.page(context, "course.html", assignments=found, **told)


# --- The course folder that submissions run with -------------------------------------------------


@ROUTES.at("GET", f"{_ONE}/course-folder", TEACHERS)
def show_course_folder(context: Context) -> Response:
    settings, assigned = context.settings, context.assigned
    overlay = own_files.assignment_of(settings, assigned).engine.overlay
    is_there = own_files.has_overlay(settings, assigned)
    return rendering.page(context, "course_folder.html", overlay=overlay, has_overlay=is_there)


# --- Pages on which teachers change or remove an assignment, and rename or remove a course -------

_DATES = ("opens", "deadline", "closes", "deduction", "grace")


@ROUTES.at("GET", f"{_ONE}/change", TEACHERS)
def show_change(context: Context) -> Response:
    with context.reading() as db:
        kept = changes.list_kept(db, context.assigned)
        lost = changes.list_lost(db, context.settings, context.assigned)
    filled = changes.values_of(context.assigned).digest
    return rendering.page(context, "assignment_change.html", kept=kept, lost=lost, filled=filled)


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
    return rendering.page(context, "assignment_change_seen.html", planned=planned)


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


# --- A new assignment in three short steps: which one, its dates, who sees what ------------------
# The steps are forms that ask for the next page with all that was typed, so that going back,
# loading a page again or leaving it changes nothing. Only the last one makes the assignment, and
# the same form makes it once.

_NEW, _NEW_PAGE = f"{_ALL}/new", "assignment_new.html"
_WEEKS = 2  # to the deadline that a form proposes
_LATE_DAYS = 2  # in which late submissions are accepted, if being late costs something
_TYPED = ("title", "opens", "deadline", "closes", "deduction", "grace")
_CARRIED = ("source", "about", "proposed", *_TYPED, "hidden", "once")  # from step to step


@ROUTES.at("GET", _NEW, TEACHERS)
def choose(context: Context) -> Response:
    context = _with_query(context)
    ships = [(one, needs.of(one)) for one in map(assignments.find, shipped.names())]
    carried = {"once": secrets.token_hex(32), **_carry(context, "source")}
    return rendering.page(
        context, _NEW_PAGE, step="which", ships=ships, own=own_files.OWN, carried=carried
    )


@ROUTES.at("GET", f"{_NEW}/dates", TEACHERS)
def set_dates(context: Context) -> Response:
    return _show_dates(_with_query(context))


def _show_dates(context: Context, status: int = 200) -> Response:
    source = _source(context)
    return rendering.page(
        context,
        _NEW_PAGE,
        status,
        step="dates",
        values=_propose(context, source),
        source=source,
        is_own=source == own_files.OWN,
        carried=_carry(context, *_TYPED, "about", "proposed"),
    )


def _propose(context: Context, source: str) -> dict[str, str]:
    """Return what the form is filled with: what was typed before, else sensible dates.

    What a folder of one's own says is not known yet; where nothing is typed, it stands.
    """
    if context.field("about") == source or context.why:
        return {name: context.field(name) for name in _TYPED}
    if source == own_files.OWN:
        return dict.fromkeys(_TYPED, "")
    own = assignments.find(source)
    late, now = own.late, datetime.datetime.now()
    deadline, closes = late.deadline, late.refused_after
    if deadline is None or measure(now, deadline) < datetime.timedelta():  # of another year
        today = now.replace(hour=23, minute=55, second=0, microsecond=0)
        deadline, closes = today + datetime.timedelta(weeks=_WEEKS), None
    days = datetime.timedelta(days=_LATE_DAYS if late.deduction else 0)
    return {
        "title": own.title,
        "opens": "",
        "deadline": to_field(write(deadline)),
        "closes": to_field(write(closes or deadline + days)),
        "deduction": str(late.deduction),
        "grace": str(late.grace_minutes),
    }


@ROUTES.at("GET", f"{_NEW}/visibility", TEACHERS)
def set_visibility(context: Context) -> Response:
    """Show the third step: who sees what, and all that was typed before."""
    return show_last(_move_closing(_with_query(context)))


def _move_closing(context: Context) -> Context:
    """Return a request in which a proposed time to close goes along with another deadline."""
    names = ("deadline", "closes")
    try:
        proposed = [making.moment(one) for one in context.field("proposed").split()]
        deadline, closes = (making.moment(context.field(name)) for name in names)
    except ValueError:  # it is told with the other dates
        return context
    if len(proposed) != len(names) or closes != proposed[1] or deadline == proposed[0]:
        return context
    assert proposed[0] and proposed[1]
    moved = to_field(write(deadline + (proposed[1] - proposed[0]))) if deadline else ""
    typed = {name: context.field(name) for name in _CARRIED}
    return replace(context, form=FormData({**typed, "closes": moved, "proposed": ""}))


def show_last(context: Context) -> Response:
    """Show the third step, with what was typed; the second one if a date cannot be taken."""
    try:
        wanted = _read(context)  # a folder of one's own may give the title that is not typed
        title, grace = wanted.title or wanted.source, max(wanted.grace, 0)
        making.check(wanted._replace(title=title, grace=grace))
    except UsageError as error:
        return _show_dates(replace(context, why=context.why or str(error)), 422)
    source = _source(context)
    is_own = source == own_files.OWN
    return rendering.page(
        context,
        _NEW_PAGE,
        step="visibility",
        wanted=wanted,
        is_own=is_own,
        private="" if is_own else assignments.find(source).cases.private_visible,
        carried=_carry(context, "hidden"),
        back=f"{context.course_page}/assignments/new/dates?{urlencode(_carry(context))}",
    )


def _with_query(context: Context) -> Context:
    """Return a request with what the address carries, as if it came in a form."""
    found = context.request.query_params
    return replace(context, form=FormData({name: found.get(name, "") for name in _CARRIED}))


def _carry(context: Context, *but: str) -> dict[str, str]:
    """Return what a step hands to the next one, besides what its own fields have."""
    found = {name: context.field(name) for name in _CARRIED if name not in but}
    return {name: text for name, text in found.items() if text}


def _source(context: Context) -> str:
    """Return the source that was chosen; raises UsageError if there is none of that name."""
    source = context.field("source")
    return source if source == own_files.OWN else making.check_shipped(source)


@ROUTES.form(_ALL, TEACHERS, show_last)
def assign(context: Context) -> Response:
    making.check_shipped(context.field("source"))
    wanted = _read(context)
    with context.acting() as act:
        made = _make_once(context, act, "", lambda: making.assign(act, wanted))
    return RedirectResponse(f"{context.course_page}/assignments/{made.id}", 303)


@ROUTES.form(f"{_ALL}/own", TEACHERS, show_last, files=forms.MOST)
def assign_own(context: Context) -> Response:
    """Make an assignment of a folder with an assignment.toml."""
    settings, wanted = context.settings, _read(context)._replace(source=own_files.OWN)
    with (
        forms.receive_files(context) as found,
        own_files.unpack(settings, found.path, found.name) as (place, own),
        context.acting() as act,
    ):

        def make() -> CourseAssignment:
            made = own_files.make(act, wanted, place, own)
            private_cases.let_measure(act, made)
            return made

        made = _make_once(context, act, file_system.digest(found.path), make)
    return RedirectResponse(f"{context.course_page}/assignments/{made.id}", 303)


def _make_once(
    context: Context, act: AuditedTransaction, digest: str, make: Callable[[], CourseAssignment]
) -> CourseAssignment:
    """Make an assignment, or return the one that the same form has made."""
    sent = (context.request.url.path, digest, *map(context.field, ("source", *_TYPED, "hidden")))
    once = context.field("once")
    return making.make_once(
        act, once, sent, lambda name: courses.ASSIGNMENTS.find(act.db, id=name), make
    )


def _read(context: Context) -> CourseAssignment:
    """Return the assignment as a form wants it; it has no id yet."""
    told: dict[str, Any] = {name: context.field(name) for name in _TYPED if name != "grace"}
    return CourseAssignment(
        "",
        context.course.id,
        source=context.field("source"),
        grace=making.read_grace(context.field("grace")),
        made=0.0,
        hidden=context.is_ticked("hidden"),
        **told,
    )
