"""Private cases: what they catch, positions for more, and what tests are worth."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.report.board_evidence import Evidence
from harness.report.html import board_drawing
from harness.service.courses import cases, own_files
from harness.service.courses.point_weights import PointWeights, WeighedPart, WeighedTest
from harness.service.jobs import drafts, previews, private_cases
from harness.service.jobs.candidates import DraftFindings
from harness.service.jobs.drafts import DraftFolder, DraftRequest, KeptCandidates, KeptCaseFile
from harness.service.jobs.previews import Preview
from harness.service.pages import forms
from harness.service.pages.assignment import crumbs
from harness.service.pages.course import attachment, read_upload
from harness.service.pages.forms import SecondQuestion
from harness.service.records import CASES, DRAFT, FAULT, MEASURE
from harness.service.storage import queue
from harness.service.web import access, rendering
from harness.service.web.request_context import RequestContext, RequestRefused
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
        crumbs(context, "Private case files"),
        files=[(path.name, told.get(path.name)) for path in measured.paths],
        added=[path.name for path in cases.added(context.folder)],
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


@ROUTES.at("POST", _PATH, _MAY, most=access.Form(page=show))
def add(context: access.Context) -> Response:
    """Add a case file, or put another one in the place of one of the same name."""
    file = read_upload(context, cases.LARGEST)
    if file is None:
        raise UsageError("choose a case file first")
    with context.acting() as act:
        new = private_cases.NewCase(*file)
        private_cases.add(act, context.settings, context.assigned, new)
    return RedirectResponse(_address(context), 303)


@ROUTES.at("GET", f"{_PATH}/files/{{name}}", access.STAFF_ONLY)
def download(context: access.Context) -> Response:
    """Give a case file."""
    name = context.request.path_params["name"]
    path = cases.find(context.settings, context.assigned, name)
    if path is None:
        raise RequestRefused(404, "there is no such private case file")
    return attachment(path.name, path.read_bytes(), "text/plain")


@ROUTES.at("POST", f"{_PATH}/remove", _MAY, most=access.Form(page=show))
def remove(context: access.Context) -> Response:
    """Remove a case file, once it was said that this is wanted."""
    name = context.field("name")
    if not forms.is_sure(context):
        cases.require(context.folder, name)
        question = SecondQuestion(
            f"Remove {name}?",
            "The next grading leaves its tests out, so marks can change. The service keeps no copy"
            " of the file.",
            f"Yes, remove {name}",
            _address(context),
        )
        return forms.ask_again(context, crumbs(context, f"Remove {name}"), question)
    with context.acting() as act:
        private_cases.remove(act, context.settings, context.assigned, name)
    return RedirectResponse(_address(context), 303)


# --- positions ---------------------------------------------------------------------------------


@ROUTES.at("POST", f"{_PATH}/drafts", _MAY, most=access.Form(files=_MOST_GAMES, page=show))
def begin(context: access.Context) -> Response:
    """Let a worker find positions, in game records if there are some."""
    request, games = DraftRequest(_tests(context)), list(_games(context))
    with context.acting() as act:
        made = drafts.begin(act, context.settings, context.assigned, request, games)
    return RedirectResponse(_address(context, "drafts", made), 303)


def _tests(context: RequestContext) -> int:
    text = context.field("tests")
    if (count := read_number(text)) is None:
        raise UsageError(f"tests: found {text!r}, expected a number")
    return count


def _games(context: RequestContext) -> Iterator[bytes]:
    left = drafts.LARGEST
    for file in context.form.getlist("games"):
        data = file.file.read(left + 1) if isinstance(file, UploadFile) else b""
        left -= len(data)
        if left < 0:
            raise UsageError(f"the game records are larger than {drafts.LARGEST:,} bytes together")
        if data:
            yield data


@ROUTES.at("GET", _DRAFT, access.STAFF_ONLY)
def show_draft(context: access.Context) -> Response:
    """Show the positions that are chosen, with boards, and what they catch."""
    found = _draft(context).load_findings()
    fault = drafts.why_nothing(context.job, found)
    kept = _draft(context).load_choice() if found else KeptCandidates(())
    return rendering.page(
        context,
        "draft.html",
        [*crumbs(context), ("Private case files", _address(context)), ("Positions", "")],
        found=found,
        fault=fault,
        is_running=not found and not fault,
        progress=_draft(context).load_progress(),
        is_long=time.time() - context.job.made > drafts.LONG,
        longest=private_cases.LONGEST,
        chosen=drafts.describe_choice(found, kept) if found else None,
        left_out=[(one, found.candidates[one]) for one in kept.dropped] if found else [],
        boards=_boards(found, kept.chosen) if found else {},
        free=cases.find_free_name(cases.paths(context.settings, context.assigned)),
    )


def _draft(context: RequestContext) -> DraftFolder:
    return DraftFolder(context.folder, context.job.about)


def _boards(findings: DraftFindings, places: Iterable[int]) -> dict[int, Markup]:
    """Return the boards of candidates, as far as there are some, by their places."""
    boards = {place: findings.candidates[place].board for place in places}
    return {
        place: board_drawing.board(one.diagram(), Evidence())
        for place, one in boards.items()
        if one
    }


@ROUTES.at("POST", f"{_DRAFT}/drop", _MAY, most=access.Form(page=show_draft))
def drop(context: access.Context) -> Response:
    """Leave a position out."""
    return _change(context, lambda _, kept, place: drafts.drop(kept, place))


@ROUTES.at("POST", f"{_DRAFT}/exchange", _MAY, most=access.Form(page=show_draft))
def exchange(context: access.Context) -> Response:
    """Take another position for one."""
    return _change(context, drafts.exchange)


@ROUTES.at("POST", f"{_DRAFT}/take-back", _MAY, most=access.Form(page=show_draft))
def take_back(context: access.Context) -> Response:
    """Take a position back that was left out or exchanged."""
    return _change(context, drafts.take_back)


def _change(
    context: RequestContext, how: Callable[[DraftFindings, KeptCandidates, int], KeptCandidates]
) -> Response:
    draft = _draft(context)
    found = draft.require_findings()
    place = read_number(context.field("place"))
    draft.choose(how(found, draft.load_choice(), -1 if place is None else place))
    return RedirectResponse(_address(context, "drafts", context.job.about), 303)


@ROUTES.at("POST", f"{_DRAFT}/write", _MAY, most=access.Form(page=show_draft))
def write(context: access.Context) -> Response:
    """Make a private case file of the positions that are chosen."""
    draft = _draft(context)
    found = draft.require_findings()
    new = KeptCaseFile(context.field("name"), draft.load_choice())
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
        crumbs(context, "Points"),
        parts_of=_parts(context),
        field_of=_field,
        still_left_out=previews.still_left_out(context.settings, context.assigned),
    )


def _parts(context: RequestContext) -> list[WeighedPart]:
    return previews.parts(context.settings, context.assigned)


def _field(weighed_part: WeighedPart, test: WeighedTest | None = None) -> str:
    """Return what the field of a part, or of a test of it, is called in the form."""
    name = quote(weighed_part.part.name, safe="")
    return f"weight {name} {quote(test.name, safe='')}" if test else f"part {name}"


@ROUTES.at(
    "POST", _POINTS, access.TEACHERS, most=access.Form(fields=_MOST_TESTS, page=show_points)
)
def ask(context: access.Context) -> Response:
    """Let a worker find out which marks would change."""
    told = _read_form(context, _parts(context))
    with context.acting() as act:
        made = previews.ask(act, context.settings, context.assigned, told)
    return RedirectResponse(f"{context.assignment_page}/points/{made}", 303)


def _read_form(context: RequestContext, parts: Sequence[WeighedPart]) -> PointWeights:
    """Return what a form says; a test that is not in it stays as it is."""
    points = {one.part.name: context.field(_field(one)) for one in parts}
    weights = {
        one.part.name: {
            test.name: context.field(_field(one, test))
            for test in one.tests
            if _field(one, test) in context.form
        }
        for one in parts
    }
    return PointWeights(points, weights)


@ROUTES.at("GET", _ONE, access.STAFF_ONLY)
def preview(context: access.Context) -> Response:
    """Show each mark that would change."""
    own, service = _preview(context), context.service
    doubts = previews.list_doubts(service.database, service.settings, context.assigned, own)
    left = previews.would_be_left_out(context.settings, context.assigned, own.weights)
    return rendering.page(
        context,
        "preview.html",
        crumbs(context, "New points"),
        still_left_out=left,
        doubts=doubts.warnings,
        unchecked=doubts.unchecked,
        found=own.read(),
        changed=list(_list_changes(context, own)),
        fault=context.job.fault if context.job.state == FAULT else "",
        is_set=bool(own.grading),
        stale=previews.explain_stale(context.settings, context.assigned, own),
    )


def _list_changes(context: RequestContext, weights_preview: Preview) -> Iterator[PointsChange]:
    """Yield all parts, each with its tests that would be worth something else.

    Once it is set, "now" is what was in force before.
    """
    assigned, settings = context.assigned, context.settings
    now = previews.parts(settings, assigned, weights_preview.worth_before)
    for one, other in zip(
        now, previews.parts(settings, assigned, weights_preview.weights), strict=True
    ):
        yield PointsChange(one.part.name, one.part.points, other.part.points)
        for test, same in zip(one.tests, other.tests, strict=True):
            if test.weight != same.weight:
                yield PointsChange(f"{one.part.name}: {test.name}", test.weight, same.weight)


def _preview(context: RequestContext) -> Preview:
    return Preview(context.folder, context.job.about)


@ROUTES.at("POST", f"{_ONE}/set", access.TEACHERS, most=access.Form(page=preview))
def set_points(context: access.Context) -> Response:
    """Set the points and weights, and grade with them."""
    service, own = context.service, _preview(context)
    how = "" if context.is_ticked("all_the_same") else "tick Grade anyway"
    previews.require_settable(service.database, service.settings, context.assigned, own, how)
    with context.acting() as act:
        made = previews.put_in_force(act, service.settings, context.assigned, own)
    return RedirectResponse(f"{context.assignment_page}/gradings/{made.id}", 303)
