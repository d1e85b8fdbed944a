"""Suites of engine authors: the list, each with its runs, its history and its badge."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness import shipped
from harness.errors import UsageError
from harness.history import plots
from harness.service.courses import (
    engine_cases,
    engine_suites,
    own_files,
    run_documents,
    submissions,
)
from harness.service.courses.engine_cases import HowToRun
from harness.service.courses.engine_suites import Posted, RunArchive
from harness.service.pages import forms
from harness.service.pages.course import attachment
from harness.service.pages.forms import SecondQuestion, Sent, receive_files
from harness.service.pages.gradings import serve_file
from harness.service.records import Suite, SuiteRun
from harness.service.storage import suites
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.rendering import Crumbs
from harness.service.web.request_context import ANYBODY, OWNERS, SIGNED_IN, Here

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
        made = engine_suites.make(act, here.field("title"), here.field("source"))
    return RedirectResponse(f"/suites/{made.id}", 303)


@ROUTES.at("GET", _ONE, SIGNED_IN)
def show(here: Now) -> Response:
    """Show a suite: its last runs as pictures, all of them as a list."""
    suite = here.sure_suite()
    with here.service.database.reading() as db:
        found = suites.all_runs(db, suite.id, engine_suites.KEPT)
        states = {one.id: engine_suites.state_of(db, one) for one in found}
        source = engine_suites.source(db, suite)
    done = [one for one in found if one.started][:_SHOWN]
    kept = engine_suites.load_kept(here.service.settings.suite(suite.id), done[::-1])
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
        badge=engine_suites.badge_path(suite) if suite.badge else "",
    )


@ROUTES.at("POST", f"{_ONE}/change", OWNERS, most=Form(page=show))
def change(here: Now) -> Response:
    """Change what a suite is called, who may read it, and whether it has a badge."""
    with here.service.database.acting(here.by) as act:
        engine_suites.change(
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
    if not forms.is_sure(here):
        raise UsageError("nothing was removed: tick that you are sure")
    suite = here.sure_suite()
    with here.service.database.acting(here.by) as act:
        engine_suites.remove(act, suite, here.service.settings)
    return RedirectResponse("/suites", 303)


@ROUTES.at("POST", f"{_ONE}/runs", OWNERS, most=Form(page=show))
def post(here: Now) -> Response:
    """Take a document of ``run --json``, or an engine to be run here."""
    with receive_files(here) as found:
        made = _post(here, found) if run_documents.is_document(found.path) else _run(here, found)
    return RedirectResponse(f"{_address(here)}/runs/{made.id}", 303)


def _post(here: Here, found: Sent) -> SuiteRun:
    suite, folder = here.sure_suite(), _folder(here)
    posted = Posted.read(run_documents.load(found.path), here.field("revision"))
    with here.service.database.acting(here.by) as act:
        return engine_suites.post(act, suite, posted, folder)


def _run(here: Here, found: Sent) -> SuiteRun:
    service = here.service
    most, wanted = service.settings.largest, run_documents.WANTED
    kept = submissions.keep(service.store, found.path, found.name, most, wanted)
    archive = RunArchive(kept.name, kept.sha256, here.field("revision"))
    with service.database.acting(here.by) as act:
        return engine_suites.post_engine(act, here.sure_suite(), archive, _folder(here))


@ROUTES.at("POST", f"{_ONE}/cases", OWNERS, most=Form(files=forms.MOST, page=show))
def take_cases(here: Now) -> Response:
    """Run the engines of a suite by case files of the owner's own."""
    settings, how = here.service.settings, HowToRun(here.field("command"), here.field("build"))
    with (
        receive_files(here) as found,
        engine_cases.unpack(settings, found.path, found.name, how) as (place, own),
        here.service.database.acting(here.by) as act,
    ):
        engine_cases.take(act, settings, here.sure_suite(), place, own)
    return RedirectResponse(_address(here), 303)


@ROUTES.at("GET", f"{_ONE}/history/{{name}}", SIGNED_IN)
def history(here: Now) -> Response:
    """Give a page of the history of a suite, as ``gtp-harness history`` writes it."""
    suite = here.sure_suite()
    with here.service.database.reading() as db:
        found = suites.last_runs(db, suite.id, engine_suites.RUNS)
    if not found:
        raise Refused(404, "there is no run yet")
    home = (suite.title, _address(here))
    folder = engine_suites.write_pages(here.service.settings.suite(suite.id), suite, found, home)
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
    picture = engine_suites.badge_svg(last)
    return Response(picture, media_type="image/svg+xml", headers=_BADGE)


def crumbs(suite: Suite, *more: tuple[str, str]) -> Crumbs:
    """Return the way to the page of a suite, or to one below it."""
    return [("Test suites", "/suites"), (suite.title, f"/suites/{suite.id}"), *more]


def _folder(here: Here) -> Path:
    return here.service.settings.suite(here.sure_suite().id)


def _address(here: Here) -> str:
    return f"/suites/{here.sure_suite().id}"


# --- A run of a suite, compared with any former one ----------------------------------------------

_RUN = "/suites/{suite}/runs/{run}"


@ROUTES.at("GET", _RUN, SIGNED_IN)
def show_run(here: Now) -> Response:
    """Show a run, compared with a former one: the one before, or ``?with=`` another's id."""
    run, named = here.sure_run(), here.request.query_params.get("with", "")
    with here.service.database.reading() as db:
        others = suites.last_runs(db, run.suite, engine_suites.KEPT)
        former = _former(db, run, named) if run.started else None
        state = engine_suites.state_of(db, run)
    found = engine_suites.compare(_folder_of_run(here), former, run) if former else None
    return rendering.page(
        here,
        "run.html",
        crumbs(here.sure_suite(), (f"Run {run.number}", "")),
        run=run,
        state=state,
        others=[one for one in others if one.id != run.id],
        former=former if found else None,
        sections=list(found.sections()) if found else [],
        faults=found.faults if found else (),
    )


def _former(db: Connection, run: SuiteRun, named: str) -> SuiteRun | None:
    if not named:
        return engine_suites.run_before(db, run)
    found = suites.RUNS.find(db, id=named.replace("\0", ""), suite=run.suite)
    if found is None:
        raise Refused(404, "there is no former run to compare it with")
    return found


@ROUTES.at("GET", f"{_RUN}/document", SIGNED_IN)
def document(here: Now) -> Response:
    """Give the document that was posted."""
    run = here.sure_run()
    data = engine_suites.data(_folder_of_run(here), run)
    if data is None:
        raise Refused(404, "its document no longer exists")
    return attachment(f"run-{run.number}.json", data, "application/json")


@ROUTES.at("POST", f"{_RUN}/remove", OWNERS)
def remove_run(here: Now) -> Response:
    """Remove a run."""
    if not forms.is_sure(here):
        return _ask_to_remove(here, here.sure_run())
    with here.service.database.acting(here.by) as act:
        engine_suites.remove_run(act, here.sure_run(), _folder_of_run(here))
    return RedirectResponse(f"/suites/{here.sure_run().suite}", 303)


def _ask_to_remove(here: Here, run: SuiteRun) -> Response:
    name = f"run {run.number}"
    question = SecondQuestion(
        f"Remove {name}?",
        "Its results are removed for ever.",
        f"Yes, remove {name}",
        f"/suites/{run.suite}/runs/{run.id}",
    )
    return forms.ask_again(here, crumbs(here.sure_suite(), (f"Remove {name}", "")), question)


def _folder_of_run(here: Here) -> Path:
    return here.service.settings.suite(here.sure_run().suite)
