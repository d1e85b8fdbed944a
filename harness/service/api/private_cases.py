"""Private case files, drafts of more, and what tests are worth: for the staff."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from harness.service.api import gradings, requests
from harness.service.courses import cases, point_weights
from harness.service.jobs import candidates, drafts, previews, private_cases
from harness.service.records import CASES, DRAFT, FAULT, Job
from harness.service.storage import queue
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, require_permission
from harness.service.web.request_context import RequestContext, RequestRefused, require_found

ROUTES = requests.ApiRoutes("private case files")
_MAY = require_permission(CASES)
_ALL = "/courses/{course}/assignments/{assignment}/private"
_ONE = f"{_ALL}/{{name}}"
_FILE = requests.describe_file("text/plain", "The text")


class CaseFileShown(BaseModel):
    """A private case file."""

    name: str
    size: int  # bytes
    tests: int | None  # null, here and below: it has not been measured yet
    caught: int | None  # mistakes that it catches
    wrong: list[int] | None  # lines of tests that the reference engine fails


class PrivateCases(BaseModel):
    """The private case files of an assignment, with what they catch."""

    files: list[CaseFileShown]
    caught: int | None  # mistakes that some file catches; null: not measured yet
    of: int | None  # mistakes that are known
    survivors: list[str] | None  # those that no file catches
    given_up: list[str] | None  # wrong programs that took too long to be asked in all files
    doubts: list[str]  # a sentence for each test that may be wrong, and counts
    unchecked: str  # why nobody knows yet if tests are wrong, or ""
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said


@ROUTES.at("GET", _ALL, STAFF_ONLY, name="listed")
def list_cases(context: Context) -> PrivateCases:
    """List the private case files, with what they catch."""
    settings, assigned = context.settings, context.assigned
    left = previews.still_left_out(settings, assigned)
    measured = private_cases.load_measured(settings, assigned)
    found, files = measured.caught, []
    known = {one.name: one._asdict() for one in found.files} if found else {}
    for path in measured.paths:
        catch = known.get(path.name, dict.fromkeys(("tests", "caught", "wrong")))
        own = {"name": path.name, "size": path.stat().st_size}
        files.append(CaseFileShown(**{**catch, **own}))
    unknown = dict.fromkeys(("caught", "of", "survivors", "given_up"))
    told = {**(found._asdict() if found else unknown), "files": files}
    return PrivateCases(
        **told,
        doubts=previews.find(settings, assigned, measured),
        unchecked=previews.explain_unchecked(context.service.database, measured),
        still_left_out=[one.name for one in left],
    )


@ROUTES.at("GET", _ONE, STAFF_ONLY, **_FILE, name="one")
def one_case(context: Context) -> Response:
    """Give a private case file."""
    return Response(_path(context).read_bytes(), media_type="text/plain")


@ROUTES.at("PUT", _ONE, _MAY, name="put")
def put_case(
    context: Context, data: Annotated[bytes, requests.Body("text/plain", cases.LARGEST)]
) -> PrivateCases:
    """Add a private case file, or put another one in the place of one of the same name."""
    name = context.part("name")
    if (fitting := cases.name_of(name)) != name:
        raise RequestRefused(422, f"found the name {name!r}, expected one such as {fitting}")
    with context.acting() as act:
        new = private_cases.NewCase(name, data)
        private_cases.add(act, context.assigned, new)
    return list_cases(context)


@ROUTES.at("DELETE", _ONE, _MAY, name="remove")
def remove_case(context: Context) -> None:
    """Remove a private case file."""
    name = _path(context).name
    with context.acting() as act:
        private_cases.remove(act, context.assigned, name)


def _path(context: RequestContext) -> Path:
    found = cases.find(context.settings, context.assigned, context.part("name"))
    return require_found(found, "there is no such private case file")


# --- Drafts of private cases: found by a worker, chosen here; never for students -----------------

DRAFT_ROUTES = requests.ApiRoutes("drafts of private cases")
_ALL_DRAFTS = "/courses/{course}/assignments/{assignment}/drafts"
_ONE_DRAFT = f"{_ALL_DRAFTS}/{{draft}}"
State = Literal["running", "done", "failed"]


class DraftLine(BaseModel):
    """A draft in a list."""

    id: str
    at: requests.Moment
    state: State
    fault: str  # why there are no positions


class BoardShown(BaseModel):
    """A board, from its top row on: ``.`` empty, ``X`` black, ``O`` white."""

    rows: list[str]


class DraftTest(BaseModel, from_attributes=True):
    """A test, in words."""

    question: str
    answer: str
    reason: str


class PositionShown(BaseModel):
    """Tests that are chosen, dropped and exchanged together."""

    position: int  # names it in this draft
    kind: str
    sentence: str
    origin: str
    board: BoardShown | None  # null: the game has none, or nobody here knows it
    setup: list[str]  # commands that lead there, for a game of one's own
    tests: list[DraftTest]
    caught: int  # mistakes
    only: int  # those that nothing else chosen catches


class OnlyPublicShown(BaseModel):
    """A mistake that public tests catch, and no private one."""

    mistake: str
    files: list[str]  # the public case files that catch it


class DraftShown(DraftLine):
    """A draft, with the positions that are chosen."""

    caught: int | None  # mistakes, with the existing private case files; null if not yet known
    of: int | None  # known mistakes
    survivors: list[str]  # those that nothing catches, public tests neither
    only_public: list[OnlyPublicShown]  # those that only public tests catch
    remarks: list[str]  # why some games were not used
    given_up: list[str]  # wrong programs that hung; nobody knows what catches them
    now: str  # what is done and which program is asked, while state is running
    positions: list[PositionShown]
    left_out: list[int]  # positions that were dropped or exchanged, and can be taken back


class PositionNamed(BaseModel):
    """One of the positions."""

    position: int = Field(ge=0, lt=1 << 31)


class CaseFileWanted(BaseModel):
    """Name of the case file that is made of a draft; no existing one is replaced."""

    name: str = Field(default="", max_length=60, description="empty: one that is free")


@DRAFT_ROUTES.at("GET", _ALL_DRAFTS, STAFF_ONLY, name="listed")
def list_drafts(context: Context, page: requests.Asked) -> requests.Page[DraftLine]:
    """List the drafts of an assignment, the first one first."""
    order, named = ("made", "about"), {"kind": DRAFT, "assignment": context.assigned.id}
    with context.reading() as db:
        found = requests.find_page(db, queue.JOBS, order, page, **named)
    return found.show(
        lambda one: DraftLine(**_members(one, _folder(context, one).load_findings()))
    )


@DRAFT_ROUTES.at("POST", _ALL_DRAFTS, _MAY, status_code=201)
def begin(
    context: Context,
    data: Annotated[bytes, requests.Body(largest=drafts.LARGEST, required=False)],
    tests: Annotated[int, Query(ge=1, le=drafts.MOST_TESTS, description="at most")] = 16,
    key: requests.Key = "",
) -> DraftShown:
    """Let a worker find positions; the body has game records (SGF), one after the other, or none.

    Without game records, or for features that they lack, positions are made at random.
    """
    assigned, games = context.assigned, [data] if data else []
    sent = ("draft", assigned.id, str(tests), hashlib.sha256(data).hexdigest())
    with context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: drafts.begin(act, assigned, tests, games)
        )
        (job,) = queue.of(act.db, made)
    return _describe_draft(context, job)


@DRAFT_ROUTES.at("GET", _ONE_DRAFT, STAFF_ONLY, name="one")
def one_draft(context: Context) -> DraftShown:
    """Show the positions that are chosen, and what they catch."""
    return _describe_draft(context, context.job)


@DRAFT_ROUTES.at("POST", f"{_ONE_DRAFT}/drop", _MAY)
def drop(context: Context, body: requests.Json[PositionNamed]) -> DraftShown:
    """Leave a position out."""
    return _change(context, lambda _, kept: drafts.drop(kept, body.position))


@DRAFT_ROUTES.at("POST", f"{_ONE_DRAFT}/exchange", _MAY)
def exchange(context: Context, body: requests.Json[PositionNamed]) -> DraftShown:
    """Take another position for one."""
    return _change(context, lambda found, kept: drafts.exchange(found, kept, body.position))


@DRAFT_ROUTES.at("POST", f"{_ONE_DRAFT}/take-back", _MAY)
def take_back(context: Context, body: requests.Json[PositionNamed]) -> DraftShown:
    """Take a position back that was left out or exchanged."""
    return _change(context, lambda found, kept: drafts.take_back(found, kept, body.position))


def _change(
    context: RequestContext,
    how: Callable[[candidates.DraftFindings, drafts.KeptCandidates], drafts.KeptCandidates],
) -> DraftShown:
    own = _folder(context, context.job)
    own.change(how)
    return _describe_draft(context, context.job)


@DRAFT_ROUTES.at("POST", f"{_ONE_DRAFT}/write", _MAY)
def write(context: Context, body: requests.Json[CaseFileWanted]) -> PrivateCases:
    """Make a private case file of the positions that are chosen; it counts from now on."""
    own = _folder(context, context.job)
    found, new = own.require_findings(), drafts.KeptCaseFile(body.name, own.load_choice())
    with context.acting() as act:
        drafts.write(act, context.assigned, found, new)
    return list_cases(context)


def _folder(context: RequestContext, job: Job) -> drafts.DraftFolder:
    return drafts.DraftFolder(context.settings.assignment_folder(job.assignment), job.about)


def _members(job: Job, found: candidates.DraftFindings | None) -> dict[str, Any]:
    fault = drafts.why_nothing(job, found)
    state: State = "failed" if fault else "done" if found else "running"
    return {"id": job.about, "at": job.made, "state": state, "fault": fault}


def _describe_draft(context: RequestContext, job: Job) -> DraftShown:
    own = _folder(context, job)
    found = own.load_findings()
    told = _members(job, found)
    if found is None:
        names = ("survivors", "only_public", "remarks", "given_up", "positions", "left_out")
        told |= {"caught": None, "of": None, **{name: [] for name in names}}
        return DraftShown(**told, now=": ".join(filter(None, own.load_progress())))
    kept = own.load_choice()
    choice = drafts.describe_choice(found, kept)
    positions = []
    for one in choice.candidates:
        position = {**one.candidate._asdict(), **one._asdict(), "position": one.place}
        board = one.candidate.board
        position["board"] = BoardShown(rows=board.text()) if board else None
        positions.append(PositionShown(**position))
    return DraftShown(
        **told,
        caught=choice.caught,
        of=len(found.mistakes),
        survivors=list(choice.alive),
        only_public=[OnlyPublicShown(**one._asdict()) for one in choice.only_public],
        remarks=list(found.remarks),
        given_up=list(found.given_up),
        now="",
        positions=positions,
        left_out=list(kept.dropped),
    )


# --- What parts of an assignment and their tests are worth: asked about first, then set ----------

POINTS_ROUTES = requests.ApiRoutes("points")
_POINTS = "/courses/{course}/assignments/{assignment}/points"
_ONE_PREVIEW = f"{_POINTS}/{{preview}}"


class TestShown(BaseModel):
    """A test of a part; all those of a file that have the same number."""

    name: str  # FILE:ID; the ID of tests without a number is -1
    commands: list[str]
    weight: str  # 0 if it does not count


class PartWorthShown(BaseModel):
    """A part of the marks, as it is in the course. Numbers are exact: ``4``, or ``1/3``."""

    name: str
    points: str
    judged_by: str  # files, public or private
    tests: list[TestShown]


class PointsShown(BaseModel):
    """Points of parts and weights of tests of an assignment in the course."""

    parts: list[PartWorthShown]
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said


class PointsWanted(BaseModel):
    """Points and weights to ask about. What is not named stays as it is."""

    points: dict[str, str] = Field(
        default={}, description="of parts, by name: such as 4, 0.5 or 1/3"
    )
    weights: dict[str, dict[str, str]] = Field(
        default={}, description="of tests, by part and by FILE:ID; 0 if a test does not count"
    )


class MarkChangeShown(BaseModel):
    """A mark that would change."""

    key: str  # of the student or group
    names: str
    change: str  # from what to what, and why


class PreviewShown(BaseModel):
    """The marks that other points or weights would change; nothing has been changed."""

    id: str
    state: Literal["running", "done", "failed"]
    fault: str  # why the harness failed
    points: dict[str, str]
    weights: dict[str, dict[str, str]]  # those that are not as the assignment has them
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said
    marks: int | None  # in the last grading; null: not known yet
    changes: list[MarkChangeShown] | None


@POINTS_ROUTES.at("GET", _POINTS, STAFF_ONLY)
def points(context: Context) -> PointsShown:
    """Show what the parts and their tests are worth."""
    settings, assigned, parts = context.settings, context.assigned, []
    for one in previews.parts(settings, assigned):
        tests = [
            TestShown(name=test.name, commands=list(test.commands), weight=str(test.weight))
            for test in one.tests
        ]
        own = {"points": str(one.part.points), "judged_by": one.part.judged_by}
        parts.append(PartWorthShown(name=one.part.name, **own, tests=tests))
    left = previews.still_left_out(settings, assigned)
    return PointsShown(parts=parts, still_left_out=[one.name for one in left])


@POINTS_ROUTES.at("POST", _POINTS, TEACHERS, status_code=201)
def ask(context: Context, body: requests.Json[PointsWanted]) -> PreviewShown:
    """Ask which marks would change; nothing is changed."""
    told = point_weights.PointWeights(body.points, body.weights)
    with context.acting() as act:
        made = previews.ask(act, context.assigned, told)
        (job,) = queue.of(act.db, made)
    return _preview(context, job)


@POINTS_ROUTES.at("GET", _ONE_PREVIEW, STAFF_ONLY)
def preview(context: Context) -> PreviewShown:
    """Show each mark that would change."""
    return _preview(context, context.job)


@POINTS_ROUTES.at("POST", f"{_ONE_PREVIEW}/set", TEACHERS, status_code=201)
def put_in_force(
    context: Context,
    all_the_same: Annotated[
        bool, Query(description="even if private tests may be wrong, or are not checked yet")
    ] = False,
) -> gradings.GradingShown:
    """Set these points and weights, and grade; marks in force change only if that is accepted."""
    service, own = context.service, previews.Preview(context.folder, context.job.about)
    how = "" if all_the_same else "send all_the_same"
    previews.require_settable(service.database, service.settings, context.assigned, own, how)
    with context.acting() as act:
        made = previews.put_in_force(act, context.assigned, own)
        doubts = previews.find_now(context.settings, context.assigned)
        return gradings.describe_grading(act.db, made, doubts)


def _preview(context: RequestContext, job: Job) -> PreviewShown:
    own = previews.Preview(context.settings.assignment_folder(job.assignment), job.about)
    left = previews.would_be_left_out(context.settings, context.assigned, own.weights)
    found, asked = own.read(), own.weights
    is_over: Literal["done", "running"] = "done" if found else "running"
    changes = found and [
        MarkChangeShown(key=one.key, names=one.names, change=one.told) for one in found.changes
    ]
    return PreviewShown(
        id=job.about,
        state="failed" if job.state == FAULT else is_over,
        fault=job.fault if job.state == FAULT else "",
        points=dict(asked.points),
        weights={part: dict(own_) for part, own_ in asked.weights.items()},
        still_left_out=[one.name for one in left],
        marks=found.marks if found else None,
        changes=changes,
    )
