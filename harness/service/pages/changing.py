"""Pages on which teachers change or remove an assignment, and rename or remove a course."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.service.courses import changes, making
from harness.service.courses.changes import Change
from harness.service.local_times import keep_same
from harness.service.pages import assignment_page, forms
from harness.service.records import Assigned
from harness.service.storage import courses
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.here import Here
from harness.service.web.rules import TEACHERS

ROUTES = Routes()
_COURSE = "/courses/{course}"
_ONE = f"{_COURSE}/assignments/{{assignment}}"
_DATES = ("opens", "deadline", "closes", "deduction", "grace")


@ROUTES.at("GET", f"{_ONE}/change", TEACHERS)
def show(here: Now) -> Response:
    """Show the forms by which an assignment is changed or removed."""
    known, settings = here.sure(), here.service.settings
    with here.service.database.reading() as db:
        kept = changes.list_kept(db, known.assigned)
        lost = changes.list_lost(db, settings, known.assigned)
    filled = changes.values_of(known.assigned).digest
    trail = assignment_page.crumbs(here, "Change or remove")
    return rendering.page(
        here, "assignment_change.html", trail, kept=kept, lost=lost, filled=filled
    )


@ROUTES.at("POST", f"{_ONE}/change", TEACHERS, most=Form(page=show))
def change(here: Now) -> Response:
    """Change an assignment, once it was seen what changes for those who have submitted."""
    known, wanted, filled = here.sure(), _read(here), here.field("filled") or None
    # Before the dates are judged, which may fit no longer.
    changes.values_of(known.assigned).require(filled)
    with here.service.database.acting(here.by) as act:
        planned = changes.plan(act.db, known.assigned, wanted)
        is_to_be_seen = _moves_dates(known.assigned, planned) and bool(
            planned.ended or changes.list_kept(act.db, known.assigned)
        )
        seen = here.field("seen")
        if not is_to_be_seen or seen:
            changes.change(act, known.assigned, wanted, seen or None, filled)
            return RedirectResponse(_address(here), 303)
    trail = assignment_page.crumbs(here, "Change")
    return rendering.page(here, "assignment_change_seen.html", trail, planned=planned)


def _read(here: Here) -> Assigned:
    """Return the assignment as the form wants it."""
    now = here.sure().assigned
    return now._replace(
        title=here.field("title"),
        opens=keep_same(here.field("opens"), now.opens),
        deadline=keep_same(here.field("deadline"), now.deadline),
        closes=keep_same(here.field("closes"), now.closes),
        deduction=here.field("deduction"),
        grace=making.read_grace(here.field("grace"), 0),
        hidden=here.field("hidden") == "yes",
    )


def _moves_dates(now: Assigned, planned: Change) -> bool:
    return any(getattr(now, name) != getattr(planned.made, name) for name in _DATES)


def _address(here: Here) -> str:
    known = here.sure()
    return f"/courses/{known.course.id}/assignments/{known.assigned.id}"


@ROUTES.at("POST", f"{_ONE}/remove", TEACHERS, most=Form(page=show))
def remove(here: Now) -> Response:
    """Remove an assignment that nobody has submitted to."""
    known = here.sure()
    _require_tick(here)
    with here.service.database.acting(here.by) as act:
        changes.remove_assignment(act, known.assigned)
    changes.clear(here.service.settings, known.assigned)
    return RedirectResponse(f"/courses/{known.course.id}", 303)


def _require_tick(here: Here) -> None:
    if not forms.is_sure(here):
        raise UsageError("to remove it, tick that you want this")


@ROUTES.at("GET", f"{_COURSE}/change", TEACHERS)
def show_course(here: Now) -> Response:
    """Show the forms by which a course is renamed or removed."""
    assert here.course
    with here.service.database.reading() as db:
        kept = changes.list_kept_in_course(db, here.course)
        students = courses.students(db, here.course.id)
        found = courses.ASSIGNMENTS.all(db, "title", course=here.course.id)
    trail = [(here.course.title, f"/courses/{here.course.id}"), ("Rename or remove", "")]
    return rendering.page(
        here,
        "course_change.html",
        trail,
        kept=kept,
        students=students,
        assignments=found,
        filled=changes.values_of_course(here.course).digest,
    )


@ROUTES.at("POST", f"{_COURSE}/change", TEACHERS, most=Form(page=show_course))
def rename_course(here: Now) -> Response:
    """Give a course another title."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        filled = here.field("filled") or None
        changes.rename_course(act, here.course, here.field("title"), filled)
    return RedirectResponse(f"/courses/{here.course.id}", 303)


@ROUTES.at("POST", f"{_COURSE}/remove", TEACHERS, most=Form(page=show_course))
def remove_course(here: Now) -> Response:
    """Remove a course that nobody has submitted in."""
    assert here.course
    _require_tick(here)
    with here.service.database.acting(here.by) as act:
        removed = changes.remove_course(act, here.course)
    changes.clear_course(here.service.settings, here.course, removed)
    return RedirectResponse("/", 303)
