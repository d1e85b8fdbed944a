"""The students of a course: a roster is taken, students are removed and added again."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.service.courses import former_students, roster, roster_files
from harness.service.courses.roster import RosterOutcome
from harness.service.courses.roster_files import RosterFile
from harness.service.pages import course
from harness.service.web import rendering
from harness.service.web.access import TEACHERS, Form, Here, Now, Routes

ROUTES = Routes()
_COURSE = "/courses/{course}"


@ROUTES.at("POST", f"{_COURSE}/roster", TEACHERS, most=Form(page=course.show))
def take_roster(here: Now) -> Response:
    """Take a roster, and show what it changed."""
    assert here.course
    name, wanted = _read(here)
    with here.service.database.acting(here.by) as act:
        found = roster.take(act, here.course.id, wanted)
    trail = [(here.course.title, f"/courses/{here.course.id}"), ("Roster", "")]
    return rendering.page(
        here, "roster.html", trail, name=name, found=found, summary=summarize(found)
    )


def _read(here: Here) -> tuple[str, RosterFile]:
    """Return the name and the content of the file that a form sends."""
    file = here.form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise UsageError("choose a file with the roster first")
    with tempfile.NamedTemporaryFile(dir=here.service.settings.data, prefix=".roster-") as copy:
        shutil.copyfileobj(file.file, copy)
        copy.flush()
        try:
            found = roster_files.read(Path(copy.name), file.filename)
        except (
            UsageError
        ) as error:  # a page begins with a capital letter, and a name may have none
            raise UsageError(f"the roster cannot be used: {error}") from None
    return roster_files.show_name(file.filename), found


def summarize(found: RosterOutcome) -> str:
    """Return a sentence with the numbers of an outcome."""
    changed = {one.student for one in found.changed} - {one.key for one in found.returned}
    again = f"{len(found.returned)} added again, " if found.returned else ""
    return f"{len(found.added)} added, {again}{len(changed)} changed, {found.same} as before"


@ROUTES.at("POST", f"{_COURSE}/students/remove", TEACHERS, most=Form(page=course.show))
def remove(here: Now) -> Response:
    """Remove a student from the course."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        former_students.remove(act, here.course.id, here.field("student"))
    return RedirectResponse(f"/courses/{here.course.id}", 303)


@ROUTES.at("POST", f"{_COURSE}/students/restore", TEACHERS, most=Form(page=course.show))
def restore(here: Now) -> Response:
    """Add a removed student again."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        former_students.restore(act, here.course.id, here.field("student"))
    return RedirectResponse(f"/courses/{here.course.id}", 303)
