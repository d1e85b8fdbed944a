"""What an assignment is graded by, and its gradings: private case files, points, releases."""

import datetime
import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from harness.core.errors import UsageError
from harness.core.text import natural_order, read_number
from harness.grading.exports import sheet
from harness.grading.records import Marks, decimal
from harness.match.tournament import SWISS
from harness.service import machines, records
from harness.service.courses import cases, deadlines, gradebooks, gradings, own_files
from harness.service.courses.point_weights import PointWeights, WeighedPart, WeighedTest
from harness.service.jobs import drafts, previews, private_cases, tournaments
from harness.service.jobs.candidates import DraftFindings
from harness.service.pages import assignment, forms
from harness.service.storage import audit, courses, queue, uploads
from harness.service.web import rendering
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, Routes, require_permission
from harness.service.web.request_context import RequestContext, require_found
from harness.work import canonical_json

ROUTES = Routes()
_ALL = "/courses/{course}/assignments/{assignment}"
_ONE = f"{_ALL}/gradings/{{grading}}"


@ROUTES.form(f"{_ALL}/gradings", require_permission(records.GRADE_CLASS), assignment.show)
def begin(context: Context) -> Response:
    """Grade all that was submitted."""
    public_only = context.is_ticked("public_only")
    remedies = (
        "" if public_only else "tick Only public case files",
        "" if context.is_ticked("all_the_same") else "tick Grade anyway",
    )
    database, settings = context.service.database, context.settings
    previews.require_gradable(database, settings, context.assigned, remedies)
    with context.acting() as act:
        made = gradings.begin(act, context.assigned, public_only=public_only)
    return RedirectResponse(f"{context.assignment_page}/gradings/{made.id}", 303)


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def show(context: Context) -> Response:
    return _show(context)


def _show(context: RequestContext, unchanged: Sequence[str] = ()) -> Response:
    """Return the page of a grading; ``unchanged``: a sentence for each mark that stays."""
    grading, settings, assigned = context.grading, context.settings, context.assigned
    with context.reading() as db:
        jobs = queue.of(db, grading.id)
        overrides, students = uploads.overrides(db, grading.assignment), defaultdict(list)
        for recipient in uploads.RECEIVED_BY.all(db, "student", grading=grading.id):
            students[recipient.key].append(recipient.student)
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
        unchanged=unchanged,
        is_exporting=queue.count_unfinished(jobs, records.EXPORT) > 0,
        changes=json.loads(grading.changes),
        doubts=[] if grading.public_only else previews.find_now(settings, assigned),
        marks=[
            (
                one.key,
                canonical_json.loads(Marks, one.marks),
                gradings.shared_overrides(overrides, students[one.key]),
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


@ROUTES.at("GET", f"{_ONE}/files/{{name:path}}", STAFF_ONLY)
def show_export(context: Context) -> Response:
    return rendering.serve_file(context.grading_folder, context.part("name"))


@ROUTES.form(f"{_ONE}/release", TEACHERS, show)
def release(context: Context) -> Response:
    """Let students see their marks, after a confirmation; a tick is one, too."""
    is_early, leaves = context.is_ticked("early"), context.is_ticked("unchanged")
    with context.acting() as act:
        if not (is_early or leaves or forms.is_sure(context)):
            gradings.require_releasable(act, context.grading, is_early=False, leaves_changes=False)
            back = context.grading_page
            return forms.ask_again(context, "release", back, context.assigned.title)
        gradings.release(act, context.grading, is_early=is_early, leaves_changes=leaves)
    return RedirectResponse(context.grading_page, 303)


@ROUTES.form(f"{_ONE}/accept", TEACHERS, show)
def accept(context: Context) -> Response:
    """Change the marks in force that would change."""
    return _act(context, gradings.accept)


@ROUTES.form(f"{_ONE}/again", TEACHERS, show)
def again(context: Context) -> Response:
    """Try again what the harness failed in."""
    return _act(context, gradings.try_again)


def _act(
    context: RequestContext, action: Callable[[audit.AuditedTransaction, records.Grading], object]
) -> Response:
    with context.acting() as act:
        action(act, context.grading)
    return RedirectResponse(context.grading_page, 303)


@ROUTES.form(f"{_ONE}/tournament", TEACHERS, show)
def begin_tournament(context: Context) -> Response:
    choice = context.field("points"), context.field("format") or SWISS
    return _act(context, lambda act, one: tournaments.begin(act, context.assigned, one, choice))


@ROUTES.form(f"{_ONE}/tournament/count", require_permission(records.OVERRIDE), show)
def count_tournament(context: Context) -> Response:
    """Let ranks count in marks, and show whose marks stay."""
    with context.acting() as act:
        unchanged = tournaments.count_points(act, context.assigned, context.grading)
    return _show(context, unchanged) if unchanged else RedirectResponse(context.grading_page, 303)


@ROUTES.at("GET", f"{_ONE}/tournament/{{name:path}}", STAFF_ONLY)
def show_tournament(context: Context) -> Response:
    return rendering.serve_file(_tournament(context), context.part("name"))


def _tournament(context: RequestContext) -> Path:
    return tournaments.folder_in(context.settings, context.grading)


@ROUTES.form(f"{_ONE}/gradebooks", TEACHERS, show)
def take_gradebook(context: Context) -> Response:
    """Take a download of a platform, to be filled in with the marks."""
    upload = forms.read_upload(context, gradebooks.LARGEST) or ("", b"")  # that of the roster
    platform, columns = context.field("platform"), context.field("columns")
    request = gradebooks.GradebookRequest(platform, columns, *upload)
    return _act(context, lambda act, one: gradebooks.take(act, context.assigned, one, request))


@ROUTES.at("GET", f"{_ONE}/gradebooks/{{name}}", TEACHERS)
def show_gradebook(context: Context) -> Response:
    found = gradebooks.filled(context.grading_folder, context.part("name"))
    path = require_found(found, "there is no such gradebook")
    return rendering.attachment(path.name, path.read_bytes(), "text/csv")


@ROUTES.at("GET", f"{_ONE}/given", STAFF_ONLY)
def export_counting_marks(context: Context) -> Response:
    """Return the marks that count as a CSV: those of people where there are some."""
    with context.reading() as db:
        recipients = uploads.RECEIVED_BY.all(db, "student", grading=context.grading.id)
        marked = {one.key: one for one in uploads.MARKS.all(db, grading=context.grading.id)}
        overrides = uploads.overrides(db, context.grading.assignment)
    rows = [["student", "group", "computed", "given", "of", "reason"]]
    for one in recipients:
        marks = canonical_json.loads(Marks, marked[one.key].marks)
        override = overrides.get(one.student)
        group = one.key if one.key != one.student else ""
        computed = "" if marks.withheld else decimal(marks.total)
        points = decimal(Fraction(override.points)) if override else computed
        reason = override.reason if override else ""
        rows.append([one.student, group, computed, points, decimal(marks.of), reason])
    return rendering.attachment("marks-given.csv", sheet.table(rows).encode(), "text/csv")


# --- Private case files: what they catch, and positions for more ---------------------------------

_EDITORS = require_permission(records.CASES)
_PRIVATE = f"{_ALL}/private"
_DRAFT = f"{_PRIVATE}/drafts/{{draft}}"
_MOST_GAMES = 200  # files


@ROUTES.at("GET", _PRIVATE, STAFF_ONLY)
def show_cases(context: Context) -> Response:
    """Show the private case files, with what they catch, and the drafts."""
    settings, assigned = context.settings, context.assigned
    measured = private_cases.load_measured(settings, assigned)
    with context.reading() as db:
        job = queue.JOBS.find(db, kind=records.MEASURE, about=measured.about)
        shown_drafts = queue.JOBS.all(db, "made", kind=records.DRAFT, assignment=assigned.id)
    caught = measured.caught
    by_name = {one.name: one for one in caught.files} if caught else {}
    return rendering.page(
        context,
        "private.html",
        files=[(path.name, by_name.get(path.name)) for path in measured.paths],
        added=[path.name for path in cases.added(settings.private_folder(assigned.id))],
        found=caught,
        longest=private_cases.LONGEST,
        doubts=previews.find(settings, assigned, measured),
        fault=job.fault if job and job.state == records.FAULT else "",
        is_running=job is not None and job.state != records.FAULT,
        drafts=shown_drafts,
        still_left_out=previews.still_left_out(settings, assigned),
        why_no_drafts=drafts.why_not(own_files.assignment_of(settings, assigned)),
    )


def _address(context: RequestContext, *more: str) -> str:
    return "/".join([f"{context.assignment_page}/private", *more])


@ROUTES.form(_PRIVATE, _EDITORS, show_cases)
def add(context: Context) -> Response:
    """Add a case file, or put another one in the place of one of the same name."""
    file = forms.read_upload(context, cases.LARGEST)
    if file is None:
        raise UsageError("choose a case file first")
    with context.acting() as act:
        private_cases.add(act, context.assigned, private_cases.NewCase(*file))
    return RedirectResponse(_address(context), 303)


@ROUTES.at("GET", f"{_PRIVATE}/files/{{name}}", STAFF_ONLY)
def download(context: Context) -> Response:
    found = cases.find(context.settings, context.assigned, context.part("name"))
    path = require_found(found, "there is no such private case file")
    return rendering.attachment(path.name, path.read_bytes(), "text/plain")


@ROUTES.form(f"{_PRIVATE}/remove", _EDITORS, show_cases)
def remove(context: Context) -> Response:
    """Remove a case file, after a confirmation."""
    name = context.field("name")
    if not forms.is_sure(context):
        cases.require(context.settings.private_folder(context.assigned.id), name)
        return forms.ask_again(context, "remove case file", _address(context), name)
    with context.acting() as act:
        private_cases.remove(act, context.assigned, name)
    return RedirectResponse(_address(context), 303)


@ROUTES.form(f"{_PRIVATE}/drafts", _EDITORS, show_cases, files=_MOST_GAMES)
def begin_draft(context: Context) -> Response:
    """Let a worker find positions, in game records if there are some."""
    text = context.field("tests")
    if (count := read_number(text)) is None:
        raise UsageError(f"tests: found {text!r}, expected a number")
    left, games = drafts.LARGEST, []
    for file in context.form.getlist("games"):
        data = file.file.read(left + 1) if isinstance(file, UploadFile) else b""
        left -= len(data)
        if left < 0:
            raise UsageError(f"the game records are larger than {drafts.LARGEST:,} bytes together")
        games += [data] if data else []
    with context.acting() as act:
        made = drafts.begin(act, context.assigned, count, games)
    return RedirectResponse(_address(context, "drafts", made), 303)


@ROUTES.at("GET", _DRAFT, STAFF_ONLY)
def show_draft(context: Context) -> Response:
    """Show the positions that are chosen, with boards, and what they catch."""
    draft = _draft(context)
    found = draft.load_findings()
    fault = drafts.why_nothing(context.job, found)
    kept = draft.load_choice() if found else drafts.KeptCandidates(())
    return rendering.page(
        context,
        "draft.html",
        found=found,
        fault=fault,
        is_running=not found and not fault,
        progress=draft.load_progress(),
        is_long=time.time() - context.job.made > drafts.LONG,
        longest=private_cases.LONGEST,
        chosen=drafts.describe_choice(found, kept) if found else None,
        left_out=[(one, found.candidates[one]) for one in kept.dropped] if found else [],
        free=cases.find_free_name(cases.paths(context.settings, context.assigned)),
    )


def _draft(context: RequestContext) -> drafts.DraftFolder:
    return drafts.DraftFolder(context.folder, context.job.about)


@ROUTES.form(f"{_DRAFT}/drop", _EDITORS, show_draft)
def drop(context: Context) -> Response:
    return _change_draft(context, lambda _, kept, place: drafts.drop(kept, place))


@ROUTES.form(f"{_DRAFT}/exchange", _EDITORS, show_draft)
def exchange(context: Context) -> Response:
    """Take another position for one."""
    return _change_draft(context, drafts.exchange)


@ROUTES.form(f"{_DRAFT}/take-back", _EDITORS, show_draft)
def take_back(context: Context) -> Response:
    """Take a position back that was left out or exchanged."""
    return _change_draft(context, drafts.take_back)


def _change_draft(
    context: RequestContext,
    change: Callable[[DraftFindings, drafts.KeptCandidates, int], drafts.KeptCandidates],
) -> Response:
    number = read_number(context.field("place"))
    place = -1 if number is None else number
    _draft(context).change(lambda found, kept: change(found, kept, place))
    return RedirectResponse(_address(context, "drafts", context.job.about), 303)


@ROUTES.form(f"{_DRAFT}/write", _EDITORS, show_draft)
def write(context: Context) -> Response:
    """Make a private case file of the positions that are chosen."""
    draft = _draft(context)
    found = draft.require_findings()
    new = drafts.KeptCaseFile(context.field("name"), draft.load_choice())
    with context.acting() as act:
        drafts.write(act, context.assigned, found, new)
    return RedirectResponse(_address(context), 303)


# --- What the parts of an assignment and their tests are worth: asked about first, then set ------

_POINTS = f"{_ALL}/points"
_PREVIEW = f"{_POINTS}/{{preview}}"
_MOST_TESTS = 5000


@ROUTES.at("GET", _POINTS, STAFF_ONLY)
def show_points(context: Context) -> Response:
    """Show what the parts and their tests are worth, and ask for something else."""
    parts = previews.parts(context.settings, context.assigned)
    left = previews.still_left_out(context.settings, context.assigned)
    return rendering.page(
        context, "points.html", parts_of=parts, field_of=_field, still_left_out=left
    )


def _field(weighed_part: WeighedPart, test: WeighedTest | None = None) -> str:
    """Return what the field of a part, or of a test of it, is called in the form."""
    name = quote(weighed_part.part.name, safe="")
    return f"weight {name} {quote(test.name, safe='')}" if test else f"part {name}"


@ROUTES.form(_POINTS, TEACHERS, show_points, fields=_MOST_TESTS)
def ask(context: Context) -> Response:
    """Let a worker find out which marks would change."""
    parts = previews.parts(context.settings, context.assigned)
    points = {one.part.name: context.field(_field(one)) for one in parts}
    # A test that is not in the form stays as it is.
    weights = {
        one.part.name: {
            test.name: context.field(_field(one, test))
            for test in one.tests
            if _field(one, test) in context.form
        }
        for one in parts
    }
    with context.acting() as act:
        made = previews.ask(act, context.assigned, PointWeights(points, weights))
    return RedirectResponse(f"{context.assignment_page}/points/{made}", 303)


@ROUTES.at("GET", _PREVIEW, STAFF_ONLY)
def preview(context: Context) -> Response:
    """Show each mark that would change."""
    settings, assigned = context.settings, context.assigned
    shown = previews.Preview(context.folder, context.job.about)
    doubts, unchecked = previews.list_doubts(context.service.database, settings, assigned, shown)
    # All parts, each with its tests that would be worth something else. Once it is set, "now" is
    # what was in force before.
    changed = []
    now = previews.parts(settings, assigned, shown.worth_before)
    for one, other in zip(now, previews.parts(settings, assigned, shown.weights), strict=True):
        changed.append((one.part.name, one.part.points, other.part.points))
        changed += [
            (f"{one.part.name}: {test.name}", test.weight, same.weight)
            for test, same in zip(one.tests, other.tests, strict=True)
            if test.weight != same.weight
        ]
    return rendering.page(
        context,
        "preview.html",
        still_left_out=previews.would_be_left_out(settings, assigned, shown.weights),
        doubts=doubts,
        unchecked=unchecked,
        found=shown.read(),
        changed=changed,
        fault=context.job.fault if context.job.state == records.FAULT else "",
        is_set=bool(shown.grading),
        stale=previews.explain_stale(settings, assigned, shown),
    )


@ROUTES.form(f"{_PREVIEW}/set", TEACHERS, preview)
def set_points(context: Context) -> Response:
    """Set the points and weights, and grade with them."""
    service, shown = context.service, previews.Preview(context.folder, context.job.about)
    remedy = "" if context.is_ticked("all_the_same") else "tick Grade anyway"
    previews.require_settable(service.database, service.settings, context.assigned, shown, remedy)
    with context.acting() as act:
        made = previews.put_in_force(act, context.assigned, shown)
    return RedirectResponse(f"{context.assignment_page}/gradings/{made.id}", 303)
