"""Private cases: what they catch, positions for more, and what tests are worth."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.report.board_evidence import Evidence
from harness.report.html import board_drawing
from harness.service.courses import cases, own_files
from harness.service.courses.point_weights import PointWeights, WeighedPart, WeighedTest
from harness.service.jobs import drafts, previews, private_cases
from harness.service.jobs.candidates import DraftFindings
from harness.service.pages import forms
from harness.service.records import CASES, DRAFT, FAULT, MEASURE
from harness.service.storage import queue
from harness.service.web import access, rendering
from harness.service.web.request_context import RequestContext, require_found
from harness.text import read_number

ROUTES = access.Routes()
_MAY = access.require_permission(CASES)
_PATH = "/courses/{course}/assignments/{assignment}/private"
_DRAFT = f"{_PATH}/drafts/{{draft}}"
_MOST_GAMES = 200  # files


@ROUTES.at("GET", _PATH, access.STAFF_ONLY)
def show(context: access.Context) -> Response:
    """Show the private case files, with what they catch, and the drafts."""
    settings, assigned = context.settings, context.assigned
    measured = private_cases.load_measured(settings, assigned)
    with context.reading() as db:
        job = queue.JOBS.find(db, kind=MEASURE, about=measured.about)
        found_drafts = queue.JOBS.all(db, "made", kind=DRAFT, assignment=assigned.id)
    found = measured.caught
    told = {one.name: one for one in found.files} if found else {}
    return rendering.page(
        context,
        "private.html",
        rendering.crumbs(context, "Private case files"),
        files=[(path.name, told.get(path.name)) for path in measured.paths],
        added=[path.name for path in cases.added(settings.private_folder(assigned.id))],
        found=found,
        longest=private_cases.LONGEST,
        doubts=previews.find(settings, assigned, measured),
        fault=job.fault if job and job.state == FAULT else "",
        is_running=job is not None and job.state != FAULT,
        drafts=found_drafts,
        still_left_out=previews.still_left_out(settings, assigned),
        why_no_drafts=drafts.why_not(own_files.assignment_of(settings, assigned)),
    )


def _address(context: RequestContext, *more: str) -> str:
    return "/".join([f"{context.assignment_page}/private", *more])


@ROUTES.form(_PATH, _MAY, show)
def add(context: access.Context) -> Response:
    """Add a case file, or put another one in the place of one of the same name."""
    file = forms.read_upload(context, cases.LARGEST)
    if file is None:
        raise UsageError("choose a case file first")
    with context.acting() as act:
        private_cases.add(act, context.settings, context.assigned, private_cases.NewCase(*file))
    return RedirectResponse(_address(context), 303)


@ROUTES.at("GET", f"{_PATH}/files/{{name}}", access.STAFF_ONLY)
def download(context: access.Context) -> Response:
    found = cases.find(context.settings, context.assigned, context.part("name"))
    path = require_found(found, "there is no such private case file")
    return rendering.attachment(path.name, path.read_bytes(), "text/plain")


@ROUTES.form(f"{_PATH}/remove", _MAY, show)
def remove(context: access.Context) -> Response:
    """Remove a case file, once it was said that this is wanted."""
    name = context.field("name")
    if not forms.is_sure(context):
        cases.require(context.settings.private_folder(context.assigned.id), name)
        question = forms.SecondQuestion(
            f"Remove {name}?",
            "The next grading leaves its tests out, so marks can change. The service keeps no copy"
            " of the file.",
            f"Yes, remove {name}",
            _address(context),
        )
        return forms.ask_again(context, rendering.crumbs(context, f"Remove {name}"), question)
    with context.acting() as act:
        private_cases.remove(act, context.settings, context.assigned, name)
    return RedirectResponse(_address(context), 303)


@ROUTES.form(f"{_PATH}/drafts", _MAY, show, files=_MOST_GAMES)
def begin(context: access.Context) -> Response:
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
        made = drafts.begin(act, context.settings, context.assigned, count, games)
    return RedirectResponse(_address(context, "drafts", made), 303)


@ROUTES.at("GET", _DRAFT, access.STAFF_ONLY)
def show_draft(context: access.Context) -> Response:
    """Show the positions that are chosen, with boards, and what they catch."""
    draft = _draft(context)
    found = draft.load_findings()
    fault = drafts.why_nothing(context.job, found)
    kept = draft.load_choice() if found else drafts.KeptCandidates(())
    places = {place: found.candidates[place].board for place in kept.chosen} if found else {}
    boards = {
        place: board_drawing.board(one.diagram(), Evidence())
        for place, one in places.items()
        if one
    }
    return rendering.page(
        context,
        "draft.html",
        [*rendering.crumbs(context), ("Private case files", _address(context)), ("Positions", "")],
        found=found,
        fault=fault,
        is_running=not found and not fault,
        progress=draft.load_progress(),
        is_long=time.time() - context.job.made > drafts.LONG,
        longest=private_cases.LONGEST,
        chosen=drafts.describe_choice(found, kept) if found else None,
        left_out=[(one, found.candidates[one]) for one in kept.dropped] if found else [],
        boards=boards,
        free=cases.find_free_name(cases.paths(context.settings, context.assigned)),
    )


def _draft(context: RequestContext) -> drafts.DraftFolder:
    return drafts.DraftFolder(context.folder, context.job.about)


@ROUTES.form(f"{_DRAFT}/drop", _MAY, show_draft)
def drop(context: access.Context) -> Response:
    return _change(context, lambda _, kept, place: drafts.drop(kept, place))


@ROUTES.form(f"{_DRAFT}/exchange", _MAY, show_draft)
def exchange(context: access.Context) -> Response:
    """Take another position for one."""
    return _change(context, drafts.exchange)


@ROUTES.form(f"{_DRAFT}/take-back", _MAY, show_draft)
def take_back(context: access.Context) -> Response:
    """Take a position back that was left out or exchanged."""
    return _change(context, drafts.take_back)


Choose = Callable[[DraftFindings, drafts.KeptCandidates, int], drafts.KeptCandidates]


def _change(context: RequestContext, how: Choose) -> Response:
    draft = _draft(context)
    found = draft.require_findings()
    place = read_number(context.field("place"))
    draft.choose(how(found, draft.load_choice(), -1 if place is None else place))
    return RedirectResponse(_address(context, "drafts", context.job.about), 303)


@ROUTES.form(f"{_DRAFT}/write", _MAY, show_draft)
def write(context: access.Context) -> Response:
    """Make a private case file of the positions that are chosen."""
    draft = _draft(context)
    found = draft.require_findings()
    new = drafts.KeptCaseFile(context.field("name"), draft.load_choice())
    with context.acting() as act:
        drafts.write(act, context.settings, context.assigned, found, new)
    return RedirectResponse(_address(context), 303)


# --- What the parts of an assignment and their tests are worth: asked about first, then set ------

_POINTS = "/courses/{course}/assignments/{assignment}/points"
_ONE = f"{_POINTS}/{{preview}}"
_MOST_TESTS = 5000


class PointsChange(NamedTuple):
    """Points of a part or a test, now and then."""

    name: str
    now: Fraction
    then: Fraction


@ROUTES.at("GET", _POINTS, access.STAFF_ONLY)
def show_points(context: access.Context) -> Response:
    """Show what the parts and their tests are worth, and ask for something else."""
    return rendering.page(
        context,
        "points.html",
        rendering.crumbs(context, "Points"),
        parts_of=previews.parts(context.settings, context.assigned),
        field_of=_field,
        still_left_out=previews.still_left_out(context.settings, context.assigned),
    )


def _field(weighed_part: WeighedPart, test: WeighedTest | None = None) -> str:
    """Return what the field of a part, or of a test of it, is called in the form."""
    name = quote(weighed_part.part.name, safe="")
    return f"weight {name} {quote(test.name, safe='')}" if test else f"part {name}"


@ROUTES.form(_POINTS, access.TEACHERS, show_points, fields=_MOST_TESTS)
def ask(context: access.Context) -> Response:
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
        made = previews.ask(act, context.settings, context.assigned, PointWeights(points, weights))
    return RedirectResponse(f"{context.assignment_page}/points/{made}", 303)


@ROUTES.at("GET", _ONE, access.STAFF_ONLY)
def preview(context: access.Context) -> Response:
    """Show each mark that would change."""
    settings, assigned = context.settings, context.assigned
    own = previews.Preview(context.folder, context.job.about)
    doubts = previews.list_doubts(context.service.database, settings, assigned, own)
    # All parts, each with its tests that would be worth something else. Once it is set, "now" is
    # what was in force before.
    changed = []
    now = previews.parts(settings, assigned, own.worth_before)
    for one, other in zip(now, previews.parts(settings, assigned, own.weights), strict=True):
        changed.append(PointsChange(one.part.name, one.part.points, other.part.points))
        changed += [
            PointsChange(f"{one.part.name}: {test.name}", test.weight, same.weight)
            for test, same in zip(one.tests, other.tests, strict=True)
            if test.weight != same.weight
        ]
    return rendering.page(
        context,
        "preview.html",
        rendering.crumbs(context, "New points"),
        still_left_out=previews.would_be_left_out(settings, assigned, own.weights),
        doubts=doubts.warnings,
        unchecked=doubts.unchecked,
        found=own.read(),
        changed=changed,
        fault=context.job.fault if context.job.state == FAULT else "",
        is_set=bool(own.grading),
        stale=previews.explain_stale(settings, assigned, own),
    )


@ROUTES.form(f"{_ONE}/set", access.TEACHERS, preview)
def set_points(context: access.Context) -> Response:
    """Set the points and weights, and grade with them."""
    service, own = context.service, previews.Preview(context.folder, context.job.about)
    how = "" if context.is_ticked("all_the_same") else "tick Grade anyway"
    previews.require_settable(service.database, service.settings, context.assigned, own, how)
    with context.acting() as act:
        made = previews.put_in_force(act, service.settings, context.assigned, own)
    return RedirectResponse(f"{context.assignment_page}/gradings/{made.id}", 303)
