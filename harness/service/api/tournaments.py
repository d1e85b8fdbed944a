"""The tournament of a grading: begun and counted by teachers, read by the staff."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from harness.grading.records import decimal
from harness.match.schedule import SWISS
from harness.service.api.requests import ApiRoutes, Json
from harness.service.jobs import tournaments
from harness.service.records import OVERRIDE, TOURNAMENT
from harness.service.storage import queue
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, require_permission
from harness.service.web.request_context import RequestContext

ROUTES = ApiRoutes("gradings")
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


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def show(context: Context) -> TournamentShown:
    """Show the tournament of a grading."""
    return _describe(context)


def _describe(context: RequestContext) -> TournamentShown:
    with context.reading() as db:
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


@ROUTES.at("POST", _ONE, TEACHERS)
def begin(context: Context, body: Json[TournamentWanted]) -> TournamentShown:
    """Let the submissions play each other, once their marks are released."""
    with context.acting() as act:
        choice = body.points, body.format
        assigned = context.assigned
        tournaments.begin(act, context.settings, assigned, context.grading, choice)
    return _describe(context)


@ROUTES.at("POST", f"{_ONE}/count", require_permission(OVERRIDE))
def count(context: Context) -> Counted:
    """Add what the rank is worth to each mark, as a mark that is given instead."""
    with context.acting() as act:
        stays = tournaments.count_points(act, context.assigned, context.grading, _folder(context))
    return Counted(unchanged=stays)


def _folder(context: RequestContext) -> Path:
    return tournaments.folder_in(context.settings, context.grading)
