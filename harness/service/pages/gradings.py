"""Gradings: begun and released by teachers, read by the staff."""

from __future__ import annotations

import datetime
import json
import mimetypes
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.grading.exports import sheet
from harness.grading.records import Marks, decimal
from harness.service import machines
from harness.service.courses import gradebooks, gradings
from harness.service.courses.deadlines import list_open_dates
from harness.service.courses.gradings import (
    Together,
    format_counting_mark,
    list_outdated,
    together,
)
from harness.service.jobs import private_cases, wrong_expectations
from harness.service.jobs.result_files import folder_of
from harness.service.pages import assignment, forms
from harness.service.pages.course import SmallFile, attachment, read_upload
from harness.service.pages.forms import SecondQuestion
from harness.service.records import (
    EXPORT,
    FAULT,
    GRADE,
    GRADE_CLASS,
    Grading,
    Marked,
    Override,
    Received,
)
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import Act
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import STAFF_ONLY, TEACHERS, Here, whoever_may
from harness.work import canonical_json

ROUTES = Routes()
_ALL = "/courses/{course}/assignments/{assignment}"
_ONE = f"{_ALL}/gradings/{{grading}}"
_POLICY = re.compile(rb'http-equiv="Content-Security-Policy" content="([^"]*)"')


class Row(NamedTuple):
    """A line of the table of marks."""

    key: str
    mark: str
    note: str
    given: str  # by a person instead; empty: the computed mark counts
    page: str = ""  # the key of whose page to look at; "" if all have left the course


@ROUTES.at("POST", f"{_ALL}/gradings", whoever_may(GRADE_CLASS), most=Form(page=assignment.show))
def begin(here: Now) -> Response:
    """Grade all that was submitted."""
    public_only = here.field("public_only") == "yes"
    if not public_only:
        how = "tick without private case files"
        private_cases.require_some(here.service.settings, here.sure().assigned, how)
    if not public_only and here.field("all_the_same") != "yes":
        service, tick = here.service, "tick Grade all the same"
        wrong_expectations.require_none(
            service.database, service.settings, here.sure().assigned, tick
        )
    with here.service.database.acting(here.by) as act:
        made = gradings.begin(act, here.sure().assigned, public_only=public_only)
    return RedirectResponse(_address(here, made.id), 303)


def _address(here: Here, name: str) -> str:
    known = here.sure()
    return f"/courses/{known.course.id}/assignments/{known.assigned.id}/gradings/{name}"


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def show(here: Now) -> Response:
    """Show a grading."""
    assert here.grading
    with here.service.database.reading() as db:
        jobs = queue.of(db, here.grading.id)
        rows = _rows(db, here.grading, here.sure().course.id)
        state = gradings.state(db, here.grading)
        later = gradings.find_later(db, here.grading)
        outdated = [] if later else list_outdated(db, here.grading)
        open_dates = list_open_dates(db, here.sure().assigned, datetime.datetime.now())
    folder = _folder(here)
    return rendering.page(
        here,
        "grading.html",
        assignment.crumbs(here, "Grading"),
        is_running=state == "running",
        left=queue.count_unfinished(jobs, GRADE),
        stuck=machines.complaint(here.service.settings),
        distrusted=_set_aside_since(here),
        faults=[one for one in jobs if one.state == FAULT],
        is_exporting=queue.count_unfinished(jobs, EXPORT) > 0,
        changes=json.loads(here.grading.changes),
        doubts=[] if here.grading.public_only else _find_doubts(here),
        marks=rows,
        outdated=outdated,
        later=later,
        open_dates=open_dates,
        names=gradings.names(folder),
        gradebooks=gradebooks.list_kept(folder.parent.parent, folder),
        platforms=gradebooks.FILES,
        rosters=gradebooks.kept_rosters(here.service.settings, here.sure().course.id),
    )


def _find_doubts(here: Here) -> list[str]:
    return wrong_expectations.find_now(here.service.settings, here.sure().assigned)


def _set_aside_since(here: Here) -> list[str]:
    """Return the machines that were set aside after a grading; those in it ran nothing for it."""
    assert here.grading
    done = here.grading.concluded
    return machines.set_aside(here.service.settings, done) if done else []


def _rows(db: Connection, one: Grading, course: str) -> list[Row]:
    """Return a line for each mark, and for each student of the course who got none."""
    own = uploads.overrides(db, one.assignment)
    got = uploads.RECEIVED_BY.all(db, "student", grading=one.id)
    students: dict[str, list[str]] = {}
    for each in got:
        students.setdefault(each.key, []).append(each.student)
    marked = [
        _row(each, together(own, students.get(each.key, [])))
        for each in uploads.MARKS.all(db, "key", grading=one.id)
    ]
    newcomers = gradings.list_unmarked(db, one, course)
    present = {each.submits_as for each in courses.students(db, course)}
    linked = [row._replace(page=row.key if row.key in present else "") for row in marked]
    return linked + [
        Row(each.member.key, "none", each.why, "", each.member.submits_as) for each in newcomers
    ]


def _row(marked: Marked, own: list[Together]) -> Row:
    marks = canonical_json.loads(Marks, marked.marks)
    told = (
        f"{', '.join(o.who)}{': ' if o.who else ''}{format_counting_mark(marks, o.override)}"
        for o in own
    )
    return Row(marked.key, format_counting_mark(marks, None), marks.note, "; ".join(told))


def _folder(here: Here) -> Path:
    assert here.grading
    return folder_of(
        here.service.settings.assignment_folder(here.grading.assignment), here.grading.id
    )


@ROUTES.at("GET", f"{_ONE}/files/{{name:path}}", STAFF_ONLY)
def show_export(here: Now) -> Response:
    """Give a page or a sheet of a grading."""
    return serve_file(_folder(here), here.request.path_params["name"])


@ROUTES.at("POST", f"{_ONE}/release", TEACHERS, most=Form(page=show))
def release(here: Now) -> Response:
    """Let students see their marks, once it was said that this is wanted: a tick says it, too."""
    assert here.grading
    is_early, leaves = (here.field(one) == "yes" for one in ("early", "unchanged"))
    with here.service.database.acting(here.by) as act:
        if not (is_early or leaves or forms.is_sure(here)):
            gradings.require_releasable(act, here.grading, is_early=False, leaves_changes=False)
            return _ask_to_release(here, here.grading)
        gradings.release(act, here.grading, is_early=is_early, leaves_changes=leaves)
    return RedirectResponse(_address(here, here.grading.id), 303)


def _ask_to_release(here: Here, one: Grading) -> Response:
    question = SecondQuestion(
        f"Release the marks of {here.sure().assigned.title}?",
        "Students then see their mark and the feedback. This cannot be undone.",
        "Yes, release the marks",
        _address(here, one.id),
    )
    return forms.ask_again(here, assignment.crumbs(here, "Release the marks"), question)


@ROUTES.at("POST", f"{_ONE}/accept", TEACHERS, most=Form(page=show))
def accept(here: Now) -> Response:
    """Change the marks in force that would change."""
    return _act(here, gradings.accept)


@ROUTES.at("POST", f"{_ONE}/again", TEACHERS, most=Form(page=show))
def again(here: Now) -> Response:
    """Try again what the harness failed in."""
    return _act(here, gradings.try_again)


def _act(here: Here, action: Callable[[Act, Grading], None]) -> Response:
    assert here.grading
    with here.service.database.acting(here.by) as act:
        action(act, here.grading)
    return RedirectResponse(_address(here, here.grading.id), 303)


@ROUTES.at("POST", f"{_ONE}/gradebooks", TEACHERS, most=Form(page=show))
def take_gradebook(here: Now) -> Response:
    """Take a download of a platform, to be filled in with the marks."""
    assert here.grading
    known, file = here.sure(), read_upload(here, gradebooks.LARGEST)
    sent = file or SmallFile("", b"")  # the one of the roster
    own = gradebooks.GradebookWanted(here.field("platform"), here.field("columns"), *sent)
    with here.service.database.acting(here.by) as act:
        gradebooks.take(act, here.service.settings, known.assigned, here.grading, own)
    return RedirectResponse(_address(here, here.grading.id), 303)


@ROUTES.at("GET", f"{_ONE}/gradebooks/{{name}}", TEACHERS)
def show_gradebook(here: Now) -> Response:
    """Give a gradebook of a platform, filled in."""
    path = gradebooks.filled(_folder(here), here.request.path_params["name"])
    if path is None:
        raise Refused(404, "there is no such gradebook")
    return attachment(path.name, path.read_bytes(), "text/csv")


@ROUTES.at("GET", f"{_ONE}/given", STAFF_ONLY)
def marks_given(here: Now) -> Response:
    """Give the marks that count as a CSV: those of people where there are some."""
    assert here.grading
    with here.service.database.reading() as db:
        got = uploads.RECEIVED_BY.all(db, "student", grading=here.grading.id)
        marked = {one.key: one for one in uploads.MARKS.all(db, grading=here.grading.id)}
        own = uploads.overrides(db, here.grading.assignment)
    rows = [["student", "group", "computed", "given", "of", "reason"]]
    rows += [
        _line(one, canonical_json.loads(Marks, marked[one.key].marks), own.get(one.student))
        for one in got
    ]
    return attachment("marks-given.csv", sheet.table(rows).encode(), "text/csv")


def _line(got: Received, marks: Marks, own: Override | None) -> list[str]:
    computed = "" if marks.withheld else decimal(marks.total)
    points = decimal(Fraction(own.points)) if own else computed
    reason = own.reason if own else ""
    group = got.key if got.key != got.student else ""
    return [got.student, group, computed, points, decimal(marks.of), reason]


def serve_file(folder: Path, name: str, update: Callable[[str], str] = str) -> Response:
    """Return a file that the harness wrote: a page to be read, all else to be saved.

    ``update``: makes the page that is shown of the one that was written.
    """
    path = gradings.path_of_file(folder, name)
    if path is None:
        raise Refused(404, "there is no such file")
    data = path.read_bytes()
    if path.suffix != ".html":
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return attachment(re.sub(r"[^\w.-]", "_", path.name, flags=re.ASCII), data, kind)
    policy = _POLICY.search(data)
    own = policy[1].decode() if policy else "default-src 'none'"
    headers = {"content-security-policy": f"{own}; frame-ancestors 'none'"}
    return Response(update(data.decode()), media_type="text/html; charset=utf-8", headers=headers)
