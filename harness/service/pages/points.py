"""What the parts of an assignment and their tests are worth: asked about first, then set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response

from harness.service.courses.point_weights import PointWeights, WeighedPart, WeighedTest
from harness.service.jobs import previews, wrong_expectations
from harness.service.jobs.previews import Preview
from harness.service.pages.assignment import crumbs
from harness.service.records import FAULT
from harness.service.web import rendering
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, Form, Routes
from harness.service.web.request_context import RequestContext

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}/points"
_ONE = f"{_PATH}/{{preview}}"
_MOST_TESTS = 5000


class PointsChange(NamedTuple):
    """What a part or a test is worth, now and then."""

    name: str
    now: Fraction
    then: Fraction


@ROUTES.at("GET", _PATH, STAFF_ONLY)
def show(context: Context) -> Response:
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


def _field(one: WeighedPart, test: WeighedTest | None = None) -> str:
    """Return what the field of a part, or of a test of it, is called in the form."""
    name = quote(one.part.name, safe="")
    return f"weight {name} {quote(test.name, safe='')}" if test else f"part {name}"


@ROUTES.at("POST", _PATH, TEACHERS, most=Form(fields=_MOST_TESTS, page=show))
def ask(context: Context) -> Response:
    """Let a worker find out which marks would change."""
    told = _read_form(context, _parts(context))
    with context.acting() as act:
        made = previews.ask(act, context.settings, context.assigned, told)
    return RedirectResponse(f"{_address(context)}/points/{made}", 303)


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


def _address(context: RequestContext) -> str:
    return context.assignment_page


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def preview(context: Context) -> Response:
    """Show each mark that would change."""
    own, service = _preview(context), context.service
    doubts = wrong_expectations.list_doubts(
        service.database, service.settings, context.assigned, own
    )
    left = previews.would_be_left_out(context.settings, context.assigned, own.weights)
    return rendering.page(
        context,
        "preview.html",
        crumbs(context, "New points"),
        still_left_out=left,
        doubts=doubts.found,
        unchecked=doubts.unchecked,
        found=own.read(),
        changed=list(_list_changes(context, own)),
        fault=context.job.fault if context.job.state == FAULT else "",
        is_set=bool(own.grading),
        stale=previews.explain_stale(context.settings, context.assigned, own),
    )


def _list_changes(context: RequestContext, own: Preview) -> Iterator[PointsChange]:
    """Yield all parts, each with its tests that would be worth something else.

    Once it is set, "now" is what was in force before.
    """
    assigned, settings = context.assigned, context.settings
    now = previews.parts(settings, assigned, own.worth_before)
    for one, other in zip(now, previews.parts(settings, assigned, own.weights), strict=True):
        yield PointsChange(one.part.name, one.part.points, other.part.points)
        for test, same in zip(one.tests, other.tests, strict=True):
            if test.weight != same.weight:
                yield PointsChange(f"{one.part.name}: {test.name}", test.weight, same.weight)


def _preview(context: RequestContext) -> Preview:
    return Preview(context.folder, context.job.about)


@ROUTES.at("POST", f"{_ONE}/set", TEACHERS, most=Form(page=preview))
def set_points(context: Context) -> Response:
    """Set the points and weights, and grade with them."""
    service, assigned, asked = (context.service, context.assigned, _preview(context))
    if not context.is_ticked("all_the_same"):
        tick = "tick Grade anyway"
        wrong_expectations.require_none_in(
            service.database, service.settings, assigned, asked, tick
        )
    with service.database.acting(context.by) as act:
        made = previews.put_in_force(act, service.settings, assigned, asked)
    return RedirectResponse(f"{_address(context)}/gradings/{made.id}", 303)
