"""Gradings and their tournaments: begun and released by teachers, read by the staff."""

import json
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.grading.records import decimal
from harness.match.tournament import SWISS
from harness.service.api import requests
from harness.service.api.requests import Asked, Json, Key, Page
from harness.service.courses import gradebooks, gradings
from harness.service.jobs import previews, tournaments
from harness.service.records import FAULT, GRADE, GRADE_CLASS, OVERRIDE, TOURNAMENT, Grading
from harness.service.storage import audit, queue, uploads
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, require_permission
from harness.service.web.request_context import RequestContext, require_found

ROUTES = requests.ApiRoutes("gradings")
_ALL = "/courses/{course}/assignments/{assignment}/gradings"
_ONE = f"{_ALL}/{{grading}}"
_FILE = requests.describe_file()


class GradingFault(BaseModel):
    """Something in which the harness failed; it costs no marks."""

    student: str  # whose submission; empty: the class
    fault: str


class GradingShown(BaseModel):
    """A grading. ``failed``: it made no marks."""

    id: str
    at: requests.Moment
    public_only: bool
    state: gradings.State
    left: int  # submissions that are still to be run
    trouble: str  # why no marks were made or changed; empty if they were
    faults: list[GradingFault]
    accepted: bool  # marks in force were changed
    decisions: list[str]  # what waits for a teacher, a phrase each
    changes: list[str]  # a sentence for each mark in force that would change, or did
    is_last: bool  # no later grading has marks; the files of an earlier one are those of its time
    outdated_overrides: list[str]  # a sentence for each, given when other points could be reached
    doubts: list[str]  # a sentence for each private test that may be wrong, and counts


class GradingWanted(BaseModel):
    """A grading that is to be begun."""

    public_only: bool = False
    all_the_same: bool = False  # even if private tests may be wrong, or are not checked yet


class GradingFiles(BaseModel):
    """The pages and sheets of a grading."""

    names: list[str]


@ROUTES.at("GET", _ALL, STAFF_ONLY)
def listed(context: Context, page: Asked) -> Page[GradingShown]:
    """List the gradings of an assignment, the first one first."""
    order, named = ("at", "id"), {"assignment": context.assigned.id}
    with context.reading() as db:
        found = requests.find_page(db, uploads.GRADINGS, order, page, **named)
        doubts = previews.find_now(context.settings, context.assigned)
        return found.show(lambda one: describe_grading(db, one, doubts))


@ROUTES.at("POST", _ALL, require_permission(GRADE_CLASS), status_code=201)
def begin(context: Context, body: Json[GradingWanted], key: Key = "") -> GradingShown:
    """Grade all that was submitted."""
    assigned, only = context.assigned, body.public_only
    how = ("" if only else "send public_only", "" if body.all_the_same else "send all_the_same")
    previews.require_gradable(context.service.database, context.settings, assigned, how)
    sent = ("grading", assigned.id, str(only))
    with context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: gradings.begin(act, assigned, public_only=only).id
        )
        return _find(context, act.db, made)


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def one(context: Context) -> GradingShown:
    """Show a grading."""
    doubts = previews.find_now(context.settings, context.assigned)
    with context.reading() as db:
        return describe_grading(db, context.grading, doubts)


@ROUTES.at("POST", f"{_ONE}/release", TEACHERS)
def release(
    context: Context,
    early: Annotated[bool, Query(description="even while students can still submit")] = False,
    unchanged: Annotated[bool, Query(description="even if marks would change")] = False,
) -> GradingShown:
    """Let students see their marks.

    409 while some can still submit, without ``early``; 409 if marks would change, without
    ``unchanged``.
    """
    return _act(
        context,
        lambda act, one: gradings.release(act, one, is_early=early, leaves_changes=unchanged),
    )


@ROUTES.at("POST", f"{_ONE}/accept", TEACHERS)
def accept(context: Context) -> GradingShown:
    """Change the marks in force that would change."""
    return _act(context, gradings.accept)


@ROUTES.at("POST", f"{_ONE}/again", TEACHERS)
def again(context: Context) -> GradingShown:
    """Try again what the harness failed in."""
    return _act(context, gradings.try_again)


def _act(
    context: RequestContext, action: Callable[[audit.AuditedTransaction, Grading], None]
) -> GradingShown:
    with context.acting() as act:
        action(act, context.grading)
        return _find(context, act.db, context.grading.id)


@ROUTES.at("GET", f"{_ONE}/files", STAFF_ONLY)
def files(context: Context) -> GradingFiles:
    """List the pages and sheets that a grading wrote."""
    return GradingFiles(names=gradings.names(context.grading_folder))


@ROUTES.at("GET", f"{_ONE}/files/{{name:path}}", STAFF_ONLY, **_FILE)
def file(context: Context) -> Response:
    """Give a page or a sheet of a grading."""
    found = gradings.path_of_file(context.grading_folder, context.part("name"))
    data = require_found(found, "there is no such file").read_bytes()
    return Response(data, media_type=requests.BYTES)


class GradebookShown(BaseModel):
    """A gradebook of a platform that is filled in with the marks."""

    platform: str
    columns: list[str]  # that are filled in; none: those that the platform has
    is_filled: bool  # false: a worker has yet to do it
    notes: list[str]  # sentences: how many rows were filled in, and which were not


class Gradebooks(BaseModel):
    """The gradebooks of an assignment."""

    gradebooks: list[GradebookShown]


@ROUTES.at("GET", f"{_ONE}/gradebooks", TEACHERS)
def list_gradebooks(context: Context) -> Gradebooks:
    """List the gradebooks that are filled in with the marks."""
    folder = context.grading_folder
    kept = gradebooks.list_kept(folder.parent.parent, folder)
    told = [one if one.is_filled else one._replace(notes=()) for one in kept]
    return Gradebooks(gradebooks=[GradebookShown(**one._asdict()) for one in told])


@ROUTES.at("PUT", f"{_ONE}/gradebooks/{{name}}", TEACHERS)
def take_gradebook(
    context: Context,
    data: Annotated[bytes, requests.Body("text/csv", gradebooks.LARGEST, required=False)],
    columns: Annotated[str, Query(max_length=500, description="as --canvas-column")] = "",
) -> Gradebooks:
    """Take a download, ``canvas`` or ``moodle``, to be filled in; empty: the one of the roster."""
    request = gradebooks.GradebookRequest(context.part("name"), columns, data=data)
    with context.acting() as act:
        gradebooks.take(act, context.assigned, context.grading, request)
    return list_gradebooks(context)


@ROUTES.at("GET", f"{_ONE}/gradebooks/{{name}}", TEACHERS, **_FILE)
def gradebook(context: Context) -> Response:
    """Give a gradebook, ``canvas`` or ``moodle``, filled in with the marks."""
    found = gradebooks.filled(context.grading_folder, context.part("name"))
    data = require_found(found, "there is no such gradebook").read_bytes()
    return Response(data, media_type=requests.BYTES)


def _find(context: RequestContext, db: Connection, name: str) -> GradingShown:
    found = uploads.GRADINGS.find(db, id=name)
    assert found  # gradings are never removed
    return describe_grading(db, found, previews.find_now(context.settings, context.assigned))


def describe_grading(db: Connection, grading: Grading, doubts: list[str]) -> GradingShown:
    """Return a grading as the API tells it."""
    jobs = queue.of(db, grading.id)
    is_last = not uploads.has_marks_after(db, grading)
    return GradingShown(
        **{**grading._asdict(), "changes": json.loads(grading.changes)},
        state=gradings.state(db, grading),
        left=queue.count_unfinished(jobs, GRADE),
        faults=[GradingFault(student=j.key, fault=j.fault) for j in jobs if j.state == FAULT],
        accepted=grading.accept,
        decisions=gradings.phrase(gradings.find_decisions(db, grading)),
        is_last=is_last,
        outdated_overrides=gradings.list_outdated(db, grading) if is_last else [],
        doubts=[] if grading.public_only else doubts,
    )


# --- The tournament of a grading: begun and counted by teachers, read by the staff ---------------

TOURNAMENT_ROUTES = requests.ApiRoutes("gradings")
_TOURNAMENT = f"{_ONE}/tournament"


class RankShown(BaseModel):
    """Rank and results of a student in a tournament."""

    student: str
    rank: int
    won: int
    drawn: int
    lost: int
    points: str  # decimal digits; empty: ranks are worth nothing


class TournamentShown(BaseModel):
    """The tournament of a grading."""

    state: Literal["none", "playing", "played"]
    format: str
    points: str  # of the first rank; the last has none
    ranks: list[RankShown]  # the best first


class TournamentWanted(BaseModel):
    """A tournament that is to be played."""

    format: Literal["swiss", "round-robin"] = SWISS  # type: ignore[assignment]
    points: str = Field("0", description="that the first rank is worth, such as 3")


class Counted(BaseModel):
    """Marks after a tournament is counted."""

    unchanged: list[str]  # a sentence for each student whose mark stays


@TOURNAMENT_ROUTES.at("GET", _TOURNAMENT, STAFF_ONLY, name="show")
def show_tournament(context: Context) -> TournamentShown:
    """Show the tournament of a grading."""
    with context.reading() as db:
        jobs = queue.of(db, context.grading.id)
    folder = tournaments.folder_in(context.settings, context.grading)
    chosen, has_played = tournaments.load_choice(folder), tournaments.has_pages(folder)
    is_playing = queue.count_unfinished(jobs, TOURNAMENT) > 0
    return TournamentShown(
        state="playing" if is_playing else "played" if has_played else "none",
        format=chosen.format,
        points=decimal(chosen.points),
        ranks=[RankShown(**{"points": "", **row}) for row in tournaments.load_table(folder)],  # type: ignore[arg-type]
    )


@TOURNAMENT_ROUTES.at("POST", _TOURNAMENT, TEACHERS, name="begin")
def begin_tournament(context: Context, body: Json[TournamentWanted]) -> TournamentShown:
    """Let the submissions play each other, once their marks are released."""
    with context.acting() as act:
        choice = body.points, body.format
        tournaments.begin(act, context.assigned, context.grading, choice)
    return show_tournament(context)


@TOURNAMENT_ROUTES.at("POST", f"{_TOURNAMENT}/count", require_permission(OVERRIDE), name="count")
def count_tournament(context: Context) -> Counted:
    """Add what the rank is worth to each mark, as a mark that is given instead."""
    with context.acting() as act:
        stays = tournaments.count_points(act, context.assigned, context.grading)
    return Counted(unchanged=stays)
