"""Suites of engine authors: the list, each with its runs, its history and its badge."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness import shipped
from harness.errors import UsageError
from harness.history import plots
from harness.service.pages.course import read_upload
from harness.service.pages.gradings import serve_file
from harness.service.records import Suite
from harness.service.runs import badge, documents, histories, keeping
from harness.service.runs.keeping import Posted
from harness.service.storage import suites
from harness.service.web import rendering
from harness.service.web.access import ANYBODY, OWNERS, SIGNED_IN, Here, Now, Refused, Routes
from harness.service.web.rendering import Crumbs

ROUTES = Routes()
_ONE = "/suites/{suite}"
_SHOWN = 50  # runs in the pictures of a suite
# A badge is shown on pages of others, and asked for by servers that keep it for a while.
_BADGE = {
    "cache-control": "max-age=60",
    "content-security-policy": "default-src 'none'",
    "cross-origin-resource-policy": "cross-origin",
}


@ROUTES.at("GET", "/suites", SIGNED_IN)
def list_suites(here: Now) -> Response:
    """Show the suites of the person who is signed in."""
    with here.service.database.reading() as db:
        found = suites.SUITES.all(db, "title", "id", person=here.by)
        last = {one.id: suites.last_ended(db, one.id) for one in found}
    crumbs = [("Test suites", "")]
    return rendering.page(
        here, "suites.html", crumbs, suites=found, last=last, shipped=shipped.names()
    )


@ROUTES.at("POST", "/suites", SIGNED_IN)
def make(here: Now) -> Response:
    """Make a suite."""
    with here.service.database.acting(here.by) as act:
        made = keeping.make(act, here.field("title"), here.field("source"))
    return RedirectResponse(f"/suites/{made.id}", 303)


@ROUTES.at("GET", _ONE, SIGNED_IN)
def show(here: Now) -> Response:
    """Show a suite: its last runs as pictures, all of them as a list."""
    suite = here.sure_suite()
    with here.service.database.reading() as db:
        found = suites.all_runs(db, suite.id, keeping.KEPT)
        states = {one.id: keeping.state_of(db, one) for one in found}
        source = keeping.source(db, suite)
    done = [one for one in found if one.started][:_SHOWN]
    kept = keeping.load_kept(here.service.settings.suite(suite.id), done[::-1])
    return rendering.page(
        here,
        "suite.html",
        crumbs(suite),
        runs=found,
        states=states,
        source=source,
        verdicts=plots.verdicts(kept),
        durations=plots.durations(kept) if kept else "",
        base=here.service.settings.base,
        badge=keeping.badge_path(suite) if suite.badge else "",
    )


@ROUTES.at("POST", f"{_ONE}/change", OWNERS)
def change(here: Now) -> Response:
    """Change what a suite is called, who may read it, and whether it has a badge."""
    with here.service.database.acting(here.by) as act:
        keeping.change(
            act,
            here.sure_suite(),
            here.field("title"),
            is_open=here.field("is_open") == "yes",
            has_badge=here.field("has_badge") == "yes",
        )
    return RedirectResponse(_address(here), 303)


@ROUTES.at("POST", f"{_ONE}/remove", OWNERS)
def remove(here: Now) -> Response:
    """Remove a suite with all its runs."""
    if here.field("sure") != "yes":
        raise UsageError("nothing was removed: tick that you are sure")
    suite = here.sure_suite()
    with here.service.database.acting(here.by) as act:
        keeping.remove(act, suite, here.service.settings)
    return RedirectResponse("/suites", 303)


@ROUTES.at("POST", f"{_ONE}/runs", OWNERS)
def post(here: Now) -> Response:
    """Take a document of ``run --json``."""
    data = read_upload(here, documents.LARGEST)
    suite, posted = here.sure_suite(), Posted.read(data, here.field("revision"))
    with here.service.database.acting(here.by) as act:
        made = keeping.post(act, suite, posted, here.service.settings.suite(suite.id))
    return RedirectResponse(f"{_address(here)}/runs/{made.id}", 303)


@ROUTES.at("GET", f"{_ONE}/history/{{name}}", SIGNED_IN)
def history(here: Now) -> Response:
    """Give a page of the history of a suite, as ``gtp-harness history`` writes it."""
    suite = here.sure_suite()
    with here.service.database.reading() as db:
        found = suites.last_runs(db, suite.id, histories.RUNS)
    if not found:
        raise Refused(404, "there is no run yet")
    home = (suite.title, _address(here))
    folder = histories.write_pages(here.service.settings.suite(suite.id), suite, found, home)
    return serve_file(folder, here.request.path_params["name"])


@ROUTES.at("GET", "/badges/{badge}.svg", ANYBODY)
def show_badge(here: Now) -> Response:
    """Give the badge of a suite that has one, to anyone who knows its address."""
    named = here.request.path_params["badge"]
    with here.service.database.reading() as db:
        suite = suites.SUITES.find(db, badge=named) if named.isalnum() else None
        last = suites.last_ended(db, suite.id) if suite else None
    if suite is None:
        raise Refused(404, "there is no such badge")
    picture = badge.svg(last)
    return Response(picture, media_type="image/svg+xml", headers=_BADGE)


def crumbs(suite: Suite, *more: tuple[str, str]) -> Crumbs:
    """Return the way to the page of a suite, or to one below it."""
    return [("Test suites", "/suites"), (suite.title, f"/suites/{suite.id}"), *more]


def _address(here: Here) -> str:
    return f"/suites/{here.sure_suite().id}"
