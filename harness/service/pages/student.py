"""One student or group in an assignment, as the staff see it: what they may do for it."""

from __future__ import annotations

from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response

from harness.service.courses import extending, roster
from harness.service.pages import assignment
from harness.service.storage import courses, uploads
from harness.service.web import rendering
from harness.service.web.access import STAFF_ONLY, TEACHERS, Here, Now, Routes

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}/students/{student}"


@ROUTES.at("GET", _PATH, STAFF_ONLY)
def show(here: Now) -> Response:
    """Show what a student or group handed in, and its deadline."""
    known = here.sure()
    with here.service.database.reading() as db:
        members = courses.MEMBERS.all(db, course=known.course.id)
        found = assignment.listed(db, uploads.of_key(db, known.assigned.id, here.student))
        extension = courses.extensions(db, known.assigned.id).get(here.student, "")
    (entry,) = (one for one in roster.students(members) if one.key == here.student)
    return rendering.page(
        here,
        "student.html",
        assignment.crumbs(here, here.student),
        names=[one.name or one.key for one in entry.students],
        uploads=found,
        extension=extension,
    )


@ROUTES.at("POST", f"{_PATH}/extension", TEACHERS)
def extend(here: Now) -> Response:
    """Give a student or group a deadline of its own, or take it back."""
    with here.service.database.acting(here.by) as act:
        extending.extend(act, here.sure().assigned, here.student, here.field("deadline"))
    return _back(here)


def _back(here: Here) -> Response:
    known = here.sure()
    place = f"/courses/{known.course.id}/assignments/{known.assigned.id}"
    return RedirectResponse(f"{place}/students/{quote(here.student, safe='')}", 303)
