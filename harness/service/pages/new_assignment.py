"""A new assignment of a course, in three short steps: which one, its dates, who sees what.

The steps are forms that ask for the next page with all that was typed, so that going back, loading
a page again or leaving it changes nothing. Only the last one makes the assignment, and the same
form makes it once.
"""

import datetime
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from harness import shipped
from harness.assignments import assignment as assignments
from harness.assignments import needs
from harness.clock_changes import measure, write
from harness.errors import UsageError
from harness.service.courses import making, own_files
from harness.service.jobs import private_cases
from harness.service.local_times import describe_date, to_field
from harness.service.pages import forms
from harness.service.records import CourseAssignment
from harness.service.storage import courses
from harness.service.storage.audit import AuditedTransaction
from harness.service.web import rendering
from harness.service.web.access import TEACHERS, Context, Routes

ROUTES = Routes()
_ALL = "/courses/{course}/assignments"
_NEW = f"{_ALL}/new"
_WEEKS = 2  # to the deadline that a form proposes
_LATE_DAYS = 2  # in which late submissions are accepted, if being late costs something
_TYPED = ("title", "opens", "deadline", "closes", "deduction", "grace")
_CARRIED = ("source", "about", "proposed", *_TYPED, "hidden", "once")  # from step to step
# What students see of private tests, by what the assignment says.
_SEEN = {
    "nothing": "only the points that they gave",
    "verdict": "which ones passed, without questions and expected answers",
    "command": "which ones passed, with the questions",
    "everything": "questions and expected answers",
}


@ROUTES.at("GET", _NEW, TEACHERS)
def choose(context: Context) -> Response:
    context = _with_query(context)
    every = [
        (one.key, one.title, _describe(one)) for one in map(assignments.find, shipped.names())
    ]
    own = "with assignment.toml, its case files and, if you like, the reference engine"
    every.append((own_files.OWN, "A folder of your own", own))
    carried = {"once": secrets.token_hex(32), **_carry(context, "source")}
    place = f"{context.course_page}/assignments/new/dates"
    choices = [
        (f"{place}?{urlencode({**carried, 'source': key})}", title, words)
        for key, title, words in every
    ]
    return _page(context, "which", choices=choices)


def _describe(assignment: assignments.Assignment) -> str:
    """Return the name of an assignment that ships, and what it needs besides."""
    wanted = [f"a course folder {assignment.engine.overlay}"] if assignment.engine.overlay else []
    programs = ", ".join(tool.name for tool in needs.of(assignment))
    wanted += [f"{programs} on the server"] if programs else []
    return f"{assignment.key}{'. Needs ' if wanted else ''}{' and '.join(wanted)}"


@ROUTES.at("GET", f"{_NEW}/dates", TEACHERS)
def set_dates(context: Context) -> Response:
    return _show_dates(_with_query(context))


def _show_dates(context: Context, status: int = 200) -> Response:
    source = _source(context)
    return _page(
        context,
        "dates",
        status,
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
    unset = "as assignment.toml says" if is_own else "none"
    dates = [
        ("Title", wanted.title or "as assignment.toml says"),
        ("Opens", describe_date(wanted.opens) or "at once"),
        ("Deadline", describe_date(wanted.deadline) or unset),
        ("Closed after", describe_date(wanted.closes) or unset),
    ]
    return _page(
        context,
        "visibility",
        dates=dates,
        is_own=is_own,
        private="" if is_own else _SEEN[assignments.find(source).cases.private_visible],
        carried=_carry(context, "hidden"),
        back=f"{context.course_page}/assignments/new/dates?{urlencode(_carry(context))}",
    )


def _page(context: Context, step: str, status: int = 200, **values: object) -> Response:
    trail = [(context.course.title, context.course_page), ("New assignment", "")]
    return rendering.page(context, "assignment_new.html", trail, status, step=step, **values)


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
            made = own_files.make(act, settings, wanted, place, own)
            private_cases.let_measure(act, settings, made)
            return made

        with found.path.open("rb") as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()
        made = _make_once(context, act, digest, make)
    return RedirectResponse(f"{context.course_page}/assignments/{made.id}", 303)


def _make_once(
    context: Context, act: AuditedTransaction, digest: str, make: Callable[[], CourseAssignment]
) -> CourseAssignment:
    """Make an assignment, or return the one that the same form has made."""
    sent = (context.request.url.path, digest, *map(context.field, ("source", *_TYPED, "hidden")))

    def find(name: str) -> CourseAssignment | None:
        return courses.ASSIGNMENTS.find(act.db, id=name)

    return making.make_once(act, context.field("once"), sent, find, make)


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
