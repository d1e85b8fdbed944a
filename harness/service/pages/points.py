"""What the parts of an assignment are worth: asked about first, then set."""

from __future__ import annotations

import json

from fastapi.responses import RedirectResponse, Response

from harness.assignments.assignment import Assignment
from harness.service.courses import making, own_files
from harness.service.pages.assignment_page import crumbs
from harness.service.pages.gradings import begun
from harness.service.records import FAULT, PREVIEW, Job
from harness.service.storage import courses, queue
from harness.service.storage.rows import new_id
from harness.service.web import rendering
from harness.service.web.access import TEACHERS, Here, Now, Refused, Routes
from harness.service.work.previewing import Preview

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}/points"
_ONE = f"{_PATH}/{{preview}}"


@ROUTES.at("GET", _PATH, TEACHERS)
def show(here: Now) -> Response:
    """Show what the parts are worth, and ask for other points."""
    return rendering.page(here, "points.html", crumbs(here, "Points"), parts_of=_own(here).marks)


def _own(here: Here) -> Assignment:
    """Return the assignment with its points in this course."""
    assigned = here.sure().assigned
    return making.worth(own_files.assignment_of(here.service.settings, assigned), assigned)


def _address(here: Here, preview: str) -> str:
    known = here.sure()
    return f"/courses/{known.course.id}/assignments/{known.assigned.id}/points/{preview}"


@ROUTES.at("POST", _PATH, TEACHERS)
def ask(here: Now) -> Response:
    """Let a worker find out which marks other points would change."""
    own, made = _own(here), new_id()
    told = {part.name: here.field(f"part {part.name}") for part in own.marks}
    assigned = here.sure().assigned
    Preview(here.service.settings.made(assigned.id), made).begin(making.read_points(own, told))
    with here.service.database.acting(here.by) as act:
        queue.put(act.db, Job("", PREVIEW, assigned.id, made))
    return RedirectResponse(_address(here, made), 303)


@ROUTES.at("GET", _ONE, TEACHERS)
def preview(here: Now) -> Response:
    """Show each mark that would change."""
    assert here.job
    own = _preview(here)
    return rendering.page(
        here,
        "preview.html",
        crumbs(here, "Other points"),
        found=own.read(),
        parts_of=_own(here).marks,
        new=making.with_points(_own(here), own.points).marks,
        fault=here.job.fault if here.job.state == FAULT else "",
    )


def _preview(here: Here) -> Preview:
    assert here.job
    return Preview(here.service.settings.made(here.sure().assigned.id), here.job.about)


@ROUTES.at("POST", f"{_ONE}/set", TEACHERS)
def set_points(here: Now) -> Response:
    """Set the points, and grade with them; marks in force change only if that is accepted."""
    own, assigned = _preview(here), here.sure().assigned
    if own.read() is None:
        raise Refused(409, "it is not known yet what would change")
    points = making.read_points(_own(here), own.points)  # the parts may be others by now
    with here.service.database.acting(here.by) as act:
        courses.ASSIGNMENTS.change(act.db, {"points": json.dumps(points)}, id=assigned.id)
        act.note("points set", assigned.id, points=points)
    return begun(here, public_only=False)
