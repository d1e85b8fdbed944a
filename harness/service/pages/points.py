"""What the parts of an assignment and their tests are worth: asked about first, then set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response

from harness.service.courses.point_weights import WeighedPart, WeighedTest, Worth
from harness.service.jobs import previews, wrong_expectations
from harness.service.jobs.previews import Preview
from harness.service.pages.assignment import crumbs
from harness.service.records import FAULT
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.request_context import STAFF_ONLY, TEACHERS, Here

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}/points"
_ONE = f"{_PATH}/{{preview}}"
_MOST_TESTS = 5000


class WorthChange(NamedTuple):
    """What a part or a test is worth, now and then."""

    name: str
    now: Fraction
    then: Fraction


@ROUTES.at("GET", _PATH, STAFF_ONLY)
def show(here: Now) -> Response:
    """Show what the parts and their tests are worth, and ask for something else."""
    return rendering.page(
        here,
        "points.html",
        crumbs(here, "Points"),
        parts_of=_parts(here),
        field_of=_field,
        still_left_out=previews.still_left_out(here.service.settings, here.sure().assigned),
    )


def _parts(here: Here) -> list[WeighedPart]:
    return previews.parts(here.service.settings, here.sure().assigned)


def _field(one: WeighedPart, test: WeighedTest | None = None) -> str:
    """Return what the field of a part, or of a test of it, is called in the form."""
    name = quote(one.part.name, safe="")
    return f"weight {name} {quote(test.name, safe='')}" if test else f"part {name}"


@ROUTES.at("POST", _PATH, TEACHERS, most=Form(fields=_MOST_TESTS, page=show))
def ask(here: Now) -> Response:
    """Let a worker find out which marks would change."""
    told = _read_form(here, _parts(here))
    with here.service.database.acting(here.by) as act:
        made = previews.ask(act, here.service.settings, here.sure().assigned, told)
    return RedirectResponse(f"{_address(here)}/points/{made}", 303)


def _read_form(here: Here, parts: Sequence[WeighedPart]) -> Worth:
    """Return what a form says; a test that is not in it stays as it is."""
    points = {one.part.name: here.field(_field(one)) for one in parts}
    weights = {
        one.part.name: {
            test.name: here.field(_field(one, test))
            for test in one.tests
            if _field(one, test) in here.form
        }
        for one in parts
    }
    return Worth(points, weights)


def _address(here: Here) -> str:
    known = here.sure()
    return f"/courses/{known.course.id}/assignments/{known.assigned.id}"


@ROUTES.at("GET", _ONE, STAFF_ONLY)
def preview(here: Now) -> Response:
    """Show each mark that would change."""
    assert here.job
    own, service = _preview(here), here.service
    doubts = wrong_expectations.list_doubts(
        service.database, service.settings, here.sure().assigned, own
    )
    left = previews.would_be_left_out(here.service.settings, here.sure().assigned, own.worth)
    return rendering.page(
        here,
        "preview.html",
        crumbs(here, "Other points"),
        still_left_out=left,
        doubts=doubts.found,
        unchecked=doubts.unchecked,
        found=own.read(),
        changed=list(_list_changes(here, own)),
        fault=here.job.fault if here.job.state == FAULT else "",
        is_set=bool(own.grading),
        stale=previews.explain_stale(here.service.settings, here.sure().assigned, own),
    )


def _list_changes(here: Here, own: Preview) -> Iterator[WorthChange]:
    """Yield all parts, each with its tests that would be worth something else.

    Once it is set, "now" is what was in force before.
    """
    assigned, settings = here.sure().assigned, here.service.settings
    now = previews.parts(settings, assigned, own.worth_before)
    for one, other in zip(now, previews.parts(settings, assigned, own.worth), strict=True):
        yield WorthChange(one.part.name, one.part.points, other.part.points)
        for test, same in zip(one.tests, other.tests, strict=True):
            if test.weight != same.weight:
                yield WorthChange(f"{one.part.name}: {test.name}", test.weight, same.weight)


def _preview(here: Here) -> Preview:
    assert here.job
    return Preview(
        here.service.settings.assignment_folder(here.sure().assigned.id), here.job.about
    )


@ROUTES.at("POST", f"{_ONE}/set", TEACHERS, most=Form(page=preview))
def set_points(here: Now) -> Response:
    """Set the points and weights, and grade with them."""
    service, assigned, asked = here.service, here.sure().assigned, _preview(here)
    if here.field("all_the_same") != "yes":
        tick = "tick Grade all the same"
        wrong_expectations.require_none_in(
            service.database, service.settings, assigned, asked, tick
        )
    with service.database.acting(here.by) as act:
        made = previews.put_in_force(act, service.settings, assigned, asked)
    return RedirectResponse(f"{_address(here)}/gradings/{made.id}", 303)
