"""Suites of engine authors: the list, each with its runs, its history and its badge."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import RedirectResponse, Response

from harness import shipped
from harness.errors import UsageError
from harness.history import plots
from harness.service.courses import own_files
from harness.service.handing_in import packing, receiving
from harness.service.pages import asking_again
from harness.service.pages.form_files import Sent, receive_files
from harness.service.pages.gradings import serve_file
from harness.service.records import Suite, SuiteRun
from harness.service.runs import badge, documents, histories, keeping, own_cases
from harness.service.runs.keeping import Posted, RunArchive
from harness.service.runs.own_cases import HowToRun
from harness.service.storage import suites
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rendering import Crumbs
from harness.service.web.rules import ANYBODY, OWNERS, SIGNED_IN

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


@ROUTES.at("POST", "/suites", SIGNED_IN, most=Form(page=list_suites))
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
        is_own=source == own_files.OWN,
        verdicts=plots.verdicts(kept),
        durations=plots.durations(kept) if kept else "",
        base=here.service.settings.base,
        badge=keeping.badge_path(suite) if suite.badge else "",
    )


@ROUTES.at("POST", f"{_ONE}/change", OWNERS, most=Form(page=show))
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


@ROUTES.at("POST", f"{_ONE}/remove", OWNERS, most=Form(page=show))
def remove(here: Now) -> Response:
    """Remove a suite with all its runs."""
    if not asking_again.is_sure(here):
        raise UsageError("nothing was removed: tick that you are sure")
    suite = here.sure_suite()
    with here.service.database.acting(here.by) as act:
        keeping.remove(act, suite, here.service.settings)
    return RedirectResponse("/suites", 303)


@ROUTES.at("POST", f"{_ONE}/runs", OWNERS, most=Form(page=show))
def post(here: Now) -> Response:
    """Take a document of ``run --json``, or an engine to be run here."""
    with receive_files(here) as found:
        made = _post(here, found) if documents.is_document(found.path) else _run(here, found)
    return RedirectResponse(f"{_address(here)}/runs/{made.id}", 303)


def _post(here: Here, found: Sent) -> SuiteRun:
    suite, folder = here.sure_suite(), _folder(here)
    posted = Posted.read(documents.load(found.path), here.field("revision"))
    with here.service.database.acting(here.by) as act:
        return keeping.post(act, suite, posted, folder)


def _run(here: Here, found: Sent) -> SuiteRun:
    service = here.service
    most, wanted = service.settings.largest, documents.WANTED
    kept = receiving.keep(service.store, found.path, found.name, most, wanted)
    archive = RunArchive(kept.name, kept.sha256, here.field("revision"))
    with service.database.acting(here.by) as act:
        return keeping.post_engine(act, here.sure_suite(), archive, _folder(here))


@ROUTES.at("POST", f"{_ONE}/cases", OWNERS, most=Form(files=packing.MOST, page=show))
def take_cases(here: Now) -> Response:
    """Run the engines of a suite by case files of the owner's own."""
    settings, how = here.service.settings, HowToRun(here.field("command"), here.field("build"))
    with (
        receive_files(here) as found,
        own_cases.unpack(settings, found.path, found.name, how) as (place, own),
        here.service.database.acting(here.by) as act,
    ):
        own_cases.take(act, settings, here.sure_suite(), place, own)
    return RedirectResponse(_address(here), 303)


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


def _folder(here: Here) -> Path:
    return here.service.settings.suite(here.sure_suite().id)


def _address(here: Here) -> str:
    return f"/suites/{here.sure_suite().id}"
