"""Gradings: begun and released by teachers, read by the staff."""

import datetime
import json
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from fastapi.responses import RedirectResponse, Response

from harness.grading.exports import sheet
from harness.grading.records import Marks, decimal
from harness.match.tournament import SWISS
from harness.service import machines, records
from harness.service.courses import deadlines, gradebooks, gradings, own_files
from harness.service.jobs import previews, tournaments
from harness.service.pages import assignment, forms
from harness.service.storage import audit, courses, queue, uploads
from harness.service.web import access, rendering
from harness.service.web.request_context import RequestContext, require_found
from harness.text import natural_order
from harness.work import canonical_json

ROUTES = access.Routes()
_ALL = "/courses/{course}/assignments/{assignment}"
_ONE = f"{_ALL}/gradings/{{grading}}"


@ROUTES.form(f"{_ALL}/gradings", access.require_permission(records.GRADE_CLASS), assignment.show)
def begin(context: access.Context) -> Response:
    """Grade all that was submitted."""
    public_only = context.is_ticked("public_only")
    how = (
        "" if public_only else "tick Only public case files",
        "" if context.is_ticked("all_the_same") else "tick Grade anyway",
    )
    previews.require_gradable(context.service.database, context.settings, context.assigned, how)
    with context.acting() as act:
        made = gradings.begin(act, context.assigned, public_only=public_only)
    return RedirectResponse(f"{context.assignment_page}/gradings/{made.id}", 303)


@ROUTES.at("GET", _ONE, access.STAFF_ONLY)
def show(context: access.Context) -> Response:
    grading, settings, assigned = context.grading, context.settings, context.assigned
    with context.reading() as db:
        jobs = queue.of(db, grading.id)
        own, students = uploads.overrides(db, grading.assignment), defaultdict(list)
        for got in uploads.RECEIVED_BY.all(db, "student", grading=grading.id):
            students[got.key].append(got.student)
        present = {one.submits_as for one in courses.students(db, context.course.id)}
        marked = uploads.MARKS.all(db, grading=grading.id)
        unmarked = gradings.list_unmarked(db, grading, context.course.id)
        state = gradings.state(db, grading)
        later = gradings.find_later(db, grading)
        outdated = [] if later else gradings.list_outdated(db, grading)
        open_dates = deadlines.list_open_dates(db, assigned, datetime.datetime.now())
    folder, played, done = context.grading_folder, _tournament(context), grading.concluded
    return rendering.page(
        context,
        "grading.html",
        is_running=state == "running",
        left=queue.count_unfinished(jobs, records.GRADE),
        stuck=machines.complaint(settings),
        # Machines that were set aside after a grading; those in it ran nothing for it.
        distrusted=machines.set_aside(settings, done) if done else [],
        faults=[one for one in jobs if one.state == records.FAULT],
        plays=tournaments.can_play(own_files.assignment_of(settings, assigned)),
        is_playing=queue.count_unfinished(jobs, records.TOURNAMENT) > 0,
        has_played=tournaments.has_pages(played),
        formats=tournaments.FORMATS,
        tournament=tournaments.load_choice(played),
        is_exporting=queue.count_unfinished(jobs, records.EXPORT) > 0,
        changes=json.loads(grading.changes),
        doubts=[] if grading.public_only else previews.find_now(settings, assigned),
        marks=[
            (
                one.key,
                canonical_json.loads(Marks, one.marks),
                gradings.shared_overrides(own, students[one.key]),
            )
            for one in sorted(marked, key=lambda one: natural_order(one.key))
        ],
        present=present,
        unmarked=unmarked,
        outdated=outdated,
        later=later,
        open_dates=open_dates,
        names=sorted(gradings.names(folder), key=natural_order),
        gradebooks=gradebooks.list_kept(folder.parent.parent, folder),
        platforms=gradebooks.FILES,
        rosters=gradebooks.kept_rosters(settings, context.course.id),
    )


@ROUTES.at("GET", f"{_ONE}/files/{{name:path}}", access.STAFF_ONLY)
def show_export(context: access.Context) -> Response:
    return rendering.serve_file(context.grading_folder, context.part("name"))


@ROUTES.form(f"{_ONE}/release", access.TEACHERS, show)
def release(context: access.Context) -> Response:
    """Let students see their marks, once it was said that this is wanted: a tick says it, too."""
    is_early, leaves = context.is_ticked("early"), context.is_ticked("unchanged")
    with context.acting() as act:
        if not (is_early or leaves or forms.is_sure(context)):
            gradings.require_releasable(act, context.grading, is_early=False, leaves_changes=False)
            back = context.grading_page
            return forms.ask_again(context, "release", back, context.assigned.title)
        gradings.release(act, context.grading, is_early=is_early, leaves_changes=leaves)
    return RedirectResponse(context.grading_page, 303)


@ROUTES.form(f"{_ONE}/accept", access.TEACHERS, show)
def accept(context: access.Context) -> Response:
    """Change the marks in force that would change."""
    return _act(context, gradings.accept)


@ROUTES.form(f"{_ONE}/again", access.TEACHERS, show)
def again(context: access.Context) -> Response:
    """Try again what the harness failed in."""
    return _act(context, gradings.try_again)


def _act(
    context: RequestContext, action: Callable[[audit.AuditedTransaction, records.Grading], object]
) -> Response:
    with context.acting() as act:
        action(act, context.grading)
    return RedirectResponse(context.grading_page, 303)


@ROUTES.form(f"{_ONE}/tournament", access.TEACHERS, show)
def begin_tournament(context: access.Context) -> Response:
    settings, assigned = context.settings, context.assigned
    choice = context.field("points"), context.field("format") or SWISS
    return _act(context, lambda act, one: tournaments.begin(act, settings, assigned, one, choice))


@ROUTES.form(f"{_ONE}/tournament/count", access.require_permission(records.OVERRIDE), show)
def count_tournament(context: access.Context) -> Response:
    """Let ranks count in marks."""
    assigned, folder = context.assigned, _tournament(context)
    return _act(context, lambda act, one: tournaments.count_points(act, assigned, one, folder))


@ROUTES.at("GET", f"{_ONE}/tournament/{{name:path}}", access.STAFF_ONLY)
def show_tournament(context: access.Context) -> Response:
    return rendering.serve_file(_tournament(context), context.part("name"))


def _tournament(context: RequestContext) -> Path:
    return tournaments.folder_in(context.settings, context.grading)


@ROUTES.form(f"{_ONE}/gradebooks", access.TEACHERS, show)
def take_gradebook(context: access.Context) -> Response:
    """Take a download of a platform, to be filled in with the marks."""
    sent = forms.read_upload(context, gradebooks.LARGEST) or ("", b"")  # that of the roster
    own = gradebooks.GradebookWanted(context.field("platform"), context.field("columns"), *sent)
    with context.acting() as act:
        gradebooks.take(act, context.settings, context.assigned, context.grading, own)
    return RedirectResponse(context.grading_page, 303)


@ROUTES.at("GET", f"{_ONE}/gradebooks/{{name}}", access.TEACHERS)
def show_gradebook(context: access.Context) -> Response:
    found = gradebooks.filled(context.grading_folder, context.part("name"))
    path = require_found(found, "there is no such gradebook")
    return rendering.attachment(path.name, path.read_bytes(), "text/csv")


@ROUTES.at("GET", f"{_ONE}/given", access.STAFF_ONLY)
def marks_given(context: access.Context) -> Response:
    """Give the marks that count as a CSV: those of people where there are some."""
    with context.reading() as db:
        got = uploads.RECEIVED_BY.all(db, "student", grading=context.grading.id)
        marked = {one.key: one for one in uploads.MARKS.all(db, grading=context.grading.id)}
        own = uploads.overrides(db, context.grading.assignment)
    rows = [["student", "group", "computed", "given", "of", "reason"]]
    for one in got:
        marks = canonical_json.loads(Marks, marked[one.key].marks)
        override = own.get(one.student)
        group = one.key if one.key != one.student else ""
        computed = "" if marks.withheld else decimal(marks.total)
        points = decimal(Fraction(override.points)) if override else computed
        reason = override.reason if override else ""
        rows.append([one.student, group, computed, points, decimal(marks.of), reason])
    return rendering.attachment("marks-given.csv", sheet.table(rows).encode(), "text/csv")
