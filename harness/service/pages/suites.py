"""Suites of engine authors: the list, each with its runs, its history and its badge."""

from fastapi.responses import RedirectResponse, Response

from harness.core.errors import UsageError
from harness.history import plots
from harness.reading import shipped
from harness.service.courses import cases, engine_suites, own_files, run_documents, submissions
from harness.service.pages import forms
from harness.service.storage import courses
from harness.service.web import rendering
from harness.service.web.access import ANYBODY, OWNERS, SIGNED_IN, Context, Routes
from harness.service.web.request_context import require_found

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
def list_suites(context: Context) -> Response:
    with context.reading() as db:
        found = courses.SUITES.all(db, "title", "id", person=context.by)
        last = {one.id: courses.last_ended(db, one.id) for one in found}
    return rendering.page(context, "suites.html", suites=found, last=last, shipped=shipped.names())


@ROUTES.form("/suites", SIGNED_IN, list_suites)
def make(context: Context) -> Response:
    with context.acting() as act:
        made = engine_suites.make(act, context.field("title"), context.field("source"))
    return RedirectResponse(f"/suites/{made.id}", 303)


@ROUTES.at("GET", _ONE, SIGNED_IN)
def show(context: Context) -> Response:
    """Show a suite: its last runs as pictures, all of them as a list."""
    suite = context.suite
    with context.reading() as db:
        found = courses.all_runs(db, suite.id, engine_suites.KEPT)
        states = {one.id: engine_suites.state_of(db, one) for one in found}
        source = engine_suites.source(db, suite)
    done = [one for one in found if one.started][:_SHOWN]
    kept = engine_suites.load_kept(context.settings.suite(suite.id), done[::-1])
    return rendering.page(
        context,
        "suite.html",
        runs=found,
        states=states,
        source=source,
        is_own=source == own_files.OWN,
        verdicts=plots.verdicts(kept),
        durations=plots.durations(kept) if kept else "",
        badge=engine_suites.badge_path(suite) if suite.badge else "",
    )


@ROUTES.form(f"{_ONE}/change", OWNERS, show)
def change(context: Context) -> Response:
    """Change what a suite is called, who may read it, and whether it has a badge."""
    with context.acting() as act:
        engine_suites.change(
            act,
            context.suite,
            context.field("title"),
            is_open=context.is_ticked("is_open"),
            has_badge=context.is_ticked("has_badge"),
        )
    return RedirectResponse(context.suite_page, 303)


@ROUTES.form(f"{_ONE}/remove", OWNERS, show)
def remove(context: Context) -> Response:
    if not forms.is_sure(context):
        raise UsageError("nothing was removed: tick that you are sure")
    with context.acting() as act:
        engine_suites.remove(act, context.suite)
    return RedirectResponse("/suites", 303)


@ROUTES.form(f"{_ONE}/runs", OWNERS, show)
def post(context: Context) -> Response:
    """Take a document of ``run --json``, or an engine to be run here."""
    service, suite = context.service, context.suite
    revision = context.field("revision")
    with forms.receive_files(context) as found:
        if run_documents.is_document(found.path):
            posted = engine_suites.PostedRun.read(run_documents.load(found.path), revision)
            with context.acting() as act:
                made = engine_suites.post(act, suite, posted)
        else:
            most, wanted = service.settings.largest, run_documents.WANTED
            kept = submissions.keep(service.store, found.path, found.name, most, wanted)
            with context.acting() as act:
                made = engine_suites.post_engine(act, suite, kept, revision)
    return RedirectResponse(f"{context.suite_page}/runs/{made.id}", 303)


@ROUTES.form(f"{_ONE}/cases", OWNERS, show, files=forms.MOST)
def take_cases(context: Context) -> Response:
    """Run the engines of a suite by case files of the owner's own."""
    settings = context.settings
    how = cases.EngineCommands(context.field("command"), context.field("build"))
    with (
        forms.receive_files(context) as found,
        cases.unpack(settings, found.path, found.name, how) as (place, own),
        context.acting() as act,
    ):
        cases.take(act, context.suite, place, own)
    return RedirectResponse(context.suite_page, 303)


@ROUTES.at("GET", f"{_ONE}/history/{{name}}", SIGNED_IN)
def history(context: Context) -> Response:
    """Give a page of the history of a suite, as ``gtp-harness history`` writes it."""
    suite = context.suite
    with context.reading() as db:
        found = courses.last_runs(db, suite.id, engine_suites.RUNS)
    require_found(found or None, "there is no run yet")
    home = (suite.title, context.suite_page)
    folder = engine_suites.write_pages(context.settings.suite(suite.id), suite, found, home)
    return rendering.serve_file(folder, context.part("name"))


@ROUTES.at("GET", "/badges/{badge}.svg", ANYBODY)
def show_badge(context: Context) -> Response:
    """Give the badge of a suite that has one, to anyone who knows its address."""
    named = context.part("badge")
    with context.reading() as db:
        suite = courses.SUITES.find(db, badge=named) if named.isalnum() else None
        last = courses.last_ended(db, suite.id) if suite else None
    require_found(suite, "there is no such badge")
    told, color = engine_suites.describe_badge(last)
    picture = rendering.page(context, "badge.svg", told=told, color=color).body
    return Response(picture, media_type="image/svg+xml", headers=_BADGE)


# --- A run of a suite, compared with any former one ----------------------------------------------

_RUN = "/suites/{suite}/runs/{run}"


@ROUTES.at("GET", _RUN, SIGNED_IN)
def show_run(context: Context) -> Response:
    """Show a run, compared with a former one: the one before, or ``?with=`` another's id."""
    run, named, former = context.run, context.request.query_params.get("with", ""), None
    with context.reading() as db:
        others = courses.last_runs(db, run.suite, engine_suites.KEPT)
        if run.started and not named:
            former = engine_suites.run_before(db, run)
        elif run.started:
            former = courses.RUNS.find(db, id=named.replace("\0", ""), suite=run.suite)
            require_found(former, "there is no former run to compare it with")
        state = engine_suites.state_of(db, run)
    found = engine_suites.compare(context.suite_folder, former, run) if former else None
    return rendering.page(
        context,
        "run.html",
        run=run,
        state=state,
        others=[one for one in others if one.id != run.id],
        former=former if found else None,
        sections=list(found.sections()) if found else [],
        faults=found.faults if found else (),
    )


@ROUTES.at("GET", f"{_RUN}/document", SIGNED_IN)
def document(context: Context) -> Response:
    run, folder = context.run, context.suite_folder
    data = require_found(engine_suites.data(folder, run), "its document no longer exists")
    return rendering.attachment(f"run-{run.number}.json", data, "application/json")


@ROUTES.at("POST", f"{_RUN}/remove", OWNERS)
def remove_run(context: Context) -> Response:
    if not forms.is_sure(context):
        name = f"run {context.run.number}"
        page = f"{context.suite_page}/runs/{context.run.id}"
        return forms.ask_again(context, "remove run", page, name)
    with context.acting() as act:
        engine_suites.remove_run(act, context.run)
    return RedirectResponse(f"/suites/{context.run.suite}", 303)
