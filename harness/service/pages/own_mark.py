"""The mark of a student, once marks are released: the one that counts, and what people said."""

from __future__ import annotations

from fastapi.responses import Response

from harness.grading.records import Marks
from harness.service.pages import assignment_page, student
from harness.service.pages.gradings import serve_file
from harness.service.records import Grading
from harness.service.storage import comments_and_overrides, uploads
from harness.service.web import rendering
from harness.service.web.access import Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import STUDENTS
from harness.service.work.report_folders import folder_of
from harness.work import canonical_json

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}"


@ROUTES.at("GET", f"{_PATH}/mark", STUDENTS)
def own_mark(here: Now) -> Response:
    """Show the student's mark in the grading that was released last, and what people said."""
    known, found = here.sure(), _find_released(here)
    key = known.member.key
    with here.service.database.reading() as db:
        marked = uploads.mark_of(db, found.id, key)
        own = comments_and_overrides.overrides(db, known.assigned.id).get(key)
        said = student.comments(db, known.assigned.id, [key], known.member)
    if marked is None:
        raise Refused(404, "there is no mark of yours yet")
    shown = canonical_json.loads(Marks, marked.shown)
    trail = assignment_page.crumbs(here, "Your mark")
    return rendering.page(here, "mark.html", trail, shown=shown, override=own, comments=said)


@ROUTES.at("GET", f"{_PATH}/mark/feedback", STUDENTS)
def own_feedback(here: Now) -> Response:
    """Give the student's page of the grading that was released last."""
    known, found = here.sure(), _find_released(here)
    folder = folder_of(here.service.settings.assignment_folder(known.assigned.id), found.id)
    return serve_file(folder, f"feedback/{known.member.key}.html")


def _find_released(here: Here) -> Grading:
    with here.service.database.reading() as db:
        found = uploads.find_released(db, here.sure().assigned.id)
    if found is None:
        raise Refused(404, "there are no marks yet")
    return found
