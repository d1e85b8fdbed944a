"""The tournament of a grading: begun and counted by teachers, read by the staff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from fastapi import Depends
from pydantic import BaseModel, Field

from harness.grading.records import decimal
from harness.match.tournament import SWISS
from harness.service.api import requests
from harness.service.jobs import tournaments
from harness.service.records import OVERRIDE, TOURNAMENT
from harness.service.storage import queue
from harness.service.web.access import Context, Routes
from harness.service.web.request_context import (
    STAFF_ONLY,
    TEACHERS,
    RequestContext,
    require_permission,
)

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["gradings"])
_ONE = "/courses/{course}/assignments/{assignment}/gradings/{grading}/tournament"


class RankShown(BaseModel):
    """How one did."""

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
    """What became of the marks."""

    unchanged: list[str]  # a sentence for each student whose mark stays


@ROUTES.at("GET", _ONE, STAFF_ONLY, response_model=TournamentShown)
def show(context: Context) -> TournamentShown:
    """Show the tournament of a grading."""
    return _describe(context)


def _describe(context: RequestContext) -> TournamentShown:
    assert context.grading
    with context.service.database.reading() as db:
        jobs = queue.of(db, context.grading.id)
    folder = _folder(context)
    chosen, has_played = tournaments.load_choice(folder), tournaments.has_pages(folder)
    is_playing = queue.count_unfinished(jobs, TOURNAMENT) > 0
    return TournamentShown(
        state="playing" if is_playing else "played" if has_played else "none",
        format=chosen.format,
        points=decimal(chosen.points),
        ranks=[RankShown(**{"points": "", **row}) for row in tournaments.load_table(folder)],  # type: ignore[arg-type]
    )


@ROUTES.at(
    "POST",
    _ONE,
    TEACHERS,
    scope="all",
    response_model=TournamentShown,
    openapi_extra=requests.describe_body(TournamentWanted),
)
def begin(
    context: Context,
    body: Annotated[TournamentWanted, Depends(requests.json_of(TournamentWanted))],
) -> TournamentShown:
    """Let the submissions play each other, once their marks are released."""
    assert context.grading
    with context.service.database.acting(context.by) as act:
        settings, assigned = context.service.settings, context.require().assigned
        choice = body.points, body.format
        tournaments.begin(act, settings, assigned, context.grading, choice)
    return _describe(context)


@ROUTES.at(
    "POST", f"{_ONE}/count", require_permission(OVERRIDE), scope="all", response_model=Counted
)
def count(context: Context) -> Counted:
    """Add what the rank is worth to each mark, as a mark that is given instead."""
    assert context.grading
    with context.service.database.acting(context.by) as act:
        assigned, folder = context.require().assigned, _folder(context)
        stays = tournaments.count_points(act, assigned, context.grading, folder)
    return Counted(unchanged=stays)


def _folder(context: RequestContext) -> Path:
    assert context.grading
    return tournaments.folder_in(context.service.settings, context.grading)
