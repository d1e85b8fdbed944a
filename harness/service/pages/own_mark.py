"""The mark of a student, once marks are released: the one that counts, and what people said."""

from __future__ import annotations

from typing import NamedTuple

from fastapi.responses import Response
from sqlalchemy import Connection

from harness.grading.exports.feedback import put_mark
from harness.grading.records import Marks, counting_mark
from harness.service.courses.gradings import as_given
from harness.service.jobs.result_files import folder_of
from harness.service.pages import assignment_page, student
from harness.service.pages.gradings import serve_file
from harness.service.records import Grading, Override
from harness.service.storage import uploads
from harness.service.web import rendering
from harness.service.web.access import Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import STUDENTS
from harness.work import canonical_json

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}"


class _OwnMark(NamedTuple):
    """What a student may see of a mark."""

    grading: Grading  # that was released last
    shown: Marks  # as computed
    override: Override | None


@ROUTES.at("GET", f"{_PATH}/mark", STUDENTS)
def own_mark(here: Now) -> Response:
    """Show the student's mark in the grading that was released last, and what people said."""
    known = here.sure()
    with here.service.database.reading() as db:
        own = _find(db, here)
        said = student.comments(db, known.assigned.id, [known.member.key], known.member)
    trail = assignment_page.crumbs(here, "Your mark")
    return rendering.page(
        here, "mark.html", trail, shown=own.shown, override=own.override, comments=said
    )


@ROUTES.at("GET", f"{_PATH}/mark/feedback", STUDENTS)
def own_feedback(here: Now) -> Response:
    """Give the student's page of the grading that was released last, with the mark that counts.

    The page is written with the mark of that time. Once a later grading has marks, it is not
    written again.
    """
    known = here.sure()
    with here.service.database.reading() as db:
        own = _find(db, here)
    folder = folder_of(here.service.settings.assignment_folder(known.assigned.id), own.grading.id)
    given = as_given(own.override) if own.override else None
    counting = counting_mark(own.shown, given)
    name = f"feedback/{known.member.key}.html"
    return serve_file(folder, name, lambda content: put_mark(content, counting))


def _find(db: Connection, here: Here) -> _OwnMark:
    """Return the mark of the student who asks.

    Raises:
        Refused: there is none, or it is not released.
    """
    known = here.sure()
    released = uploads.find_released(db, known.assigned.id)
    if released is None:
        raise Refused(404, "there are no marks yet")
    marked = uploads.mark_of(db, released.id, known.member.key)
    if marked is None:
        raise Refused(404, "there is no mark of yours yet")
    override = uploads.overrides(db, known.assigned.id).get(known.member.key)
    return _OwnMark(released, canonical_json.loads(Marks, marked.shown), override)
