"""What parts of an assignment and their tests are worth: asked about first, then set."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from harness.service.api import gradings
from harness.service.api.gradings import GradingShown
from harness.service.api.requests import ApiRoutes, Json
from harness.service.courses.point_weights import PointWeights, WeighedPart, WeighedTest
from harness.service.jobs import previews, wrong_expectations
from harness.service.jobs.previews import Preview
from harness.service.records import FAULT, Job
from harness.service.storage import queue, uploads
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context
from harness.service.web.request_context import RequestContext

ROUTES = ApiRoutes("points")
_ALL = "/courses/{course}/assignments/{assignment}/points"
_ONE = f"{_ALL}/{{preview}}"
_FORM = "such as 4, 0.5 or 1/3"


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
    """What the parts of an assignment and their tests are worth in the course."""

    parts: list[PartWorthShown]
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said


class PointsWanted(BaseModel):
    """Points and weights to ask about. What is not named stays as it is."""

    points: dict[str, str] = Field(default={}, description=f"of parts, by name: {_FORM}")
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


@ROUTES.at("GET", _ALL, STAFF_ONLY)
def points(context: Context) -> PointsShown:
    """Show what the parts and their tests are worth."""
    settings, assigned = context.settings, context.assigned
    found = previews.parts(settings, assigned)
    left = previews.still_left_out(settings, assigned)
    return PointsShown(
        parts=[_part(one) for one in found], still_left_out=[one.name for one in left]
    )


@ROUTES.at("POST", _ALL, TEACHERS, status_code=201)
def ask(context: Context, body: Json[PointsWanted]) -> PreviewShown:
    """Ask which marks would change; nothing is changed."""
    assigned, told = (context.assigned, PointWeights(body.points, body.weights))
    with context.acting() as act:
        made = previews.ask(act, context.settings, assigned, told)
        (job,) = queue.of(act.db, made)
    return _preview(context, job)


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def preview(context: Context) -> PreviewShown:
    """Show each mark that would change."""
    return _preview(context, context.job)


@ROUTES.at("POST", f"{_ONE}/set", TEACHERS, status_code=201)
def put_in_force(
    context: Context,
    all_the_same: Annotated[
        bool, Query(description="even if private tests may be wrong, or are not checked yet")
    ] = False,
) -> GradingShown:
    """Set these points and weights, and grade; marks in force change only if that is accepted."""
    settings, assigned = context.settings, context.assigned
    own = Preview(settings.assignment_folder(assigned.id), context.job.about)
    if not all_the_same:
        wrong_expectations.require_none_in(
            context.service.database, settings, assigned, own, "send all_the_same"
        )
    with context.acting() as act:
        made = previews.put_in_force(act, settings, assigned, own)
        found = uploads.GRADINGS.find(act.db, id=made.id)
        assert found
        return gradings.describe_grading(act.db, found, gradings.find_doubts(context))


# --- what is shown -----------------------------------------------------------------------------


def _part(one: WeighedPart) -> PartWorthShown:
    part = one.part
    tests = [_test(test) for test in one.tests]
    return PartWorthShown(
        name=part.name, points=str(part.points), judged_by=part.judged_by, tests=tests
    )


def _test(one: WeighedTest) -> TestShown:
    return TestShown(name=one.name, commands=list(one.commands), weight=str(one.weight))


def _preview(context: RequestContext, job: Job) -> PreviewShown:
    settings = context.settings
    own = Preview(settings.assignment_folder(job.assignment), job.about)
    left = previews.would_be_left_out(settings, context.assigned, own.weights)
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
