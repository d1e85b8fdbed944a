"""A run of a suite, compared with any former one."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.service.courses import engine_suites
from harness.service.pages import forms
from harness.service.pages.course import attachment
from harness.service.pages.forms import SecondQuestion
from harness.service.pages.suites import crumbs
from harness.service.records import SuiteRun
from harness.service.storage import suites
from harness.service.web import rendering
from harness.service.web.access import Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import OWNERS, SIGNED_IN

ROUTES = Routes()
_ONE = "/suites/{suite}/runs/{run}"


@ROUTES.at("GET", _ONE, SIGNED_IN)
def show(here: Now) -> Response:
    """Show a run, compared with a former one: the one before, or ``?with=`` another's id."""
    run, named = here.sure_run(), here.request.query_params.get("with", "")
    with here.service.database.reading() as db:
        others = suites.last_runs(db, run.suite, engine_suites.KEPT)
        former = _former(db, run, named) if run.started else None
        state = engine_suites.state_of(db, run)
    found = engine_suites.compare(_folder(here), former, run) if former else None
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


@ROUTES.at("GET", f"{_ONE}/document", SIGNED_IN)
def document(here: Now) -> Response:
    """Give the document that was posted."""
    run = here.sure_run()
    data = engine_suites.data(_folder(here), run)
    if data is None:
        raise Refused(404, "its document no longer exists")
    return attachment(f"run-{run.number}.json", data, "application/json")


@ROUTES.at("POST", f"{_ONE}/remove", OWNERS)
def remove(here: Now) -> Response:
    """Remove a run."""
    if not forms.is_sure(here):
        return _ask_to_remove(here, here.sure_run())
    with here.service.database.acting(here.by) as act:
        engine_suites.remove_run(act, here.sure_run(), _folder(here))
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


def _folder(here: Here) -> Path:
    return here.service.settings.suite(here.sure_run().suite)
